"""Logistic regression with an offset, sparse categories, and weights that are drawn to given ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.tuning.cells import Column, logistic

# Standardised features are kept within this many standard deviations: new text may have values never seen.
FARTHEST = 8.0
# The intercept is nearly free: it only says how many links there are.
INTERCEPT_SHARE = 0.01
# More iterations change held-out figures by less than their noise.
MOST_ITERATIONS = 60
TOLERANCE = 1e-5


class Scale(NamedTuple):
    """How features are put on one scale: they become (x - mean) / deviation, within `FARTHEST`."""

    mean: Column
    deviation: Column

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Scale:
        """Mean and standard deviation of each column; a constant column keeps its scale."""
        deviation = values.std(axis=0) if len(values) else np.ones(values.shape[1])
        mean = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
        return cls(mean, np.where(deviation < 1e-6, 1.0, deviation))

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The columns on one scale, followed by a column of ones for the intercept."""
        scaled = np.clip((values - self.mean) / self.deviation, -FARTHEST, FARTHEST)
        return np.ascontiguousarray(np.column_stack([scaled, np.ones(len(values))]))


class Weights(NamedTuple):
    """Weights of the features (the last is the intercept) and of the categories (the last, 0, stands for none)."""

    values: Column
    categories: Column

    @classmethod
    def zero(cls, features: int, categories: int = 0) -> Weights:
        """Weights that change nothing."""
        return cls(np.zeros(features + 1), np.zeros(categories + 1))


class Cases(NamedTuple):
    """What is learnt from: a row for each cell that is surely a link or surely none.

    Attributes
    ----------
    values
        Features on one scale.
    categories
        Indices of the weights of categories.
    offset
        Log-odds before learning.
    labels
        1 for links, 0 for other cells.
    """

    values: NDArray[np.float64]
    categories: NDArray[np.int64]
    offset: Column
    labels: Column

    def take(self, rows: NDArray[np.bool_]) -> Cases:
        """Only some rows."""
        return Cases(self.values[rows], self.categories[rows], self.offset[rows], self.labels[rows])


def score(values: NDArray[np.float64], categories: NDArray[np.int64], offset: Column, weights: Weights) -> Column:
    """Log-odds of cells: offset + features x weights + the weights of the categories."""
    from cepts.kernels.log_linear import score_items

    found = np.empty(len(values))
    score_items(values, categories, weights.values, weights.categories, found)
    found += offset
    return found


def objective(cases: Cases, prior: Weights, strength: Weights, weights: Weights) -> tuple[float, Weights]:
    """Negative log-likelihood + sum of strength / 2 x (weight - prior)^2, and its gradient.

    With z the log-odds of a cell and y its label, the log-likelihood is the sum of y z - log(1 + exp(z)).
    """
    scores = score(cases.values, cases.categories, cases.offset, weights)
    residuals = logistic(scores) - cases.labels
    apart = Weights(*(own - start for own, start in zip(weights, prior, strict=True)))
    loss = float(np.sum(np.logaddexp(0.0, scores) - cases.labels * scores))
    loss += sum(0.5 * float(np.sum(pull * gap * gap)) for pull, gap in zip(strength, apart, strict=True))
    spread = np.repeat(residuals, cases.categories.shape[1])
    counts = np.bincount(cases.categories.ravel(), spread, minlength=len(weights.categories))
    counts[-1] = 0.0
    gradient = Weights(
        residuals @ cases.values + strength.values * apart.values,
        counts + strength.categories * apart.categories,
    )
    return loss, gradient


def fit(
    cases: Cases, prior: Weights, strength: float, category_strength: float, start: Weights | None = None
) -> Weights:
    """The weights that minimise `objective`, by L-BFGS.

    Parameters
    ----------
    cases
        The cells.
    prior
        The weights that learning starts from and is drawn to.
    strength, category_strength
        How strongly the weights of features and of categories are drawn to the prior; infinity gives the prior.
    start
        Where the search starts; None is the prior.
    """
    from scipy.optimize import minimize

    if not np.isfinite(strength):
        return prior
    pulls = Weights(np.full(len(prior.values), strength), np.full(len(prior.categories), category_strength))
    pulls.values[-1] *= INTERCEPT_SHARE
    size = len(prior.values)

    def of_vector(vector: Column) -> tuple[float, Column]:
        loss, gradient = objective(cases, prior, pulls, Weights(vector[:size], vector[size:]))
        return loss, np.concatenate(gradient)

    options = {"maxiter": MOST_ITERATIONS, "ftol": TOLERANCE}
    found = minimize(of_vector, np.concatenate(start or prior), jac=True, method="L-BFGS-B", options=options)
    return Weights(found.x[:size], found.x[size:])
