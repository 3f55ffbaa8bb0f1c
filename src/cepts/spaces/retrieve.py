"""Retrieval: the targets that are nearest to each query, by one of several measures.

All measures have the form factor x dot(q, t) - what belongs to the query - what belongs to the target, so that one
exact search (`cepts.spaces.search`) serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.engine import default_threads, map_shards
from cepts.errors import DataError, UsageError
from cepts.progress import Progress, Step, silent
from cepts.spaces.search import MEMORY, Best, block_shape, finite_rows, row_lengths, scan

__all__ = [
    "ENGINES",
    "MEASURES",
    "Engine",
    "Measure",
    "Neighbours",
    "cosine",
    "csls",
    "inverted_softmax",
    "mean_similarity",
    "nearest",
    "retrieve",
    "unit_rows",
]

Measure = Literal["cosine", "csls", "inverted-softmax", "dot"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Engine = Literal["exact", "faiss"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
ROWS_AT_ONCE = 4096
# Targets and sources of a block of products of which exponentials are summed.
SUM_SHAPE = 1024, 4096

Floats = NDArray[np.floating]
Matrix = NDArray[np.float32]


class Neighbours(NamedTuple):
    """The best targets of each query, the best first.

    Attributes
    ----------
    rows
        Numbers of the targets, a line a query (int64); -1 where there are no more.
    scores
        Their scores (float32); minus infinity where there are no more.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]


def retrieve(
    queries: Floats,
    targets: Floats,
    *,
    measure: Measure = "cosine",
    count: int = 10,
    bias: Floats | None = None,
    sources: Floats | None = None,
    neighbourhood: int = 10,
    temperature: float = 30.0,
    engine: Engine = "exact",
    memory: int = MEMORY,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """Find the `count` best targets of each query.

    Ties go to the lower row, and the results are the same for any number of threads.

    Parameters
    ----------
    queries, targets
        A row a vector (float32 or float16), in the same space.
    measure
        ``cosine``, ``csls`` (see `csls`), ``inverted-softmax`` (see `inverted_softmax`) or ``dot`` (see `nearest`). All
        but ``dot`` look at directions alone: a target of zeros is never found, and a query of zeros finds nothing.
    count
        How many targets to find for each query.
    bias
        For ``dot``: what to add for each target.
    sources, neighbourhood, temperature
        For ``csls`` and ``inverted-softmax``.
    engine
        ``exact`` is ours; ``faiss`` lets faiss choose (the extra `search`), and finds the same.
    memory
        Bytes of the largest block of products.
    threads
        Threads to use beside those of BLAS; None is one for each processor.
    progress
        Told after each block of targets.
    """
    options: dict[str, Any] = {"engine": engine, "memory": memory, "threads": threads, "progress": progress}
    if bias is not None and measure != "dot":
        raise UsageError(f"bias goes with the measure dot. Got {measure!r} instead.")
    match measure:
        case "dot":
            return nearest(queries, targets, count=count, bias=bias, **options)
        case "cosine":
            return cosine(queries, targets, count=count, **options)
        case "csls":
            return csls(queries, targets, count=count, sources=sources, neighbourhood=neighbourhood, **options)
        case "inverted-softmax":
            return inverted_softmax(queries, targets, count=count, sources=sources, temperature=temperature, **options)
    raise UsageError(f"measure must be one of {', '.join(MEASURES)}. Got {measure!r} instead.")


def nearest(
    queries: Floats, targets: Floats, *, count: int = 10, bias: Floats | None = None, **options: Any
) -> Neighbours:
    """The targets with the highest dot(q, t) + bias[t]; minus infinity as a bias leaves a target out.

    Options are those of `retrieve`: `engine`, `memory`, `threads`, `progress`.
    """
    search = _Search(count, **options)
    queries, targets = finite_rows(queries, "queries"), finite_rows(targets, "targets")
    _check_widths(queries, targets)
    added = None if bias is None else np.ascontiguousarray(bias, dtype=np.float64)
    if added is not None and (added.shape != (len(targets),) or not (added < np.inf).all()):
        raise DataError(f"bias must hold {len(targets):,} numbers, one for each target, below infinity.")
    largest = row_lengths(queries).max(initial=0.0) * row_lengths(targets).max(initial=0.0)
    if not largest < np.finfo(np.float32).max:
        raise DataError(f"products of the vectors can reach {largest:.1e}, beyond float32; scale the vectors.")
    best = Best(queries, targets, count, bias=added, threads=search.threads)
    search.fill([best])
    return search.neighbours(best, slice(None), slice(None), len(queries))


def cosine(queries: Floats, targets: Floats, *, count: int = 10, **options: Any) -> Neighbours:
    """The targets with the highest cosine. Options are those of `nearest`."""
    search = _Search(count, **options)
    left, queried = _directions(queries, "queries")
    right, found = _directions(targets, "targets")
    _check_widths(left, right)
    best = Best(left, right, count, unit=True, threads=search.threads)
    search.fill([best])
    return search.neighbours(best, queried, found, len(queries))


def csls(
    queries: Floats,
    targets: Floats,
    *,
    count: int = 10,
    neighbourhood: int = 10,
    sources: Floats | None = None,
    **options: Any,
) -> Neighbours:
    """The targets with the highest cross-domain similarity local scaling (Conneau et al. 2018, section 2.3).

    CSLS(q, t) = 2 cos(q, t) - r_T(q) - r_S(t), where r_T(q) is the mean cosine of q with its `neighbourhood` nearest
    targets and r_S(t) that of t with its nearest `sources` (the queries, where None). It takes from targets that are
    near to everything, the hubs, their advantage. Where the sources are the queries, one product of the two matrices
    serves both means and the search. Options are those of `nearest`.
    """
    search = _Search(count, **options)
    _at_least_one("neighbourhood", neighbourhood)
    left, queried = _directions(queries, "queries")
    right, found = _directions(targets, "targets")
    _check_widths(left, right)
    bias = np.empty(len(right))
    best = Best(left, right, count, bias=bias, unit=True, threads=search.threads)
    around = Best(left, right, neighbourhood, unit=True, threads=search.threads)
    own = sources is None and search.engine == "exact"
    if len(left) and own and block_shape(len(left), len(right), search.memory // search.threads)[0] == len(left):

        def use(block: Matrix, query: int, target: int) -> None:
            # A block has all queries, so the neighbourhoods of its targets are known before its entries are ranked.
            part = slice(target, target + block.shape[1])
            local = Best(right[part], left, neighbourhood, unit=True)
            local.add_columns(block)
            bias[part] = -_means(local, search.memory) / 2
            best.add(block, query, target)
            around.add(block, query, target)

        search.scan(left, right, use)
    elif len(left):
        local = Best(right, _sources(sources, left), neighbourhood, unit=True, threads=search.threads)
        search.fill([local])
        bias[:] = -_means(local, search.memory) / 2
        search.fill([best, around])
    return search.neighbours(best, queried, found, len(queries), factor=2.0, less=_means(around, search.memory))


def inverted_softmax(
    queries: Floats,
    targets: Floats,
    *,
    count: int = 10,
    temperature: float = 30.0,
    sources: Floats | None = None,
    **options: Any,
) -> Neighbours:
    """The targets most probable by the inverted softmax (Smith et al. 2017, section 2.3).

    P(t | q) is proportional to exp(b cos(q, t)) / sum over sources s of exp(b cos(s, t)): the probability that t would
    be translated as q rather than as another source, so that hubs share theirs among many. b is `temperature` (the
    paper's inverse temperature), `sources` are the queries where None, and may be a sample. Scores are logarithms,
    without the constant of the query. The sums are of float32 products, so that of equal targets the first need not
    come first, and the last digits may be others where BLAS has other threads. Options are those of `nearest`.
    """
    search = _Search(count, **options)
    if not 0 < temperature < np.inf:
        raise UsageError(f"temperature must be above 0 and finite. Got {temperature} instead.")
    left, queried = _directions(queries, "queries")
    right, found = _directions(targets, "targets")
    _check_widths(left, right)
    bias = np.empty(len(right))
    best = Best(left, right, count, bias=bias, unit=True, threads=search.threads)
    if len(left):
        bias[:] = -_log_sums(right, _sources(sources, left), temperature, search) / temperature
        search.fill([best])
    return search.neighbours(best, queried, found, len(queries), factor=temperature)


def mean_similarity(queries: Floats, targets: Floats, *, count: int = 10, **options: Any) -> NDArray[np.float32]:
    """The mean cosine of each query with its `count` nearest targets: the r of CSLS; 0 for a query of zeros.

    Options are those of `nearest`.
    """
    search = _Search(count, **options)
    left, queried = _directions(queries, "queries")
    right, _ = _directions(targets, "targets")
    _check_widths(left, right)
    best = Best(left, right, count, unit=True, threads=search.threads)
    search.fill([best])
    means = np.zeros(len(queries), dtype=np.float32)
    means[queried] = _means(best, search.memory)
    return means


def unit_rows(matrix: Floats) -> Matrix:
    """The rows as float32 of length 1; rows of zeros stay as they are."""
    matrix = np.asarray(matrix)
    rows = np.empty(matrix.shape, dtype=np.float32)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        part = matrix[start : start + ROWS_AT_ONCE].astype(np.float64)
        # The largest value goes first, or the squares of very small or large ones would leave the range of floats.
        part /= _nonzero(np.abs(part).max(axis=1, initial=0.0))
        rows[start : start + ROWS_AT_ONCE] = part / _nonzero(row_lengths(part))
    return rows


def _nonzero(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths == 0, 1.0, lengths)[:, None]


class _Search:
    """The options that all measures share, checked, and how they search."""

    def __init__(
        self,
        count: int,
        *,
        engine: Engine = "exact",
        memory: int = MEMORY,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        _at_least_one("count", count)
        _at_least_one("memory", memory)
        if threads is not None:
            _at_least_one("threads", threads)
        if engine not in ENGINES:
            raise UsageError(f"engine must be one of {', '.join(ENGINES)}. Got {engine!r} instead.")
        self.count = count
        self.engine = engine
        self.memory = memory
        self.threads = default_threads() if threads is None else threads
        self.progress = progress

    def scan(self, queries: Matrix, targets: Matrix, use: Callable[[Matrix, int, int], None]) -> None:
        """Show `use` all products of two matrices."""
        scan(queries, targets, use, memory=self.memory, threads=self.threads, progress=self.progress)

    def fill(self, wanted: list[Best]) -> None:
        """Show `wanted`, which are of the same queries and targets, all products; or what faiss has chosen of them."""
        if self.engine == "faiss":
            for best in wanted:
                best.add_by_faiss()
            return

        def use(block: Matrix, query: int, target: int) -> None:
            for best in wanted:
                best.add(block, query, target)

        self.scan(wanted[0].queries, wanted[0].targets, use)

    def neighbours(
        self,
        best: Best,
        queried: NDArray[np.int64] | slice,
        found: NDArray[np.int64] | slice,
        queries: int,
        *,
        factor: float = 1.0,
        less: NDArray[np.float64] | float = 0.0,
    ) -> Neighbours:
        """The settled `best`, in the numbers of all queries and targets: `factor` x its scores - `less` of a query."""
        rows = np.full((queries, self.count), -1, dtype=np.int64)
        scores = np.full((queries, self.count), -np.inf, dtype=np.float32)
        best_rows, best_scores = best.settled(memory=self.memory)
        if isinstance(found, np.ndarray):
            best_rows = np.where(best_rows < 0, -1, found[best_rows])
        rows[queried, : best.count] = best_rows
        scores[queried, : best.count] = factor * best_scores - np.reshape(less, (-1, 1))
        return Neighbours(rows, scores)


def _directions(matrix: Floats, name: str) -> tuple[Matrix, NDArray[np.int64] | slice]:
    """Unit vectors of all rows but those of zeros, and the numbers of these rows."""
    lengths = row_lengths(finite_rows(matrix, name))
    rows = unit_rows(matrix)
    if lengths.all():
        return rows, slice(None)
    kept = np.flatnonzero(lengths)
    return rows[kept], kept


def _sources(sources: Floats | None, queries: Matrix) -> Matrix:
    if sources is None:
        return queries
    rows, _ = _directions(sources, "sources")
    if not len(rows):
        raise DataError("the sources hold no vector but zeros; give the vectors of the queries' language.")
    _check_widths(rows, queries)
    return rows


def _means(best: Best, memory: int) -> NDArray[np.float64]:
    """The mean score of each query's best; 0 without targets."""
    _, scores = best.settled(memory=memory)
    return scores.sum(axis=1) / max(scores.shape[1], 1)


def _log_sums(targets: Matrix, sources: Matrix, temperature: float, search: _Search) -> NDArray[np.float64]:
    """For each target the logarithm of the sum over sources of exp(temperature x cosine).

    The largest exponent so far is taken out of the sum, so that no temperature makes it overflow or vanish. Blocks are
    cut by the data alone, or the number of threads could show in the last digits.
    """
    report = search.progress or silent
    rows, columns = SUM_SHAPE

    def run(start: int) -> NDArray[np.float64]:
        part = targets[start : start + rows]
        peaks, sums = np.full(len(part), -np.inf), np.zeros(len(part))
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
            f"vectors of width {one.shape[1]} cannot be held against vectors of width {other.shape[1]}; "
            "bring both into one space first."
        )


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{name} must be 1 or more. Got {value} instead.")
