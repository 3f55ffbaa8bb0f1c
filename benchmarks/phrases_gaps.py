"""The table of `phrases.py` on phrases with gaps, through cepts."""

from __future__ import annotations

import report
from cepts.data import Cept
from cepts.evaluate import score_phrases
from cepts.names import PHRASE_MODELS
from cepts.phrases import PhraseAligner
from phrases_data import PhrasesData
from report import Table

__all__ = ["gaps"]


def _has_gap(cept: Cept) -> bool:
    return all(cept) and any(side[-1] - side[0] + 1 > len(side) for side in cept)


def gaps(data: PhrasesData) -> Table:
    """Cepts with gaps on text that no model was trained on (the development pairs of MultiMWA-MTRef)."""
    pairs = data.pairs("multimwa_mtref", "dev")
    rows, records = [], []
    for model in PHRASE_MODELS:
        report.say(f"gaps: {model}")
        aligner = PhraseAligner.load(model)
        agreed = score_phrases(pairs, aligner.align(pairs)).f1
        links = aligner.align(pairs, combine="onmf")
        found, right, shares = 0, 0, 0.0
        for pair, alignment in zip(pairs, links, strict=True):
            gold = {*(pair.sure or ()), *(pair.possible or ())}
            for cept in filter(_has_gap, alignment.cepts or ()):
                cells = {(i, j) for i in cept.source for j in cept.target}
                found += 1
                right += cells <= gold
                shares += len(cells & gold) / len(cells)
        through = score_phrases(pairs, links).f1
        share = shares / max(found, 1)
        rows.append(
            [model, f"{100 * agreed:.1f}", f"{100 * through:.1f}", f"{found}", f"{right}", f"{100 * share:.0f}"]
        )
        records.append(
            {"model": model, "f1_agreement": agreed, "f1_onmf": through, "gaps": found, "right": right, "share": share}
        )
    columns = ["model", "F1, agreement", "F1, onmf", "cepts with gaps", "wholly right", "links right, %"]
    return Table(report.markdown(columns, rows), records)
