"""Training one direction: gold paths, costs, and L-BFGS on the softmax-margin objective (section 3.1 of semicrf)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import SentencePair
from cepts.errors import NotFiniteError
from cepts.phrases.crf import Gold, LatticeShape, Marginals, Objective, gold_path, link_cells, link_costs
from cepts.phrases.features import Layout, PairFeatures
from cepts.progress import Progress, Step, Stopwatch

MEMORY_OF_LBFGS = 10
# L-BFGS stops when an iteration gains less than this share of the objective; more moves no figure of held-out pairs.
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How a direction is trained; see `PhraseAligner`."""

    cost: str = "links"
    wrong_cost: float = 1.0
    missed_cost: float = 1.0
    penalty: float = 1.0
    iterations: int = 120
    threads: int | None = None


class CRFTraining:
    """The training of one direction of an aligner."""

    def __init__(
        self,
        pairs: Sequence[SentencePair],
        features: Sequence[PairFeatures],
        layout: Layout,
        shape: LatticeShape,
        options: TrainingOptions,
    ) -> None:
        self._iterations = options.iterations
        golds = [_gold(pair, shape, options) for pair in pairs]
        self.objective = Objective(
            features, golds, layout.sizes, shape, penalty=options.penalty, threads=options.threads
        )
        self.objectives: list[float] = []

    def run(self, stage: str, report: Progress) -> NDArray[np.float64]:
        """The weights that minimise the objective; its value after each iteration is kept in `objectives`."""
        from scipy.optimize import minimize

        stopwatch = Stopwatch()

        def evaluate(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = self.objective(weights)
            if not np.isfinite(value):
                raise NotFiniteError(f"{stage}: the objective is {value} after {len(self.objectives)} iterations.")
            return value, gradient

        def note(intermediate_result: object) -> None:
            value = float(intermediate_result.fun)  # type: ignore[attr-defined]
            self.objectives.append(value)
            report(
                Step(
                    stage=stage,
                    done=len(self.objectives),
                    total=self._iterations,
                    iteration=len(self.objectives),
                    objective=-value,
                    seconds=stopwatch.seconds,
                )
            )

        result = minimize(
            evaluate,
            np.zeros(self.objective.weights),
            jac=True,
            method="L-BFGS-B",
            callback=note,
            options={
                "maxiter": self._iterations,
                "maxcor": MEMORY_OF_LBFGS,
                "maxfun": 10 * self._iterations,
                "ftol": TOLERANCE,
            },
        )
        weights: NDArray[np.float64] = result.x
        return weights


def _gold(pair: SentencePair, shape: LatticeShape, options: TrainingOptions) -> Gold:
    length, width = len(pair.source), len(pair.target)
    cells = link_cells(pair.sure or (), length, width, shape.by_target)
    path = gold_path(cells, shape)
    longest, widest = path.segments.shape[1::2]
    if options.cost == "states":
        return Gold(path, *_state_costs(path, options.wrong_cost))
    scale = float(options.cost == "links")
    excused = link_cells(pair.possible or (), length, width, shape.by_target)
    wrong, missed = scale * options.wrong_cost, scale * options.missed_cost
    return Gold(path, *link_costs(cells, excused, longest, widest, wrong=wrong, missed=missed))


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
