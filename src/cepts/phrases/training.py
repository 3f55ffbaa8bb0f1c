"""Training one direction: gold paths, costs, and L-BFGS on the softmax-margin objective (section 3.1 of semicrf)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import SentencePair
from cepts.errors import NotFiniteError
from cepts.phrases.crf import (
    Gold,
    LatticeShape,
    Marginals,
    Objective,
    allowed_segments,
    gold_path,
    link_cells,
    link_costs,
    running_sums,
)
from cepts.phrases.features import PairFeatures
from cepts.progress import Progress, Step, Stopwatch

if TYPE_CHECKING:
    from cepts.phrases.aligner import PhraseAligner

MEMORY_OF_LBFGS = 10
# L-BFGS stops when an iteration gains less than this share of the objective; more moves no figure of held-out pairs.
TOLERANCE = 1e-5


def minimise(
    objective: Objective, iterations: int, stage: str, report: Progress
) -> tuple[NDArray[np.float64], list[float], bool]:
    """The weights that minimise the objective, its value after each iteration, and whether `iterations` ended it."""
    from scipy.optimize import minimize

    stopwatch = Stopwatch()
    values: list[float] = []

    def evaluate(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective(weights)
        if not np.isfinite(value):
            raise NotFiniteError(f"{stage}: the objective is {value} after {len(values)} iterations.")
        return value, gradient

    def note(intermediate_result: object) -> None:
        values.append(float(intermediate_result.fun))  # type: ignore[attr-defined]
        done, seconds = len(values), stopwatch.seconds
        report(Step(stage=stage, done=done, total=iterations, iteration=done, objective=-values[-1], seconds=seconds))

    options = {"maxiter": iterations, "maxcor": MEMORY_OF_LBFGS, "maxfun": 10 * iterations, "ftol": TOLERANCE}
    start = np.zeros(objective.weights)
    result = minimize(evaluate, start, jac=True, method="L-BFGS-B", callback=note, options=options)
    return result.x, values, bool(result.status == 1)


def gold_of(pair: SentencePair, features: PairFeatures, shape: LatticeShape, aligner: PhraseAligner) -> Gold:
    """The gold path of a pair, and what departing from it costs."""
    length, width = len(pair.source), len(pair.target)
    allowed = allowed_segments(features, shape)
    cells = link_cells(pair.sure or (), length, width, shape.by_target)
    path = gold_path(cells, shape, allowed)
    longest, widest = path.segments.shape[1::2]
    if aligner.cost == "states":
        segments, null = _state_costs(path, aligner.wrong_cost)
        return Gold(path, segments, running_sums(null, shape.most_null))
    scale = float(aligner.cost == "links")
    excused = link_cells(pair.possible or (), length, width, shape.by_target)
    wrong, missed = scale * aligner.wrong_cost, scale * aligner.missed_cost
    segments, null = link_costs(cells, excused, longest, widest, wrong=wrong, missed=missed)
    return Gold(path, segments, running_sums(null, shape.most_null))


def _state_costs(path: Marginals, cost: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The paper's Hamming cost: of each segment, the observed words that are in another state on the gold path."""
    length, longest, width, widest = path.segments.shape
    state = np.full(length, -1)
    for i, span, j, wide in zip(*np.nonzero(path.segments), strict=True):
        state[i : i + span + 1] = j * widest + wide
    wrong = (state[:, None] != np.arange(width * widest)).reshape(length, width, widest)
    costs = np.zeros((length, longest, width, widest), dtype=np.float32)
    running = np.zeros((length, width, widest))
    for span in range(longest):
        running[: max(length - span, 0)] += wrong[span:]
        costs[:, span] = cost * running
    return costs, (cost * (state >= 0)).astype(np.float32)
