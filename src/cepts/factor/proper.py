"""Proper alignments as factors with one entry in each row, and the likelihood of the model that has them (onmf)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.engine import ROUNDING, run_em
from cepts.errors import DataError, UsageError
from cepts.factor.latent import as_matrix
from cepts.progress import Progress

TINY = 1e-200  # a cept that explains a smaller share of the matrix keeps its factors


@dataclass(frozen=True, slots=True, eq=False)
class ProperFactors:
    """Orthogonal factors F and E of a proper alignment, and the weights S of its cepts.

    Each row has one entry, in the column of the word's cept, or none if the word belongs to null. The columns sum to 1,
    so they are P(i | c) and P(j | c), and they are orthogonal: ``F.T @ F`` and ``E.T @ E`` are diagonal (Goutte et al.,
    2004, section 3).

    Attributes
    ----------
    source
        F, source words by cepts.
    target
        E, target words by cepts.
    weights
        P(c), the diagonal of S.
    noise
        P(noise), which is spread evenly over all cells.
    log_likelihood
        Sum over cells of entry times log P(i, j); NaN if the factors are of no matrix, minus infinity if an entry
        outside the blocks has probability 0 because there is no noise.
    """

    source: NDArray[np.float64]
    target: NDArray[np.float64]
    weights: NDArray[np.float64]
    noise: float = 0.0
    log_likelihood: float = np.nan

    @property
    def product(self) -> NDArray[np.float64]:
        """F S E', the matrix that the factors reconstruct: P(i, j) without noise."""
        return (self.source * self.weights) @ self.target.T

    @property
    def links(self) -> NDArray[np.bool_]:
        """The word-to-word alignment A = F E' (section 3): true where two words share a cept."""
        return (self.source @ self.target.T) > 0


def orthogonal_factors(source_cepts: ArrayLike, target_cepts: ArrayLike, cepts: int | None = None) -> ProperFactors:
    """The factors of an alignment, eq. (7) of Goutte et al. (2004): equal entries for all words of a cept.

    Parameters
    ----------
    source_cepts, target_cepts
        The number of the cept of each word, from 0; -1 is null.
    cepts
        Number of cepts; None is one more than the highest number.

    Examples
    --------
    >>> orthogonal_factors([0, 1, 1], [1, 0]).source
    array([[1. , 0. ],
           [0. , 0.5],
           [0. , 0.5]])
    """
    sides = [np.asarray(side, dtype=np.int64) for side in (source_cepts, target_cepts)]
    count = max(int(side.max(initial=-1)) + 1 for side in sides) if cepts is None else cepts
    columns = [(side[:, None] == np.arange(count)).astype(np.float64) for side in sides]
    for name, factor in zip(("source_cepts", "target_cepts"), columns, strict=True):
        if not factor.any(axis=0).all():
            raise DataError(
                f"`{name}` must have a word of each of {count} cepts, since every cept has words on both sides."
            )
    source, target = (factor / factor.sum(axis=0) for factor in columns)
    return ProperFactors(source, target, np.full(count, 1 / max(count, 1)))


class ProperProblem:
    """An `engine.EMProblem`: the model of a matrix whose factors are 0 outside the blocks of an alignment."""

    def __init__(self, matrix: NDArray[np.float64], start: ProperFactors, noise: float) -> None:
        self.matrix, self.mass = matrix, float(matrix.sum())
        self.source, self.target = start.source.copy(), start.target.copy()
        self.weights, self.noise = (1 - noise) * start.weights, noise
        self._cept = start.source.astype(bool), start.target.astype(bool)
        self._explained = np.zeros_like(matrix)

    @property
    def allowed_fall(self) -> float:
        """EM never lowers the log-likelihood."""
        return ROUNDING * self.mass

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """How much of each entry its cept explains; a cell has one cept at most, and noise."""
        blocks = (self.source * self.weights) @ self.target.T
        whole = blocks + self.noise / self.matrix.size
        counted = self.matrix > 0
        self._explained = np.divide(self.matrix * blocks, whole, out=np.zeros_like(whole), where=whole > 0)
        with np.errstate(divide="ignore"):
            return float((self.matrix[counted] * np.log(whole[counted])).sum())

    def m_step(self) -> None:
        """Eqs. (4) to (6) of onmf; rows and columns have one cept each, so sums over cells are sums over words."""
        rows, columns = self._explained.sum(axis=1), self._explained.sum(axis=0)
        of_cept = rows @ self._cept[0]
        used = of_cept > TINY * self.mass
        share = np.divide(1.0, of_cept, out=np.zeros_like(of_cept), where=used)
        self.source = np.where(used, self._cept[0] * rows[:, None] * share, self.source)
        self.target = np.where(used, self._cept[1] * columns[:, None] * share, self.target)
        self.weights = of_cept / self.mass
        self.noise = 1 - float(of_cept.sum()) / self.mass


def proper_model(
    matrix: ArrayLike,
    source_cepts: ArrayLike,
    target_cepts: ArrayLike,
    *,
    noise: float | None = 0.01,
    iterations: int = 500,
    tolerance: float = 1e-9,
    progress: Progress | None = None,
) -> ProperFactors:
    """The most likely model of a matrix whose alignment is given, with noise for the cells outside its blocks.

    A proper alignment gives probability 0 to all cells outside its blocks, so without noise the likelihood of almost
    every matrix is 0. This is why Goutte et al. (2004), section 4.3, add noise.

    Parameters
    ----------
    matrix
        I x J, non-negative.
    source_cepts, target_cepts
        The number of the cept of each word, from 0; -1 is null.
    noise
        P(noise) before training; None is a model without noise.
    iterations, tolerance, progress
        As in `cepts.factor.plsa`.

    Examples
    --------
    >>> found = proper_model([[8, 1], [1, 6]], [0, 1], [0, 1])
    >>> round(found.noise, 2), found.weights.round(2)
    (0.25, array([0.44, 0.31]))
    """
    values = as_matrix(matrix).astype(np.float64)
    start = orthogonal_factors(source_cepts, target_cepts)
    if (len(start.source), len(start.target)) != values.shape:
        raise DataError(
            f"`source_cepts` and `target_cepts` must have {values.shape[0]} and {values.shape[1]} words, as the matrix "
            f"has. Got {len(start.source)} and {len(start.target)} instead."
        )
    if noise is not None and not 0 < noise < 1:
        raise UsageError(f"`noise` must lie between 0 and 1. Got {noise} instead.")
    problem = ProperProblem(values, start, noise or 0.0)
    if noise is None:
        problem.e_step(lambda done, total: None)
        problem.m_step()
        problem.noise = 0.0
        problem.weights = problem.weights / max(problem.weights.sum(), 1e-300)
    elif len(start.weights):
        run_em(problem, iterations=iterations, tolerance=tolerance, stage="proper model", progress=progress)
    else:
        problem.noise = 1.0
    found = problem.e_step(lambda done, total: None)
    return ProperFactors(problem.source, problem.target, problem.weights, problem.noise, found)
