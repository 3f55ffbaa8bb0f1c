"""Confidences that mean something: of the links given 0.8, about 80 % are right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.tuning.cells import Column, logistic

# How strongly the map is drawn to the identity, as if this many cells said so.
STRENGTH = 1.0


class Calibration(NamedTuple):
    """A monotone map of log-odds z to probabilities: logit q = above log p - below log(1 - p) + shift, p = logistic(z).

    Kull, Silva Filho and Flach (2017), "Beta calibration", with `above` and `below` at least 0. (1, 1, 0) is the
    identity.
    """

    above: float = 1.0
    below: float = 1.0
    shift: float = 0.0

    def __call__(self, scores: NDArray[np.floating]) -> Column:
        """The calibrated probabilities of cells with these log-odds."""
        above, below = _logs(scores)
        return logistic(self.above * above - self.below * below + self.shift)

    @classmethod
    def of(cls, scores: Column, right: NDArray[np.bool_]) -> Calibration:
        """Fit the map to cells with these log-odds, which must not have been learnt from the same cells."""
        from scipy.optimize import minimize

        above, below = _logs(scores)
        columns = np.column_stack([above, -below, np.ones(len(scores))])
        identity = np.array([1.0, 1.0, 0.0])

        def loss(weights: Column) -> tuple[float, Column]:
            logits = columns @ weights
            apart = weights - identity
            value = np.sum(np.logaddexp(0.0, logits) - right * logits) + 0.5 * STRENGTH * np.sum(apart * apart)
            return float(value), (logistic(logits) - right) @ columns + STRENGTH * apart

        found = minimize(loss, identity, jac=True, method="L-BFGS-B", bounds=[(0.0, None), (0.0, None), (None, None)])
        return cls(*found.x.tolist())


IDENTITY = Calibration()


def _logs(scores: NDArray[np.floating]) -> tuple[Column, Column]:
    """Log p and log(1 - p)."""
    scores = np.asarray(scores, dtype=np.float64)
    return -np.logaddexp(0.0, -scores), -np.logaddexp(0.0, scores)
