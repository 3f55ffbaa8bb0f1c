"""The data behind the options of alignment through cepts: their effect on the 37 trial pairs, for `onmf.py`.

The gold links of the test pairs are not read.
"""

from __future__ import annotations

import hansards
import report
from cepts.evaluate import Scores
from cepts.extract.associations import SPREAD, SPREAD_LISTS
from cepts.factor import SURE, Factoring
from onmf_accuracy import Setting, rounded, score
from report import Table
from threshold import at_least
from trained import DEFAULT, gold_pairs

__all__ = ["spread_curve", "sure_curve"]

SPREADS = sorted({0.0, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, SPREAD, SPREAD_LISTS})
SURES = sorted({0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, SURE})
MATRICES = ((DEFAULT, "agreement", SPREAD), ("HMM", "nbest", SPREAD_LISTS), ("Model 4", "nbest", SPREAD_LISTS))
SCORES = {"AER": "aer", "F_S": "sure_f1", "F_P": "possible_f1"}


def spread_curve(setting: Setting) -> Table:
    """Scores and coverage by how much of null's mass goes to the words beside."""
    gold, bitext = hansards.gold(setting.data, hansards.TRIAL), gold_pairs(setting.gold, hansards.TRIAL)
    columns = ["matrices", "spread", *SCORES, "source words linked", "target words linked", "AER of sure links", ""]
    rows, records = [], []
    for model, association, default in MATRICES:
        for spread in SPREADS:
            links = setting.models[model].align(
                bitext, combine="onmf", association=association, factoring=Factoring(spread=spread)
            )
            scores, sure = score(gold, links, bitext), score(gold, links.only_sure(), bitext)
            mark = "default" if spread == default else ""
            cells = [*cells_of(scores), *coverage(scores), f"{100 * sure.aer:.2f}", mark]
            rows.append([f"{model}, {association}", f"{spread:.2f}", *cells])
            about = {"table": "spread", **setting.about(), "model": model, "association": association}
            found = {"scores": rounded(scores), "sure_scores": rounded(sure)}
            records.append({**about, "spread": spread, "default": spread == default, **found})
    return Table(report.markdown(columns, rows, text_columns=2), records)


def sure_curve(setting: Setting) -> Table:
    """Scores of the sure links of the default matrices by the least confidence of such a link."""
    gold, bitext = hansards.gold(setting.data, hansards.TRIAL), gold_pairs(setting.gold, hansards.TRIAL)
    links = setting.models[DEFAULT].align(bitext, combine="onmf")
    columns = ["sure", *SCORES, "source words linked", "target words linked", ""]
    rows, records = [], []
    for sure in SURES:
        scores = score(gold, at_least(links, sure), bitext)
        rows.append([f"{sure:.2f}", *cells_of(scores), *coverage(scores), "default" if sure == SURE else ""])
        about = {"table": "sure", **setting.about(), "sure": sure, "default": sure == SURE}
        records.append({**about, "scores": rounded(scores)})
    return Table(report.markdown(columns, rows), records)


def cells_of(scores: Scores) -> list[str]:
    """The scores of a row, in %."""
    return [f"{100 * getattr(scores, each):.2f}" for each in SCORES.values()]


def coverage(scores: Scores) -> list[str]:
    """The shares of words that have a link, in %."""
    return [f"{100 * (share or 0.0):.1f}" for share in (scores.source_coverage, scores.target_coverage)]
