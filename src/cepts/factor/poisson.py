"""Poisson NMF of a sparse matrix of counts: the mathematics of PLSA, but only entries above 0 are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.engine import ROUNDING, cut_runs, default_threads, map_shards, run_em
from cepts.errors import DataError, UsageError, check_choice
from cepts.factor.latent import as_matrix, check_entries
from cepts.factor.starts import as_start, inverse, random_start, seeded_start, shares_of_column
from cepts.names import FACTOR_BLOCKS, FACTOR_STARTS
from cepts.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Multiplications in a shard.
SHARD = 1 << 19
# Groups of shards for each thread.
GROUPS = 2
# A factor's part of a word is set to 0 if it is below this share of the word's smallest count, divided by the number of
# factors; so no entry can lose all its factors.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class PoissonFactors:
    """Factors of a matrix of counts A, words by documents: A is approximated by W H.

    Novak and Mammone (2001), eq. (2).

    Attributes
    ----------
    words
        W, words by factors: P(word | d) of each hidden document d. Each column adds up to 1; the rows of words without
        counts are 0.
    documents
        H, with one row for each document: how many of its words each hidden document explains.
    objective
        F of Novak and Mammone (2001), eq. (4), the log-likelihood of the counts without a constant; higher is better.
    divergence
        Kullback-Leibler divergence of A from W H: F of a perfect model minus F. Lower is better.
    objectives
        F before each iteration.
    """

    words: NDArray[np.float32]
    documents: NDArray[np.float32]
    objective: float
    divergence: float
    objectives: list[float]

    def __len__(self) -> int:
        return self.words.shape[1]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Number of words in all documents that each hidden document explains."""
        total: NDArray[np.float64] = self.documents.sum(axis=0, dtype=np.float64)
        return total


# -- parts that the symmetric form shares ----------------------------------------------------------------------------


class Counts(NamedTuple):
    """A matrix of counts as kernels read it: the entries of row `i` are those from `offsets[i]` to `offsets[i + 1]`."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    shares: NDArray[np.float32]  # of `mass`
    mass: float
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: csr_array, mass: float) -> Counts:
        """The entries of a matrix whose sum is `mass`."""
        shares = (matrix.data.astype(np.float64) / mass).astype(np.float32)
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), shares, mass, matrix.shape)

    def objective(self, log_likelihood: float) -> float:
        """F of eq. (4) of nmf_lm, from the sum of shares times log P; its second term, the model's sum, is `mass`."""
        return self.mass * (log_likelihood + float(np.log(self.mass)) - 1.0)

    @property
    def highest(self) -> float:
        """F of a perfect model."""
        shares = self.shares[self.shares > 0].astype(np.float64)
        return self.objective(float((shares * np.log(shares)).sum()))

    def least(self, factors: int) -> NDArray[np.float32]:
        """The value below which a part is negligible, for each row."""
        smallest = np.zeros(self.shape[0], dtype=np.float32)
        filled = np.flatnonzero(np.diff(self.offsets))
        smallest[filled] = np.minimum.reduceat(self.shares, self.offsets[filled])
        return smallest * np.float32(NEGLIGIBLE / factors)


class ExpectedRows(NamedTuple):
    """What an E-step finds: the new factors of the rows and their weights, and the sum of shares times log P."""

    factors: NDArray[np.float32]
    weights: NDArray[np.float32]
    log_likelihood: float


class Rows:
    """E-steps over the rows of a matrix, in shards."""

    def __init__(self, counts: Counts, factors: int, threads: int | None) -> None:
        self.counts = counts
        self.factors = factors
        self.threads = default_threads() if threads is None else threads
        self.least = counts.least(factors)
        self.shards = list(cut_runs(counts.offsets, max(SHARD // factors, 1)))
        self.bounds = np.array([0, *(stop for _, stop in self.shards)], dtype=np.int64)
        # Sums are made shard by shard, so they depend on the data alone. Threads take several shards at a time,
        # which costs less waiting.
        cuts = np.linspace(0, len(self.shards), min(len(self.shards), GROUPS * self.threads) + 1).astype(int).tolist()
        self.groups = list(pairwise(cuts))
        self._spares: list[NDArray[np.float32]] = []

    def expect(
        self,
        here: NDArray[np.float32],
        there: NDArray[np.float32],
        weights: NDArray[np.float32],
        *,
        busy: Sequence[NDArray],
        long: bool,
        tick: Callable[[int, int], None] | None = None,
    ) -> ExpectedRows:
        """New P(i | a) of the rows and P(a), from P(i | a), P(m | a) and P(a): eqs. (3) and (12) of nmf_lm.

        The new factors reuse the memory of older ones that are no longer in use (`busy` are in use): allocating new
        memory would take a fifth of the time of a step. Without a `tick`, the likelihood is not computed.
        """
        from cepts.kernels.poisson import expect_rows

        scoring = tick is not None
        new = self._spare(here, busy)
        matrix, model = (self.counts.offsets, self.counts.columns, self.counts.shares), (here, there, weights)
        sums, logs = np.empty((len(self.shards), self.factors)), np.empty(len(self.shards))

        def run(group: tuple[int, int]) -> int:
            scratch = np.empty((2, self.factors), dtype=np.float32)
            expect_rows(*group, self.bounds, matrix, model, self.least, long, scoring, (new, sums, logs), scratch)
            return group[1]

        for done in map_shards(run, self.groups, threads=self.threads):
            if tick is not None:
                tick(done, len(self.shards))
        total = sums.sum(axis=0)
        scale = inverse(total).astype(np.float32)

        def normalise(group: tuple[int, int]) -> None:
            new[self.bounds[group[0]] : self.bounds[group[1]]] *= scale

        for _ in map_shards(normalise, self.groups, threads=self.threads):
            pass
        return ExpectedRows(new, (total / total.sum()).astype(np.float32), float(logs.sum()))

    def _spare(self, like: NDArray[np.float32], busy: Sequence[NDArray]) -> NDArray[np.float32]:
        for spare in self._spares:
            if all(spare is not used for used in busy):
                return spare
        self._spares.append(np.empty_like(like))
        return self._spares[-1]


class Climb(ABC):
    """An `engine.EMProblem` that takes longer steps than EM as long as they raise the objective.

    A step of EM multiplies each parameter by a factor; the longer step multiplies it by a power of that factor. It has
    the same fixed points, and reaches them in about half the iterations. If it lowers the objective, it is undone and
    all further steps are plain EM, which never lowers it.
    """

    def __init__(self, counts: Counts, parameters: tuple[NDArray[np.float32], ...], *, long: bool) -> None:
        self.counts = counts
        self.parameters = parameters
        self.long = long
        self._before = parameters
        self._leapt = False
        self._reached = -np.inf

    @property
    def allowed_fall(self) -> float:
        """Only rounding errors, because a step that lowers the objective is undone."""
        return ROUNDING * self.counts.mass

    @property
    def busy(self) -> tuple[NDArray[np.float32], ...]:
        """The parameters that may be restored."""
        return (*self.parameters, *self._before)

    @abstractmethod
    def expect(self, tick: Callable[[int, int], None]) -> float:
        """E-step, which keeps what it finds for `maximise`; returns the sum of shares times log P."""

    @abstractmethod
    def maximise(self) -> tuple[NDArray[np.float32], ...]:
        """M-step: the new parameters."""

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """Expected counts; returns F."""
        found = self.expect(tick)
        if self._leapt and found < self._reached:
            self.long = self._leapt = False
            self.parameters = self._before
            self.expect(ignore)
            self.parameters = self.maximise()
            found = self.expect(ignore)
        self._reached = found
        return self.counts.objective(found)

    def m_step(self) -> None:
        """Eq. (3) or (12) of nmf_lm."""
        self._before, self.parameters = self.parameters, self.maximise()
        self._leapt = self.long

    def climb(
        self, stage: str, *, iterations: int, tolerance: float, progress: Progress | None
    ) -> tuple[float, float, list[float]]:
        """Run EM; return F, the divergence, and F before each iteration.

        The last step is a plain EM step, after which the model has the same row sums as the matrix.
        """
        objectives = run_em(self, iterations=iterations, tolerance=tolerance, stage=stage, progress=progress)
        if self.long:
            self.long = False
            self.e_step(ignore)
            self.m_step()
        objective = self.e_step(ignore)
        return objective, self.counts.highest - objective, objectives


def as_counts(matrix: Any, name: str = "matrix") -> tuple[csr_array, float]:
    """Return a sparse matrix of non-negative finite numbers and their sum, which is above 0, or raise `DataError`."""
    from scipy.sparse import csr_array, issparse

    if not issparse(matrix):
        found = csr_array(as_matrix(matrix, name))
    else:
        if 0 in matrix.shape:
            raise DataError(f"`{name}` must have rows and columns. Got {matrix.shape[0]} x {matrix.shape[1]} instead.")
        found = csr_array(matrix, copy=True)
        found.sum_duplicates()
        rows = found.indptr
        check_entries(found.data, name, lambda at: (int(rows.searchsorted(at, side="right")) - 1, found.indices[at]))
        found.eliminate_zeros()
        if found.nnz == 0:
            raise DataError(f"`{name}` holds nothing but zeros, so there is nothing to factorise.")
    return found, float(found.data.sum(dtype=np.float64))


def check_options(factors: int, most: int, iterations: int, threads: int | None) -> None:
    """Refuse options that a factorisation cannot have."""
    if isinstance(factors, bool) or not isinstance(factors, int | np.integer) or not 1 <= factors <= most:
        raise UsageError(
            f"the number of factors must lie between 1 and {most:,}, the length of the shorter side. "
            f"Got {factors!r} instead."
        )
    for option, value in (("iterations", iterations), ("threads", threads)):
        if value is not None and value < 1:
            raise UsageError(f"`{option}` must be 1 or more. Got {value} instead.")


def ignore(done: int, total: int) -> None:
    """Ignore a report of progress."""


# -- words by documents ----------------------------------------------------------------------------------------------


class PoissonProblem(Climb):
    """P(i | a) of words, P(m | a) of documents and P(a): W, and H as shares."""

    def __init__(self, rows: Rows, columns: Rows, start: tuple[NDArray, NDArray], *, blocks: str, long: bool) -> None:
        self.rows, self.columns = rows, columns
        self.blocks = blocks
        (words, of_words), (documents, of_documents) = (shares_of_column(part) for part in start)
        weights = of_words * of_documents
        super().__init__(rows.counts, (words, documents, (weights / weights.sum()).astype(np.float32)), long=long)

    def expect(self, tick: Callable[[int, int], None]) -> float:
        """Expected counts of the words, and of the documents if both are updated at once."""
        words, documents, weights = self.parameters
        self._words = self.rows.expect(words, documents, weights, busy=self.busy, long=self.long, tick=tick)
        if self.blocks == "joint":
            self._documents = self.columns.expect(documents, words, weights, busy=self.busy, long=self.long)
        return self._words.log_likelihood

    def maximise(self) -> tuple[NDArray[np.float32], ...]:
        """Eq. (3) of nmf_lm in one of its three readings; see `poisson_nmf`."""
        words, weights = self._words.factors, self._words.weights
        if self.blocks == "joint":
            return words, self._documents.factors, weights
        if self.blocks == "sequential":
            weights = self.parameters[2]  # H keeps its scale
        found = self.columns.expect(self.parameters[1], words, weights, busy=self.busy, long=self.long)
        return words, found.factors, found.weights


def poisson_nmf(
    matrix: Any,
    factors: int,
    *,
    iterations: int = 50,
    tolerance: float = 1e-5,
    blocks: str = "two",
    long_steps: bool = True,
    start: str | tuple[ArrayLike, ArrayLike] = "columns",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> PoissonFactors:
    """Factorise a matrix of counts, words by documents, into hidden documents by Poisson NMF.

    Novak and Mammone (2001), eqs. (2) to (4).

    Parameters
    ----------
    matrix
        Non-negative counts: a sparse matrix or array of SciPy, or anything that NumPy can convert to a matrix.
    factors
        Number of hidden documents, from 1 to the length of the shorter side of the matrix.
    iterations
        The largest number of iterations.
    tolerance
        Stop early when an iteration gains less than this share of the gain so far, see `cepts.engine.run_em`.
    blocks
        How eq. (3) is read; none of the readings lowers the objective. ``sequential`` is its three lines one after the
        other: W is updated and its columns are normalised, and then H is updated given the new W. ``two`` also
        multiplies each row of H by the sum by which its column of W was divided, so that normalising does not change
        W H; it needs the fewest iterations. ``joint`` updates W and H from the same W H, which is EM.
    long_steps
        Take longer steps than EM while they raise the objective; about half as many are needed.
    start
        ``columns`` starts each factor from a random column of the matrix, mixed with the others; ``random`` starts from
        random numbers. Or W and H (documents in rows) to start from.
    seed
        Seed of the random start.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    progress
        Called after each iteration.

    Examples
    --------
    >>> found = poisson_nmf([[9, 0, 0], [9, 0, 0], [0, 5, 5]], 2)
    >>> found.words.round(2)[:, found.documents[0].argsort()]
    array([[0. , 0.5],
           [0. , 0.5],
           [1. , 0. ]], dtype=float32)
    """
    given, mass = as_counts(matrix)
    check_options(factors, min(given.shape), iterations, threads)
    check_choice("blocks", blocks, FACTOR_BLOCKS)
    parts: tuple[NDArray, NDArray]
    if start == "columns":
        words, masses = seeded_start(given, factors, seed)
        parts = words, np.repeat(masses[:, None], factors, axis=1)
    elif isinstance(start, str):
        check_choice("start", start, FACTOR_STARTS[:2])
        words, documents = np.split(random_start(sum(given.shape), factors, seed), [given.shape[0]])
        parts = words, documents
    else:
        parts = as_start(start[0], given.shape[0], factors), as_start(start[1], given.shape[1], factors)
    rows, columns = (Rows(Counts.of(side, mass), factors, threads) for side in (given, given.T.tocsr()))
    problem = PoissonProblem(rows, columns, parts, blocks=blocks, long=long_steps)
    stage = f"Poisson NMF with {factors} factors"
    reached = problem.climb(stage, iterations=iterations, tolerance=tolerance, progress=progress)
    words, documents, weights = problem.parameters
    return PoissonFactors(words, (documents * (mass * weights.astype(np.float64))).astype(np.float32), *reached)
