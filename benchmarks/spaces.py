"""Word-vector spaces: how right translations, similarities and sentence retrieval are, and what fitting costs.

Every method sees the same vectors, prepared in the same way (unit, centred, unit length), and the same dictionary.
Nothing is chosen on test words: where a setting is chosen, `fit` chooses it on held-out training entries.

    spaces.py --data DIR [--tables translation sentences ...] [--write PAGE]
"""

from __future__ import annotations

import report
import spaces_accuracy
import spaces_cost
import spaces_languages
import spaces_links
from spaces_data import SpacesData

TABLES = {
    "translation": spaces_accuracy.translation,
    "measures": spaces_accuracy.measures,
    "sentences": spaces_accuracy.sentences,
    "similarity": spaces_accuracy.similarity,
    "sts": spaces_accuracy.sts,
    "languages": spaces_languages.languages,
    "links": spaces_links.links,
    "senses": spaces_links.senses,
    "em": spaces_cost.em,
    "jobs": spaces_cost.jobs,
}


if __name__ == "__main__":
    report.make_tables("spaces", "spaces", SpacesData, TABLES)
