"""Poisson NMF of a symmetric matrix of counts into one set of factors: M ~ Q Z Q'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.errors import DataError, check_choice
from cepts.factor.anchor_words import anchor_start
from cepts.factor.poisson import Climb, Counts, Rows, as_counts, check_options
from cepts.factor.starts import as_start, random_start, seeded_start, shares_of_column
from cepts.names import FACTOR_STARTS
from cepts.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, eq=False)
class SymmetricFactors:
    """Factors of a symmetric matrix of counts M, words by words: M is approximated by Q Z Q'.

    Novak and Mammone (2001), eqs. (8) to (11).

    Attributes
    ----------
    words
        Q, words by factors: P(word | d) of each hidden document d. Each column adds up to 1; the rows of words without
        counts are 0.
    weights
        The diagonal of Z: how much of the counts each hidden document explains. The weights add up to the sum of M.
    objective, divergence, objectives
        As for `PoissonFactors`.
    """

    words: NDArray[np.float32]
    weights: NDArray[np.float64]
    objective: float
    divergence: float
    objectives: list[float]

    def __len__(self) -> int:
        return len(self.weights)


class SymmetricProblem(Climb):
    """Q, and Z as shares.

    EM of P(i, m) = sum over a of z_a Q_ia Q_ma: factor a explains A_im z_a Q_ia Q_ma / P(i, m) of an entry; z_a is what
    it explains of all entries, and Q_ia is the share of row i in that. Column i gives the same, because the matrix is
    symmetric. So eq. (12) of nmf_lm as printed is this EM, and the z add up to the sum of the matrix.
    """

    def __init__(self, rows: Rows, words: NDArray, weights: NDArray, *, long: bool) -> None:
        self.rows = rows
        shares = (weights / weights.sum(dtype=np.float64)).astype(np.float32)
        super().__init__(rows.counts, (shares_of_column(words)[0], shares), long=long)

    def expect(self, tick: Callable[[int, int], None]) -> float:
        """Expected counts: how much of each word each factor explains."""
        words, weights = self.parameters
        self._found = self.rows.expect(words, words, weights, busy=self.busy, long=self.long, tick=tick)
        return self._found.log_likelihood

    def maximise(self) -> tuple[NDArray[np.float32], ...]:
        """Eq. (12) of nmf_lm."""
        return self._found.factors, self._found.weights


def symmetric_nmf(
    matrix: Any,
    factors: int,
    *,
    iterations: int = 50,
    tolerance: float = 1e-5,
    long_steps: bool = True,
    start: str | tuple[ArrayLike, ArrayLike] = "columns",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SymmetricFactors:
    """Factorise a symmetric matrix of counts, words by words, into hidden documents by Poisson NMF.

    Novak and Mammone (2001), eqs. (8) to (12).

    Parameters
    ----------
    matrix
        Non-negative, symmetric counts: a sparse matrix or array of SciPy, or anything that NumPy can convert to one.
    factors
        Number of hidden documents, from 1 to the number of words.
    iterations, tolerance, long_steps, seed, threads, progress
        As for `poisson_nmf`.
    start
        ``columns`` and ``random`` as for `poisson_nmf`; ``anchors`` starts from anchor words (Arora et al., 2013) and
        involves no chance. Or Q and the diagonal of Z to start from.

    Examples
    --------
    >>> found = symmetric_nmf([[9, 9, 0], [9, 9, 0], [0, 0, 4]], 2)
    >>> found.weights.round(2)[found.weights.argsort()]
    array([ 4., 36.])
    """
    given, mass = as_counts(matrix)
    if given.shape[0] != given.shape[1]:
        raise DataError(f"`matrix` must be symmetric, words by words. Got {given.shape[0]} x {given.shape[1]} instead.")
    _check_symmetry(given)
    check_options(factors, given.shape[0], iterations, threads)
    if isinstance(start, str):
        check_choice("start", start, FACTOR_STARTS)
        weights = np.ones(factors)
        if start == "anchors":
            words, weights = anchor_start(given, mass, factors, threads)
        elif start == "random":
            words = random_start(given.shape[0], factors, seed)
        else:
            words = seeded_start(given, factors, seed)[0]
    else:
        words = as_start(start[0], given.shape[0], factors)
        weights = as_start(np.reshape(start[1], (1, -1)), 1, factors)[0].astype(np.float64)
    rows = Rows(Counts.of(given, mass), factors, threads)
    problem = SymmetricProblem(rows, words, weights, long=long_steps)
    stage = f"symmetric NMF with {factors} factors"
    reached = problem.climb(stage, iterations=iterations, tolerance=tolerance, progress=progress)
    words, shares = problem.parameters
    return SymmetricFactors(words, mass * shares.astype(np.float64), *reached)


def _check_symmetry(matrix: csr_array) -> None:
    difference = abs(matrix - matrix.T).tocoo()
    wrong = difference.data > 1e-5 * matrix.data.max()
    if wrong.any():
        i, j = (int(index[wrong.argmax()]) for index in (difference.row, difference.col))
        raise DataError(
            f"`matrix` must be symmetric. Got {matrix[i, j]} at position {i + 1}, {j + 1} "
            f"but {matrix[j, i]} at position {j + 1}, {i + 1} (counted from 1) instead."
        )
