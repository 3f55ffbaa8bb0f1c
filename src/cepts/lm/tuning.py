"""Weights of a mixture, found by EM on held-out text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cepts.engine import run_em
from cepts.errors import DataError
from cepts.lm.adapted import Mixture, Scored

__all__ = ["best_weights", "tuned_weights"]

ITERATIONS = 200
TOLERANCE = 1e-7


class _Problem:
    """An `engine.EMProblem`: the weights of a mixture of given distributions."""

    def __init__(self, probs: NDArray[np.float64]) -> None:
        self.probs = probs
        self.weights = np.full(probs.shape[1], 1 / probs.shape[1])
        self._expected = self.weights

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """How many words each component explains."""
        joint = self.probs * self.weights
        total = joint.sum(axis=1, keepdims=True)
        self._expected = (joint / total).sum(axis=0)
        return float(np.log(total).sum())

    def m_step(self) -> None:
        """Their shares."""
        self.weights = self._expected / self._expected.sum()

    def state(self) -> dict[str, NDArray]:
        """The weights."""
        return {"weights": self.weights}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take the weights."""
        self.weights = state["weights"]


def best_weights(probs: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[float]]:
    """The weights under which a mixture gives held-out words the highest probability, and the objective of each step.

    Parameters
    ----------
    probs
        What each component gives to each word, a column a component.
    """
    known = probs[probs.sum(axis=1) > 0]
    if not len(known):
        raise DataError(
            "the held-out text has no word that the model knows, so that there is nothing to set weights by; "
            "give another --dev."
        )
    problem = _Problem(known)
    objectives = run_em(problem, iterations=ITERATIONS, tolerance=TOLERANCE, stage="weights")
    return problem.weights, objectives


def tuned_weights(scored: Scored, mixture: Mixture) -> NDArray[np.float64]:
    """The best weights of a mixture's components on scored held-out text."""
    if mixture == "literal":
        kept = scored.known
        columns = scored.columns[kept].copy()
        columns[:, 0] = scored.probs[kept]
    else:
        columns = scored.columns[scored.content]
    return best_weights(columns)[0]
