"""What else could be factorised, and how else: association matrices and ways to assign words to cepts, for `onmf.py`.

`assignments` uses the trial pairs only, since it decides about options; `associations` decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import hansards
import report
from cepts.data import Alignments, Association, Bitext
from cepts.extract import ASSOCIATIONS, Extraction, aligned_runs, compete
from cepts.factor import in_counts, onmf
from cepts.names import STATISTICS
from cepts.words import IBM1
from onmf_accuracy import SCORES, Setting, figure, rounded, score
from report import Table
from trained import DEFAULT, gold_pairs

__all__ = ["assignments", "associations"]

MATRICES = ((DEFAULT, "agreement"), ("Model 4", "nbest"), ("Model 4", "nbest-plain"), ("Model 4 by ML", "nbest-plain"))
WAYS: dict[str, dict[str, str]] = {
    "most probable cept (AIC)": {},
    "most probable cept (BIC)": {"cepts": "anneal-bic"},
    "most probable cept (ICL)": {"cepts": "anneal-icl"},
    "most probable cept, orphans directly": {"orphans": "direct"},
    "classification EM": {"assign": "classify"},
    "classification EM, orphans directly": {"assign": "classify", "orphans": "direct"},
}
STARTS = 5
STEPS = 300
TINY = 1e-12


def assignments(setting: Setting) -> Table:
    """Ways to assign words to cepts and to choose their number, on the trial pairs."""
    gold, bitext = hansards.gold(setting.data, hansards.TRIAL), gold_pairs(setting.gold, hansards.TRIAL)
    columns = ["matrices", "words to cepts", *SCORES, "links", "AER of sure links"]
    rows, records = [], []
    for model, association in MATRICES:
        extraction = Extraction(combine="onmf", association=association)
        runs = aligned_runs(setting.models[model], bitext, extraction, matrices=True)
        matrices = Association.concatenate([run.matrix for run in runs if run.matrix is not None])
        found = {way: onmf(matrices, **options) for way, options in WAYS.items()}  # type: ignore[arg-type]
        found["updates of Ding et al. (2006)"] = by_ding(matrices, found["most probable cept (AIC)"])
        for way, links in found.items():
            scores, sure = score(gold, links, bitext), score(gold, links.only_sure(), bitext)
            cells = [getattr(scores, each) for each in SCORES.values()]
            last = [f"{scores.links:,}", "-" if way.startswith("updates") else figure(100 * sure.aer)]
            rows.append([f"{model}, {association}", way, *(figure(100 * each) for each in cells), *last])
            about = {"table": "assignments", **setting.about(), "model": model, "association": association}
            records.append({**about, "way": way, "scores": rounded(scores), "sure_scores": rounded(sure)})
    return Table(report.markdown(columns, rows, text_columns=2), records)


def by_ding(matrices: Association, chosen: Alignments) -> Alignments:
    """Direct orthogonal updates with as many cepts as `chosen` has; words with more null mass than any link are null's.

    Ding, Li, Peng and Park (2006), eqs. (26) to (28): F, S and G of M = F S G' under F'F = I and G'G = I, by least
    squares, the best of several random starts. A cept is a column of G with the column of F that S ties most to it.
    """
    assert chosen.cepts is not None
    source_null, target_null = matrices.source_null, matrices.target_null
    assert source_null is not None
    assert target_null is not None
    rows = []
    for pair in range(len(matrices)):
        matrix = matrices[pair].astype(np.float64)
        random = np.random.default_rng(pair)
        starts = (updated(matrix, len(chosen.cepts[pair]), random) for _ in range(STARTS))
        _, source, scaling, target = min(starts, key=lambda found: found[0])
        source_cept, target_cept = scaling.argmax(axis=1)[source.argmax(axis=1)], target.argmax(axis=1)
        nulls = (
            null[offsets[pair] : offsets[pair + 1]]
            for null, offsets in ((source_null, matrices.source_offsets), (target_null, matrices.target_offsets))
        )
        at_null = [null > matrix.max(axis=1 - side, initial=0) for side, null in enumerate(nulls)]
        linked = (source_cept[:, None] == target_cept) & ~at_null[0][:, None] & ~at_null[1]
        rows.append([(int(i), int(j)) for i, j in np.argwhere(linked)])
    return Alignments.from_links(rows)


def updated(
    matrix: NDArray[np.float64], cepts: int, random: np.random.Generator
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The squared error, F, S and G after the multiplicative updates from a random start."""
    source, target = (random.random((words, cepts)) + 0.1 for words in matrix.shape)
    scaling = np.eye(cepts) * matrix.mean() + 0.01
    for _ in range(STEPS):
        wanted = matrix.T @ source @ scaling
        target *= np.sqrt((wanted + TINY) / (target @ (target.T @ wanted) + TINY))
        wanted = matrix @ target @ scaling.T
        source *= np.sqrt((wanted + TINY) / (source @ (source.T @ wanted) + TINY))
        wanted = source.T @ matrix @ target
        scaling *= np.sqrt((wanted + TINY) / (source.T @ source @ scaling @ (target.T @ target) + TINY))
    error = float(((matrix - source @ scaling @ target.T) ** 2).sum())
    return error, source, scaling, target


def associations(setting: Setting) -> Table:
    """Matrices of other kinds, section 7.2 of onmf, on the test pairs."""
    tests = hansards.TEST
    gold, bitext = hansards.gold(setting.data, tests), gold_pairs(setting.gold, tests)
    columns = ["matrix", *SCORES, "links", "source words linked", "target words linked"]
    rows, records = [], []
    for name, matrices in _matrices(setting, bitext):
        report.say(f"matrix: {name}")
        scores = score(gold, onmf(matrices), bitext)
        cells = [getattr(scores, each) for each in SCORES.values()]
        cells += [scores.source_coverage or 0.0, scores.target_coverage or 0.0]
        values = [figure(100 * each) for each in cells]
        rows.append([name, *values[: len(SCORES)], f"{scores.links:,}", *values[len(SCORES) :]])
        records.append({"table": "associations", **setting.about(), "matrix": name, "scores": rounded(scores)})
    return Table(report.markdown(columns, rows), records)


def _matrices(setting: Setting, bitext: Bitext) -> Iterator[tuple[str, Association]]:
    """Each matrix by name, in counts."""
    for model, association in (
        (DEFAULT, "agreement"),
        (DEFAULT, "mean"),
        (DEFAULT, "forward"),
        ("Model 4", "nbest"),
        ("Model 2", "tables"),
        (DEFAULT, "tables"),
    ):
        extraction = Extraction(combine="onmf", association=association)
        runs = aligned_runs(setting.models[model], bitext, extraction, matrices=True)
        yield f"{model}, {association}", Association.concatenate([run.matrix for run in runs if run.matrix is not None])
    # Statistics need the training text, which a model that was kept does not have.
    counting = IBM1(iterations=1).fit(setting.models.bitext)
    for name in STATISTICS:
        parts = [make().statistic(name) for make in counting.directions(bitext, in_order=True).makers]
        plain = Association.concatenate(parts)
        certain = ASSOCIATIONS[name].certain(1)
        yield f"{name}, plain", in_counts(plain, certain)
        yield f"{name}, shares of rows and columns", in_counts(compete(plain), certain)
