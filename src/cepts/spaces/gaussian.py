"""The factor model of several views: loadings, noise and means, and the distributions that follow from them.

p(z) = N(0, I) and p(x_i | z) = N(W_i z + mu_i, Psi_i) for each view i (mfa.txt, eq. 1 and section 2.2.1). IBFA and MBFA
are two ways to fit it.

All linear algebra of this room is NumPy's. SciPy has its own BLAS, and when calls to the two alternate, their threads
wait for each other (20 times slower on small matrices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cepts.spaces.moments import spans_of

Matrix = NDArray[np.float64]

TINY_RIDGE = 1e-10  # of the mean variance
SMALLEST = 1e-12  # share of a direction of which powers are taken


@dataclass(frozen=True, eq=False)
class FactorModel:
    """A shared latent space from which each view's vectors come, with noise.

    Attributes
    ----------
    loadings
        W_i of each view, d_i x k.
    noises
        Psi_i of each view, d_i x d_i: the covariance of what a view does not share with the others.
    means
        mu_i of each view.
    """

    loadings: tuple[Matrix, ...]
    noises: tuple[Matrix, ...]
    means: tuple[Matrix, ...]

    @property
    def factors(self) -> int:
        """Number of latent dimensions k."""
        return self.loadings[0].shape[1]

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of dimensions of each view."""
        return tuple(len(loading) for loading in self.loadings)

    def __len__(self) -> int:
        return len(self.loadings)

    @cached_property
    def covariances(self) -> tuple[Matrix, ...]:
        """Sigma_ii = W_i W_i' + Psi_i of each view."""
        return tuple(w @ w.T + noise for w, noise in zip(self.loadings, self.noises, strict=True))

    @cached_property
    def latent_maps(self) -> tuple[Matrix, ...]:
        """Sigma_ii^-1 W_i of each view: E[z | x_i] = (x_i - mu_i) times it (eq. 4, as appendix B has it)."""
        return tuple(
            np.asarray(np.linalg.solve(_firm(covariance), w), dtype=np.float64)
            for covariance, w in zip(self.covariances, self.loadings, strict=True)
        )

    @cached_property
    def agreement(self) -> Matrix:
        """Mean over the views of the covariance of E[z | x_i], k x k: how well one view alone predicts each factor.

        For IBFA it is diag(P), the canonical correlations, in both views.
        """
        parts = [w.T @ a for w, a in zip(self.loadings, self.latent_maps, strict=True)]
        mean = np.sum(parts, axis=0) / len(parts)
        return (mean + mean.T) / 2

    def latent_mean(self, vectors: NDArray[np.floating], view: int) -> Matrix:
        """E[z | x] for each row of `vectors`, which are of `view` (eq. 4)."""
        return (vectors - self.means[view]) @ self.latent_maps[view]

    def latent_covariance(self, views: Sequence[int]) -> Matrix:
        """Covariance of z where the vectors of `views` are known: (I + sum W_i' Psi_i^-1 W_i)^-1.

        It does not depend on the vectors. Computed as I - W' Sigma^-1 W, which also holds when Psi is singular.
        """
        loading = self._stacked(views)
        return np.eye(self.factors) - loading.T @ np.linalg.solve(_firm(self.joint_covariance(views)), loading)

    def joint_covariance(self, views: Sequence[int]) -> Matrix:
        """Covariance of the vectors of `views`, one after the other: W W' + Bdiag(Psi)."""
        loading = self._stacked(views)
        covariance = loading @ loading.T
        for view, span in zip(views, spans_of([self.widths[view] for view in views]), strict=True):
            covariance[span, span] += self.noises[view]
        return covariance

    def log_density(self, vectors: Mapping[int, NDArray[np.floating]]) -> Matrix:
        """Log p of each tuple: `vectors` has a matrix for each view that is known, a row a tuple.

        With two views, the joint density of translation pairs of appendices C and D.
        """
        views = list(vectors)
        stacked = np.concatenate([vectors[view] - self.means[view] for view in views], axis=1)
        return gaussian_log_density(stacked, self.joint_covariance(views))

    def conditional(self, source: int, target: int) -> tuple[Matrix, Matrix, Matrix]:
        """p(y | x) of the target view given the source view: N(mu_y + (x - mu_x) A, C) as (A, mu_y, C) (appendix C)."""
        slope = self.latent_maps[source] @ self.loadings[target].T
        covariance = self.covariances[target] - self.loadings[target] @ self.loadings[source].T @ slope
        return slope, self.means[target], (covariance + covariance.T) / 2

    def translate(self, vectors: NDArray[np.floating], source: int, target: int) -> Matrix:
        """E[y | x] for each row of `vectors`: where in the target view a translation is expected."""
        slope, mean, _ = self.conditional(source, target)
        return (vectors - self.means[source]) @ slope + mean

    def sharpened(self, exponent: float) -> tuple[tuple[Matrix, ...], Matrix]:
        """Maps of the views to E[z | x] with the agreement of each latent direction raised from 1/2 to `exponent`.

        With C_i the covariance of E[z | x_i] and C their mean, view i goes to E[z | x_i] C_i^-1/4 C^(exponent - 1/4),
        in the eigenvectors of C, whose values come second, descending. With two views C_i = C = P and this is
        U_i P^exponent. With more views, some predict a direction better than others, and keeping all of that difference
        moves them farther apart than needed; removing half of it did best on held-out entries.
        """
        values, vectors = np.linalg.eigh(self.agreement)
        values, vectors = np.clip(values[::-1], SMALLEST, 1.0), vectors[:, ::-1]
        common = vectors * values ** (exponent - 0.25)
        maps = []
        for loading, latent in zip(self.loadings, self.latent_maps, strict=True):
            own, axes = np.linalg.eigh(loading.T @ latent)
            maps.append(latent @ ((axes * np.maximum(own, SMALLEST) ** -0.25) @ (axes.T @ common)))
        return tuple(maps), values

    def sample(self, count: int, seed: int) -> tuple[Matrix, ...]:
        """`count` random tuples, a matrix for each view (the generative process of eq. 1)."""
        random = np.random.default_rng(seed)
        latent = random.standard_normal((count, self.factors))
        drawn = []
        for loading, noise, mean in zip(self.loadings, self.noises, self.means, strict=True):
            values, vectors = np.linalg.eigh(noise)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            drawn.append(latent @ loading.T + random.standard_normal((count, len(mean))) @ root.T + mean)
        return tuple(drawn)

    def _stacked(self, views: Sequence[int]) -> Matrix:
        return np.concatenate([self.loadings[view] for view in views])


def gaussian_log_density(centred: NDArray[np.floating], covariance: Matrix) -> Matrix:
    """Log-density N(row; 0, covariance) of each row."""
    low = np.linalg.cholesky(_firm(covariance))
    white = np.linalg.solve(low, np.asarray(centred, dtype=np.float64).T)
    half_log_determinant = np.log(np.diag(low)).sum() + 0.5 * len(covariance) * np.log(2 * np.pi)
    return -0.5 * np.einsum("ij,ij->j", white, white) - half_log_determinant


def _firm(covariance: Matrix) -> Matrix:
    """`covariance`; if it is almost singular, so that rounding would decide its inverse, with a tiny ridge."""
    ridge = TINY_RIDGE * np.trace(covariance) / len(covariance)
    try:
        pivots = np.diag(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return covariance + max(ridge, np.finfo(np.float64).tiny) * np.eye(len(covariance))
    return covariance if pivots.min() ** 2 > ridge else covariance + ridge * np.eye(len(covariance))
