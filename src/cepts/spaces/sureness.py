"""How sure it is that two words that are each other's nearest neighbours translate each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

WIDEST_MARGIN = 1.0  # margins above this count as this
RIDGE = 1.0  # of the weights; each kind of evidence has variance 1
STEPS = 30  # of Newton's method, which needs fewer
TOO_SMALL = 1e-8  # a step that ends the search


class MutualPairs(NamedTuple):
    """Words that are each other's nearest neighbours.

    Attributes
    ----------
    rows
        Rows of the two words in their views, one line for each pair.
    scores
        Their similarity.
    margins
        By how much it exceeds the similarity of either word to any other: the smaller of the two differences.
    """

    rows: NDArray[np.int64]
    scores: Matrix
    margins: Matrix

    def take(self, places: NDArray[np.bool_] | NDArray[np.int64]) -> MutualPairs:
        """Some of the pairs."""
        return MutualPairs(self.rows[places], self.scores[places], self.margins[places])

    @property
    def evidence(self) -> Matrix:
        """What speaks for each pair: its similarity, the root of its margin, and how rare the rarer word is."""
        margins = np.sqrt(np.clip(self.margins, 0.0, WIDEST_MARGIN))
        return np.stack([self.scores, margins, np.log1p(self.rows.max(axis=1, initial=0))], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Sureness:
    """P(a pair is right), by logistic regression on its evidence.

    Attributes
    ----------
    centre, scale
        Mean and standard deviation of the evidence from which it was learnt.
    weights
        The constant, and the weight of each kind of evidence.
    """

    centre: Matrix
    scale: Matrix
    weights: Matrix

    @classmethod
    def learn(cls, pairs: MutualPairs, right: NDArray[np.bool_]) -> Self:
        """Learn from judged pairs, by penalised maximum likelihood.

        The penalty is half the squared weights (not the constant), plus one right and one wrong pair with average
        evidence, so that few judgements leave the probability near one half.
        """
        evidence = pairs.evidence
        centre = evidence.mean(axis=0) if len(evidence) else np.zeros(evidence.shape[1])
        scale = evidence.std(axis=0) if len(evidence) else np.ones(evidence.shape[1])
        scale = np.where(scale > 0, scale, 1.0)
        average = np.zeros((2, evidence.shape[1]))
        inputs = np.insert(np.concatenate([(evidence - centre) / scale, average]), 0, 1.0, axis=1)
        wanted = np.concatenate([right.astype(np.float64), [1.0, 0.0]])
        ridge = RIDGE * np.diag([0.0, *np.ones(evidence.shape[1])])
        weights = np.zeros(inputs.shape[1])
        for _ in range(STEPS):
            found = _logistic(inputs @ weights)
            curvature = (inputs * (found * (1.0 - found))[:, None]).T @ inputs + ridge
            step = np.linalg.solve(curvature, inputs.T @ (wanted - found) - ridge @ weights)
            weights = weights + step
            if np.abs(step).max() < TOO_SMALL:
                break
        return cls(centre, scale, weights)

    def probability(self, pairs: MutualPairs) -> Matrix:
        """The probability of each pair."""
        return _logistic(self.weights[0] + (pairs.evidence - self.centre) / self.scale @ self.weights[1:])


def _logistic(values: Matrix) -> Matrix:
    return 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
