"""Retrieval: the targets that are nearest to each query, by one of several measures.

All measures have the form factor x dot(q, t) - a term of the query - a term of the target, so one exact search
(`cepts.spaces.search`) serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.engine import default_threads, map_shards
from cepts.errors import DataError, UsageError, check_choice, check_least
from cepts.names import RETRIEVAL_MEASURES, SEARCH_ENGINES
from cepts.progress import Progress, Step, silent
from cepts.spaces.search import MEMORY, Best, block_shape, finite_rows, row_lengths, scan

ROWS_AT_ONCE = 4096
# Targets and sources in a block of products whose exponentials are summed. If it depended on the number of threads, so
# could the last digits.
SUM_SHAPE = 1024, 4096

Floats = NDArray[np.floating]
Matrix = NDArray[np.float32]


class WordTranslation(NamedTuple):
    """A word of the target language, and how good a translation it is by the chosen measure; higher is better."""

    word: str
    score: float


class Neighbours(NamedTuple):
    """The best targets of each query, the best first.

    Attributes
    ----------
    rows
        Numbers of the targets (int64), one row for each query; -1 if there are no more.
    scores
        Scores of these targets (float32); minus infinity if there are no more.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]

    def listed(self, words: Sequence[str]) -> Iterator[list[WordTranslation]]:
        """For each query, the words of its targets with their scores; `words` has the words of all targets."""
        for rows, scores in zip(self.rows.tolist(), self.scores.tolist(), strict=True):
            yield [WordTranslation(words[row], score) for row, score in zip(rows, scores, strict=True) if row >= 0]


def retrieve(
    queries: Floats,
    targets: Floats,
    *,
    measure: str = "cosine",
    count: int = 10,
    bias: Floats | None = None,
    sources: Floats | None = None,
    neighbourhood: int = 10,
    temperature: float = 30.0,
    engine: str = "exact",
    memory: int = MEMORY,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """Find the `count` best targets of each query.

    Ties go to the lower row, and the results are the same for any number of threads.

    Parameters
    ----------
    queries, targets
        Vectors as rows (float32 or float16), in the same space.
    measure
        ``cosine``, ``csls`` (Conneau et al. 2018), ``inverted-softmax`` (Smith et al. 2017) or ``dot``. All except
        ``dot`` compare only directions: a target of zeros is never found, and a query of zeros finds nothing.
    count
        How many targets to find for each query.
    bias
        For ``dot``: a number to add for each target; minus infinity excludes the target.
    sources
        For ``csls`` and ``inverted-softmax``: vectors that show which targets are near to everything; None uses the
        queries.
    neighbourhood
        For ``csls``: the number of nearest vectors whose mean cosine is subtracted.
    temperature
        For ``inverted-softmax``: the factor of the cosines; higher is sharper.
    engine
        ``exact`` is part of cepts; ``faiss`` uses faiss (the extra `search`) and finds the same targets.
    memory
        Maximum size of a block of products, in bytes.
    threads
        Number of threads in addition to those of BLAS; None uses one for each processor.
    progress
        Called after each block of targets.
    """
    check_choice("measure", measure, RETRIEVAL_MEASURES)
    if bias is not None and measure != "dot":
        raise UsageError(f"`bias` works only with the `measure` dot. Got {measure!r} instead.")
    search = _VectorSearch(queries, targets, count, measure != "dot", engine, memory, threads, progress)
    match measure:
        case "dot":
            return _nearest(search, bias)
        case "csls":
            return _csls(search, sources, neighbourhood)
        case "inverted-softmax":
            return _inverted_softmax(search, sources, temperature)
    return search.neighbours(search.filled(search.best()))


def mean_similarity(
    queries: Floats, targets: Floats, *, count: int = 10, threads: int | None = None, progress: Progress | None = None
) -> NDArray[np.float32]:
    """The mean cosine of each query with its `count` nearest targets, the r of CSLS; 0 for a query of zeros."""
    search = _VectorSearch(queries, targets, count, True, threads=threads, progress=progress)
    means = np.zeros(len(queries), dtype=np.float32)
    means[search.queried] = search.means(search.filled(search.best()))
    return means


def unit_rows(matrix: Floats) -> Matrix:
    """The rows as float32 of length 1; rows of zeros stay as they are."""
    matrix = np.asarray(matrix)
    rows = np.empty(matrix.shape, dtype=np.float32)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        part = matrix[start : start + ROWS_AT_ONCE].astype(np.float64)
        # Divide by the largest value first, because squares of very small or large values leave the range of floats.
        part /= _nonzero(np.abs(part).max(axis=1, initial=0.0))
        rows[start : start + ROWS_AT_ONCE] = part / _nonzero(row_lengths(part))
    return rows


def _nonzero(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths == 0, 1.0, lengths)[:, None]


class _VectorSearch:
    """Queries and targets, and how they are searched; with `directions`, as unit vectors without rows of zeros."""

    def __init__(
        self,
        queries: Floats,
        targets: Floats,
        count: int,
        directions: bool,
        engine: str = "exact",
        memory: int = MEMORY,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.count, self.memory = count, memory
        self.threads = default_threads() if threads is None else threads
        check_least(self, 1, "count", "memory", "threads")
        check_choice("engine", engine, SEARCH_ENGINES)
        self.engine, self.progress, self.unit = engine, progress, directions
        self.size = len(queries)
        # The rows that are searched, and their numbers among all.
        self.left, self.queried = self._rows(queries, "queries")
        self.right, self.found = self._rows(targets, "targets")
        _check_widths(self.left, self.right)

    def _rows(self, matrix: Floats, name: str) -> tuple[Matrix, NDArray[np.int64] | slice]:
        rows = finite_rows(matrix, name)
        if not self.unit:
            return rows, slice(None)
        lengths = row_lengths(rows)
        rows = unit_rows(matrix)
        if lengths.all():
            return rows, slice(None)
        kept = np.flatnonzero(lengths)
        return rows[kept], kept

    def sources(self, sources: Floats | None) -> Matrix:
        """Unit vectors of the sources, or of the queries if no sources are given."""
        if sources is None:
            return self.left
        rows, _ = self._rows(sources, "sources")
        if not len(rows):
            raise DataError("all vectors of the sources are zero; give the vectors of the queries' language instead.")
        _check_widths(rows, self.left)
        return rows

    def best(self, count: int | None = None, bias: NDArray[np.float64] | None = None) -> Best:
        """An empty list of the best targets of each query."""
        return Best(self.left, self.right, count or self.count, bias=bias, unit=self.unit, threads=self.threads)

    def scan(self, queries: Matrix, targets: Matrix, use: Callable[[Matrix, int, int], None]) -> None:
        """Pass all products of two matrices to `use`."""
        scan(queries, targets, use, memory=self.memory, threads=self.threads, progress=self.progress)

    def filled(self, *wanted: Best) -> Best:
        """The first of `wanted`, after all products of their queries and targets, or those that faiss chose, are added.

        All of `wanted` have the same queries and targets.
        """

        def use(block: Matrix, query: int, target: int) -> None:
            for best in wanted:
                best.add(block, query, target)

        if self.engine == "faiss":
            for best in wanted:
                best.add_by_faiss()
        else:
            self.scan(wanted[0].queries, wanted[0].targets, use)
        return wanted[0]

    def means(self, best: Best) -> NDArray[np.float64]:
        """The mean score of the best targets of each query; 0 without targets."""
        _, scores = best.settled(memory=self.memory)
        return scores.sum(axis=1) / max(scores.shape[1], 1)

    def neighbours(self, best: Best, factor: float = 1.0, less: NDArray[np.float64] | float = 0.0) -> Neighbours:
        """The final `best`, with the caller's row numbers and the scores `factor` x score - `less` of the query."""
        rows = np.full((self.size, self.count), -1, dtype=np.int64)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        best_rows, best_scores = best.settled(memory=self.memory)
        if isinstance(self.found, np.ndarray):
            best_rows = np.where(best_rows < 0, -1, self.found[best_rows])
        rows[self.queried, : best.count] = best_rows
        scores[self.queried, : best.count] = factor * best_scores - np.reshape(less, (-1, 1))
        return Neighbours(rows, scores)


def _nearest(search: _VectorSearch, bias: Floats | None) -> Neighbours:
    """The targets with the highest dot(q, t) + bias[t]; a bias of minus infinity excludes a target."""
    count = len(search.right)
    added = None if bias is None else np.ascontiguousarray(bias, dtype=np.float64)
    if added is not None and (added.shape != (count,) or not (added < np.inf).all()):
        raise DataError(f"bias must be {count:,} numbers below infinity, one for each target.")
    largest = row_lengths(search.left).max(initial=0.0) * row_lengths(search.right).max(initial=0.0)
    if not largest < np.finfo(np.float32).max:
        raise DataError(f"products of the vectors can reach {largest:.1e}, too much for float32; scale them down.")
    return search.neighbours(search.filled(search.best(bias=added)))


def _csls(search: _VectorSearch, sources: Floats | None, neighbourhood: int) -> Neighbours:
    """The targets with the highest cross-domain similarity local scaling (Conneau et al. 2018, section 2.3).

    CSLS(q, t) = 2 cos(q, t) - r_T(q) - r_S(t), where r_T(q) is the mean cosine of q with its `neighbourhood` nearest
    targets, and r_S(t) that of t with its nearest `sources`. So hubs, targets that are near to everything, lose their
    advantage. If the sources are the queries, one product of the two matrices serves both means and the search.
    """
    from cepts.kernels.nearest import keep_best_of_columns

    if neighbourhood < 1:
        raise UsageError(f"`neighbourhood` must be 1 or more. Got {neighbourhood} instead.")
    left, right = search.left, search.right
    bias = np.empty(len(right))
    best, around = search.best(bias=bias), search.best(neighbourhood)
    own = sources is None and search.engine == "exact"
    if len(left) and own and block_shape(len(left), len(right), search.memory // search.threads)[0] == len(left):

        def use(block: Matrix, query: int, target: int) -> None:
            # A block has all queries, so the neighbourhoods of its targets are known before its entries are ranked.
            part = slice(target, target + block.shape[1])
            local = Best(right[part], left, neighbourhood, unit=True)
            keep_best_of_columns(block, local.kept, local.kept_rows)
            bias[part] = -search.means(local) / 2
            best.add(block, query, target)
            around.add(block, query, target)

        search.scan(left, right, use)
    elif len(left):
        local = Best(right, search.sources(sources), neighbourhood, unit=True, threads=search.threads)
        bias[:] = -search.means(search.filled(local)) / 2
        search.filled(best, around)
    return search.neighbours(best, 2.0, search.means(around))


def _inverted_softmax(search: _VectorSearch, sources: Floats | None, temperature: float) -> Neighbours:
    """The most probable targets by the inverted softmax (Smith et al. 2017, section 2.3).

    P(t | q) is proportional to exp(b cos(q, t)) / sum over sources s of exp(b cos(s, t)): the probability that t would
    be translated as q rather than as another source, so hubs share their probability among many. b is `temperature`
    (the inverse temperature of Smith et al.), and the sources may be a sample. Scores are logarithms, without the
    constant of the query. The sums are of float32 products, so the first of equal targets need not come first, and the
    last digits may change with the number of BLAS threads.
    """
    if not 0 < temperature < np.inf:
        raise UsageError(f"`temperature` must be above 0 and finite. Got {temperature} instead.")
    bias = np.empty(len(search.right))
    best = search.best(bias=bias)
    if len(search.left):
        bias[:] = -_log_sums(search, search.sources(sources), temperature) / temperature
        search.filled(best)
    return search.neighbours(best, temperature)


def _log_sums(search: _VectorSearch, sources: Matrix, temperature: float) -> NDArray[np.float64]:
    """For each target the logarithm of the sum over sources of exp(temperature x cosine)."""
    report, targets = search.progress or silent, search.right
    rows, columns = SUM_SHAPE

    def run(start: int) -> NDArray[np.float64]:
        part = targets[start : start + rows]
        peaks, sums = np.full(len(part), -np.inf), np.zeros(len(part))  # the largest exponent so far is factored out
        for source in range(0, len(sources), columns):
            block = part @ sources[source : source + columns].T
            block *= np.float32(temperature)
            higher = np.maximum(peaks, block.max(axis=1))
            block -= higher[:, None].astype(np.float32)
            sums *= np.exp(peaks - higher)
            sums += np.exp(block, out=block).sum(axis=1, dtype=np.float64)
            peaks = higher
        return peaks + np.log(sums)

    found = []
    for sums in map_shards(run, range(0, len(targets), rows), threads=search.threads):
        found.append(sums)
        report(Step(stage="summing", done=min(len(found) * rows, len(targets)), total=len(targets)))
    return np.concatenate([np.empty(0), *found])


def _check_widths(one: Matrix, other: Matrix) -> None:
    if one.shape[1] != other.shape[1]:
        raise DataError(
            f"vectors of width {one.shape[1]} cannot be compared with vectors of width {other.shape[1]}; "
            "map both into one space first."
        )
