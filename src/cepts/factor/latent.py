"""PLSA of one association matrix: a mixture of cepts, within each of which source and target are independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.engine import ROUNDING, one_allocation, run_em
from cepts.errors import DataError, UsageError
from cepts.progress import Progress


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """PLSA of one matrix: P(i, j) is the sum over cepts c of P(c) P(i | c) P(j | c), plus noise.

    Goutte et al. (2004), eq. (2), with their null and noise components.

    Attributes
    ----------
    weights
        P(c) of each cept.
    source, target
        P(i | c) and P(j | c), one row for each cept.
    noise
        P(noise), which is spread evenly over all cells; 0 in a model without noise.
    source_null, target_null
        Null mass of each source word and target word, as a share of the sum of the matrix.
    log_likelihood
        Sum over cells of entry times log P(i, j), without null.
    objectives
        The log-likelihood before each EM step of the best start.
    """

    weights: NDArray[np.float32]
    source: NDArray[np.float32]
    target: NDArray[np.float32]
    noise: float
    source_null: NDArray[np.float32]
    target_null: NDArray[np.float32]
    log_likelihood: float
    objectives: list[float]

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def product(self) -> NDArray[np.float32]:
        """The matrix that the factors reconstruct: P(i, j) without noise."""
        return np.einsum("c,ci,cj->ij", self.weights, self.source, self.target)

    @property
    def source_posterior(self) -> NDArray[np.float32]:
        """P(c | i), source words by cepts; the first column is null."""
        return _posterior(self.weights, self.source, self.source_null)

    @property
    def target_posterior(self) -> NDArray[np.float32]:
        """P(c | j), target words by cepts; the first column is null."""
        return _posterior(self.weights, self.target, self.target_null)


def _posterior(weights: NDArray, factor: NDArray, null: NDArray) -> NDArray[np.float32]:
    joint = np.concatenate([null[:, None], (weights[:, None] * factor).T], axis=1)
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0), dtype=np.float32)


def as_matrix(matrix: ArrayLike, name: str = "matrix") -> NDArray[np.float32]:
    """Return a matrix of non-negative finite numbers, not all of them 0, or raise `DataError`."""
    given = _numbers(matrix, f"`{name}` must be a matrix of numbers.")
    if given.ndim != 2:
        raise DataError(f"`{name}` must have two dimensions, source words by target words. Got {given.ndim} instead.")
    if given.size == 0:
        raise DataError(f"`{name}` must have rows and columns. Got {given.shape[0]} x {given.shape[1]} instead.")
    check_entries(given, name)
    values = np.ascontiguousarray(given, dtype=np.float32)
    if not values.any():
        raise DataError(f"`{name}` holds nothing but zeros, so there is nothing to factorise.")
    return values


def as_null(null: ArrayLike | None, words: int, name: str) -> NDArray[np.float32]:
    """Null masses of `words` words, which are 0 if none are given."""
    if null is None:
        return np.zeros(words, dtype=np.float32)
    given = _numbers(null, f"`{name}` must have one mass for each of {words} words.")
    if given.shape != (words,):
        raise DataError(
            f"`{name}` must have one mass for each of {words} words. Got an array of shape {given.shape} instead."
        )
    check_entries(given, name)
    return np.ascontiguousarray(given, dtype=np.float32)


def _numbers(given: ArrayLike, wanted: str) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{wanted} Got something else instead.") from None


def shares_of(values: NDArray[np.float32], mass: float) -> NDArray[np.float32]:
    """Values as shares of `mass`, so that their sums and quotients neither overflow nor underflow."""
    return np.minimum(values.astype(np.float64) / mass, np.finfo(np.float32).max).astype(np.float32)


def check_entries(
    given: NDArray[np.floating], name: str, place_of: Callable[[int], tuple[int, ...]] | None = None
) -> None:
    """Refuse numbers that are negative or not finite; `place_of(n)` gives the place of stored entry `n`, from 0."""
    wrong = ~(given >= 0) | (given > np.finfo(np.float32).max)
    if wrong.any():
        found = tuple(int(index) for index in np.argwhere(wrong)[0])
        where = ", ".join(str(index + 1) for index in (place_of(found[0]) if place_of else found))
        raise DataError(
            f"`{name}` must hold finite numbers of 0 or more. "
            f"Got {float(given[found])} at position {where} (counted from 1) instead."
        )


class PlsaProblem:
    """An `engine.EMProblem`: PLSA of one matrix."""

    def __init__(self, matrix: NDArray[np.float32], cepts: int, noise: float) -> None:
        from cepts.kernels import plsa

        self._kernels = plsa
        size, length = matrix.shape
        self.mass = float(matrix.sum(dtype=np.float64))
        self.cepts = cepts
        self.noise = noise
        self.matrix, self.weights, (self.source, new_source), (self.target, new_target), *margin = one_allocation(
            matrix.shape, (cepts,), (2, cepts, size), (2, cepts, length), (size,), (length,), (size,), (length,)
        )
        self.matrix[:] = shares_of(matrix, self.mass)
        rows, columns, least, row = margin
        self.total = plsa.margins(self.matrix, rows, columns, least)
        self._cells = plsa.Cells(self.matrix, self.total, least)
        self._model = plsa.CeptModel(self.weights, self.source, self.target)
        self._room = plsa.PlsaRoom(new_source, new_target, row)
        self._noisy = 0.0

    @property
    def allowed_fall(self) -> float:
        """EM never lowers the log-likelihood."""
        return ROUNDING * self.mass

    def start(self, state: int) -> int:
        """Set random parameters; return the next state of the random sequence."""
        return int(
            self._kernels.start_at_random(*self.matrix.shape, self.cepts, self.noise, np.uint64(state), self._model)
        )

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """How much each cept explains: eq. (3) of onmf."""
        uniform = self._kernels.density(self.noise, *self.matrix.shape)
        self._noisy, log_likelihood = self._kernels.expect(
            self._cells, self.cepts, self._model, uniform, self._room, True
        )
        return self.mass * float(log_likelihood)

    def m_step(self) -> None:
        """Eqs. (4) to (6) of onmf."""
        self._kernels.maximise(self._cells, self.cepts, self._model, self.target, self._room)
        if self.noise >= 0:
            self.noise = self._noisy / self.total


def plsa(
    matrix: ArrayLike,
    cepts: int,
    *,
    source_null: ArrayLike | None = None,
    target_null: ArrayLike | None = None,
    noise: float | None = 0.01,
    restarts: int = 10,
    iterations: int = 200,
    tolerance: float = 3e-7,
    seed: int = 0,
    progress: Progress | None = None,
) -> Factors:
    """Factorise a matrix of counts into cepts by PLSA; the result is the best of several random starts.

    EM of Goutte et al. (2004), eqs. (2) to (6).

    Parameters
    ----------
    matrix
        I x J, non-negative.
    cepts
        Number of cepts, from 1 to min(I, J).
    source_null, target_null
        Null mass of each word: column 0 and row 0 of the matrix of Goutte et al. A null cept has only its null word on
        the other side (section 4.2), so it explains these masses and nothing else, and EM need not learn it.
    noise
        P(noise) before training (section 4.3); None is a model without noise.
    restarts
        Number of random starts.
    iterations
        The largest number of EM steps of each start.
    tolerance
        Stop EM early when a step gains less than this share of the gain so far, see `cepts.engine.run_em`.
    seed
        Seed of the random starts.
    progress
        Called after each EM step.

    Examples
    --------
    >>> factors = plsa([[9, 0, 0], [0, 5, 5]], 2)
    >>> factors.source_posterior.argmax(axis=1) - 1, factors.target_posterior.argmax(axis=1) - 1
    (array([0, 1]), array([0, 1, 1]))
    """
    values = as_matrix(matrix)
    nulls = as_null(source_null, values.shape[0], "source_null"), as_null(target_null, values.shape[1], "target_null")
    check_cepts(cepts, min(values.shape))
    if noise is not None and not 0 < noise < 1:
        raise UsageError(f"`noise` must lie between 0 and 1. Got {noise} instead.")
    if restarts < 1 or iterations < 1:
        raise UsageError(f"`restarts` and `iterations` must be 1 or more. Got {restarts} and {iterations} instead.")
    state = (seed * 2_654_435_761 + 88_172_645_463_325_252) % 2**64 or 1
    best: tuple[float, PlsaProblem, list[float]] | None = None
    for _ in range(restarts):
        problem = PlsaProblem(values, cepts, -1.0 if noise is None else noise)
        state = problem.start(state)
        objectives = run_em(
            problem, iterations=iterations, tolerance=tolerance, stage=f"PLSA with {cepts} cepts", progress=progress
        )
        found = problem.e_step(lambda done, total: None)
        if best is None or found > best[0]:
            best = found, problem, objectives
    assert best is not None
    log_likelihood, problem, objectives = best
    order = np.argsort(problem.source.argmax(axis=1), kind="stable")
    return Factors(
        problem.weights[order],
        problem.source[order],
        problem.target[order],
        max(problem.noise, 0.0),
        shares_of(nulls[0], problem.mass),
        shares_of(nulls[1], problem.mass),
        log_likelihood,
        objectives,
    )


def check_cepts(cepts: int, most: int, *, where: str = "") -> None:
    """Refuse a number of cepts that is too large for a matrix."""
    if not isinstance(cepts, int) or not 1 <= cepts <= most:
        raise UsageError(
            f"{where}the number of cepts must lie between 1 and {most}, the length of the shorter side. "
            f"Got {cepts!r} instead."
        )
