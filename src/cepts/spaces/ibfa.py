"""Inter-battery factor analysis: the maximum-likelihood factor model of two views, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.moments import Moments

Matrix = NDArray[np.float64]

# Directions with a smaller share of the largest variance count as directions without variance.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """Canonical correlation analysis of two views.

    Attributes
    ----------
    directions
        U_x and U_y, each d x k: the centred vectors of a view times its U are the canonical variates, of variance 1.
    correlations
        P: the correlation of each pair of variates, in descending order.
    covariances
        S_xx and S_yy after shrinkage.
    means
        The means of the two views.
    """

    directions: tuple[Matrix, Matrix]
    correlations: Matrix
    covariances: tuple[Matrix, Matrix]
    means: tuple[Matrix, Matrix]


def shrunk(covariance: Matrix, shrinkage: float) -> Matrix:
    """`covariance` + shrinkage * (its mean variance) * I: as if the vectors had additional noise of that variance."""
    return covariance + shrinkage * np.trace(covariance) / len(covariance) * np.eye(len(covariance))


def canonical(
    moments: Moments, widths: tuple[int, int], *, factors: int | None = None, shrinkage: float = 0.0
) -> Canonical:
    """Canonical directions and correlations of two views.

    The correlations are the singular values of S_xx^-1/2 S_xy S_yy^-1/2 (mfa, section 2.2). Directions in which a view
    has no variance are left out; there are some if there are fewer entries than dimensions.
    """
    x, y = moments.spans(widths)
    s_xx, s_yy = shrunk(moments.covariance[x, x], shrinkage), shrunk(moments.covariance[y, y], shrinkage)
    root_x, root_y = inverse_root(s_xx), inverse_root(s_yy)
    most = min(root_x.shape[1], root_y.shape[1])
    kept = most if factors is None else min(check_factors(factors, widths), most)
    left, correlations, right = np.linalg.svd(root_x.T @ moments.covariance[x, y] @ root_y, full_matrices=False)
    return Canonical(
        (root_x @ left[:, :kept], root_y @ right[:kept].T),
        np.clip(correlations[:kept], 0.0, 1.0),
        (s_xx, s_yy),
        (moments.mean[x], moments.mean[y]),
    )


def fit_ibfa(found: Canonical) -> FactorModel:
    """The model of maximum likelihood (mfa, section 2.2, after Browne 1979 and Bach & Jordan 2005).

    W_i = S_ii U_i P^1/2, Psi_i = S_ii - W_i W_i', and mu_i is the mean. There, eq. (4) of mfa reduces to
    E[z | x] = P^1/2 U_x' (x - mu_x).
    """
    roots = np.sqrt(found.correlations)
    loadings = tuple(s @ u * roots for s, u in zip(found.covariances, found.directions, strict=True))
    noises = tuple(s - w @ w.T for s, w in zip(found.covariances, loadings, strict=True))
    return FactorModel(loadings, noises, found.means)


def check_factors(factors: int, widths: tuple[int, ...]) -> int:
    """Refuse more factors than the narrowest view has dimensions."""
    if not 1 <= factors <= min(widths):
        raise UsageError(
            f"`factors` must be 1 to {min(widths):,}, the width of the narrowest vectors. Got {factors:,} instead."
        )
    return factors


def inverse_root(covariance: Matrix) -> Matrix:
    """R such that R R' is the (pseudo-)inverse of `covariance`, with a column for each direction that has variance."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * max(values[-1], np.finfo(np.float64).tiny)
    return vectors[:, kept] / np.sqrt(values[kept])
