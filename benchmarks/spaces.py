"""Word-vector spaces: accuracy of translation, similarity and sentence retrieval, and the cost of fitting.

Every method sees the same vectors, prepared in the same way (unit, centred, unit length), and the same dictionary.
Nothing is tuned on test words: `fit` chooses settings on held-out training entries.

    spaces.py --data DIR [--tables translation sentences ...] [--write PAGES]
"""

from __future__ import annotations

import report
import spaces_accuracy
import spaces_cost
import spaces_induction
import spaces_languages
import spaces_links
from spaces_data import SpacesData

TABLES = {
    "translation": spaces_accuracy.translation,
    "measures": spaces_accuracy.measures,
    "induction": spaces_induction.induction,
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
