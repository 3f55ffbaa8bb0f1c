"""The factor model of several views: loadings, noise and means, and the distributions that follow from them.

p(z) = N(0, I) and p(x_i | z) = N(W_i z + mu_i, Psi_i) for each view i (Vargas et al. 2019, eq. 1 and section 2.2.1).
IBFA and MBFA are two ways to fit it.

All linear algebra in this package is NumPy's. SciPy has its own BLAS, and when calls to the two alternate, their
threads wait for each other, which is 20 times slower on small matrices.
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
SMALLEST = 1e-12  # the least agreement of a direction whose power is taken


@dataclass(frozen=True, eq=False)
class FactorModel:
    """A factor model of several views, as Vargas et al. (2019) define it in eq. (1) and section 2.2.1.

    A latent meaning z is drawn from N(0, I), and the vector of view i from N(W_i z + mu_i, Psi_i).

    Attributes
    ----------
    loadings
        W_i of each view, d_i x k, where d_i is the width of the view and k the number of factors.
    noises
        Psi_i of each view, d_i x d_i: the covariance of what a view does not share with the others.
    means
        mu_i of each view, d_i numbers.
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
        """Sigma_ii^-1 W_i of each view; E[z | x_i] is (x_i - mu_i) times it (Vargas et al. 2019, eq. 4, appendix B)."""
        return tuple(
            np.asarray(np.linalg.solve(_firm(covariance), w), dtype=np.float64)
            for covariance, w in zip(self.covariances, self.loadings, strict=True)
        )

    @cached_property
    def agreement(self) -> Matrix:
        """How well a single view predicts each factor: the mean covariance of E[z | x_i] over the views, k x k.

        For IBFA it is diag(P), the canonical correlations, in both views.
        """
        parts = [w.T @ a for w, a in zip(self.loadings, self.latent_maps, strict=True)]
        mean = np.sum(parts, axis=0) / len(parts)
        return (mean + mean.T) / 2

    def latent_mean(self, vectors: NDArray[np.floating], view: int) -> Matrix:
        """E[z | x] for each row of `vectors`, which belong to `view` (Vargas et al. 2019, eq. 4)."""
        return (vectors - self.means[view]) @ self.latent_maps[view]

    def latent_covariance(self, views: Sequence[int]) -> Matrix:
        """Covariance of z given the vectors of `views`: (I + sum W_i' Psi_i^-1 W_i)^-1.

        It does not depend on the vectors. It is computed as I - W' Sigma^-1 W, which also holds if Psi is singular.
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
        """Log-density of tuples of vectors: `vectors` has a matrix for each known view, with one row for each tuple.

        With two views, this is the joint density of translation pairs (Vargas et al. 2019, appendices C and D).
        """
        views = list(vectors)
        stacked = np.concatenate([vectors[view] - self.means[view] for view in views], axis=1)
        return gaussian_log_density(stacked, self.joint_covariance(views))

    def conditional(self, source: int, target: int) -> tuple[Matrix, Matrix, Matrix]:
        """The density of the target view given the source view: (A, mu_y, C) of p(y | x) = N(mu_y + (x - mu_x) A, C).

        See Vargas et al. (2019), appendix C.
        """
        slope = self.latent_maps[source] @ self.loadings[target].T
        covariance = self.covariances[target] - self.loadings[target] @ self.loadings[source].T @ slope
        return slope, self.means[target], (covariance + covariance.T) / 2

    def translate(self, vectors: NDArray[np.floating], source: int, target: int) -> Matrix:
        """E[y | x] for each row of `vectors`: the point of the target view at which a translation is expected."""
        slope, mean, _ = self.conditional(source, target)
        return (vectors - self.means[source]) @ slope + mean

    def sharpened(self, exponent: float, *, balance: float) -> tuple[tuple[Matrix, ...], Matrix]:
        """Maps of the views like `latent_maps`, in which the agreement of a direction has `exponent` in place of 1/2.

        If C_i is the covariance of E[z | x_i], C the mean of these and b the `balance`, the map of view i gives
        E[z | x_i] C_i^(-b/2) C^(exponent - (1 - b)/2) in the eigenvectors of C. The eigenvalues, in descending order,
        are also returned. With two views fitted by IBFA, C_i = C = P, and the maps are U_i P^exponent whatever the
        balance. With more views, some predict a direction better than others: a balance of 0 keeps all of this
        difference, and with the exponent 1/2 the maps give E[z | x_i] itself (Vargas et al. 2019, eq. 4), rotated; a
        balance of 1 removes all of it.
        """
        values, vectors = np.linalg.eigh(self.agreement)
        values, vectors = np.clip(values[::-1], SMALLEST, 1.0), vectors[:, ::-1]
        common = vectors * values ** (exponent - (1.0 - balance) / 2)
        maps = []
        for loading, latent in zip(self.loadings, self.latent_maps, strict=True):
            own, axes = np.linalg.eigh(loading.T @ latent)
            maps.append(latent @ ((axes * np.maximum(own, SMALLEST) ** (-balance / 2)) @ (axes.T @ common)))
        return tuple(maps), values

    def sample(self, count: int, seed: int) -> tuple[Matrix, ...]:
        """Draw `count` random tuples of vectors; returns a matrix for each view (Vargas et al. 2019, eq. 1)."""
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
    """`covariance`, with a tiny ridge if it is almost singular, so that rounding would determine its inverse."""
    ridge = TINY_RIDGE * np.trace(covariance) / len(covariance)
    try:
        pivots = np.diag(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return covariance + max(ridge, np.finfo(np.float64).tiny) * np.eye(len(covariance))
    return covariance if pivots.min() ** 2 > ridge else covariance + ridge * np.eye(len(covariance))
