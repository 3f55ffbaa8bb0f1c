"""Monolingual alignment: accuracy of links and phrases, the value of features and settings, and cost.

Models are trained on training pairs. Settings are compared only on held-out training pairs; test pairs are aligned
once, for the tables `alignment` and `applications`. The phrasal versions of the corpora are also aligned with the tags
and chunks of the biomedical chunker with which they were made, as in Yao et al. (2013).

    phrases.py --data DIR [--tables alignment speed ...] [--write PAGES]
"""

from __future__ import annotations

import phrases_accuracy
import phrases_applications
import phrases_cost
import phrases_encoder
import phrases_gaps
import report
from phrases_data import PhrasesData

TABLES = {
    "alignment": phrases_accuracy.alignment,
    "words": phrases_accuracy.words,
    "applications": phrases_applications.applications,
    "judgements": phrases_applications.judgements,
    "gaps": phrases_gaps.gaps,
    "thresholds": phrases_accuracy.thresholds,
    "settings": phrases_accuracy.settings,
    "families": phrases_accuracy.families,
    "upweighting": phrases_accuracy.upweighting,
    "speed": phrases_cost.speed,
    "growth": phrases_cost.growth,
    "training": phrases_cost.training,
    "encoder": phrases_encoder.encoder,
}


if __name__ == "__main__":
    report.make_tables("phrases", "mono", PhrasesData, TABLES)
