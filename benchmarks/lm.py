"""Language models that adapt: how much perplexity falls, and what fitting and scoring cost.

Weights are set on development texts; nothing is tuned on the test texts.

    lm.py --data DIR [--tables adaptation history ...] [--write PAGES]
"""

from __future__ import annotations

import lm_adaptation
import lm_cost
import report
from lm_data import LMData

TABLES = {
    "adaptation": lm_adaptation.adaptation,
    "components": lm_adaptation.components,
    "rank": lm_adaptation.rank,
    "history": lm_adaptation.history,
    "ngrams": lm_cost.ngrams,
    "factorisation": lm_cost.factorisation,
    "scoring": lm_cost.scoring,
}


if __name__ == "__main__":
    report.make_tables("lm", "lm", LMData, TABLES)
