"""Exact search: the targets with the highest dot(query, target) + bias, for many queries at once.

BLAS multiplies in float32, block by block, and the last digits of its products depend on the shape of the block and on
the number of threads. So these products only select candidates, a few more than were asked for. Candidates that may be
among the best, given the error bound of a float32 product, are multiplied again in float64 and in a fixed order. If a
target that is not a candidate may also be among the best, all targets within that bound are multiplied again. So the
results are those of float64 products whatever BLAS does, equal vectors tie, and ties go to the lower row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from cepts.engine import map_shards
from cepts.errors import DataError, UsageError
from cepts.progress import Progress, Step, silent

# Bytes for the blocks of products, all threads together.
MEMORY = 128 << 20
# Candidates that are kept in addition to those asked for: more targets are seldom nearly equal.
SPARE = 6
LEAST_WIDTH = 128
MOST_WIDTH = 4096
ROWS_AT_ONCE = 1024
ROUNDING = 2.0**-24

Matrix = NDArray[np.float32]


def block_shape(queries: int, targets: int, memory: int) -> tuple[int, int]:
    """Rows and columns of a block of products of at most `memory` bytes: all queries, unless it is too narrow."""
    cells = max(memory // 4, 1)
    rows = max(min(queries, cells // LEAST_WIDTH), 1)
    return rows, max(min(targets, cells // rows, MOST_WIDTH), 1)


def scan(
    queries: Matrix,
    targets: Matrix,
    use: Callable[[Matrix, int, int], None],
    *,
    memory: int = MEMORY,
    threads: int = 1,
    progress: Progress | None = None,
) -> None:
    """Call `use(block, query, target)` with all products, block by block; `query` and `target` are its first rows.

    Each thread goes through all blocks of some targets. While some threads multiply, others are in `use`, which keeps
    the processors busy whatever BLAS does with its own threads.
    """
    report = progress or silent
    rows, columns = block_shape(len(queries), len(targets), memory // threads)
    spare: list[Matrix] = []

    def run(target: int) -> int:
        right = targets[target : target + columns].T
        cells = spare.pop() if spare else np.empty(rows * columns, dtype=np.float32)
        for query in range(0, len(queries), rows):
            left = queries[query : query + rows]
            block = cells[: len(left) * right.shape[1]].reshape(len(left), -1)
            np.matmul(left, right, out=block)
            use(block, query, target)
        spare.append(cells)
        return target + right.shape[1]

    for done in map_shards(run, range(0, len(targets), columns), threads=threads):
        report(Step(stage="retrieving", done=done, total=len(targets)))


class Best:
    """The best targets of each query by dot(query, target) + bias, found block by block.

    Queries and targets are contiguous float32 rows of the same width, all finite; `count` is lowered to the number of
    targets. Results do not depend on `threads`.

    Parameters
    ----------
    bias
        A number that is added for each target (float64); it may be filled in until the target's block is added. Minus
        infinity excludes a target.
    unit
        Whether all rows have length 1, so that their lengths need not be computed.
    """

    def __init__(
        self,
        queries: Matrix,
        targets: Matrix,
        count: int,
        *,
        bias: NDArray[np.float64] | None = None,
        unit: bool = False,
        threads: int = 1,
    ) -> None:
        self.queries = queries
        self.targets = targets
        self.bias = np.zeros(len(targets)) if bias is None else bias
        self.count = min(count, len(targets))
        self.unit = unit
        self.threads = threads
        kept = min(count + SPARE, len(targets))
        self.kept = np.full((len(queries), kept), -np.inf, dtype=np.float32)
        self.kept_rows = np.full((len(queries), kept), -1, dtype=np.int64)
        self._locks = [Lock() for _ in self._parts(0, len(queries))]

    def add(self, block: Matrix, query: int, target: int) -> None:
        """Add the products of queries from `query` on and targets from `target` on; any thread may call this."""
        from cepts.kernels.nearest import keep_best

        bias = self.bias[target : target + block.shape[1]].astype(np.float32)
        parts = list(self._parts(query, query + len(block)))
        # Threads begin at different places, so that they seldom wait for one another.
        first = target // block.shape[1] * len(parts) // self.threads % len(parts)
        for part in parts[first:] + parts[:first]:
            with self._locks[part.start // ROWS_AT_ONCE]:
                lines = block[part.start - query : part.stop - query]
                keep_best(lines, bias, target, self.kept[part], self.kept_rows[part])

    def add_by_faiss(self) -> None:
        """Add the candidates that faiss finds; a bias is an additional dimension, in which queries are 1."""
        try:
            import faiss
        except ImportError:
            raise UsageError(
                "the `engine` faiss needs faiss; choose exact, or install it with: pip install faiss-cpu"
            ) from None
        if not self.kept.size:
            return
        queries, targets = self.queries, self.targets
        there = np.flatnonzero(np.isfinite(self.bias))
        if self.bias.any():
            queries = np.column_stack([queries, np.ones(len(queries), dtype=np.float32)])
            targets = np.column_stack([targets, self.bias.astype(np.float32)])[there]
        faiss.omp_set_num_threads(self.threads)
        index = faiss.IndexFlatIP(targets.shape[1])
        index.add(targets)
        scores, rows = index.search(queries, self.kept.shape[1])
        found = rows >= 0
        self.kept_rows[found], self.kept[found] = there[rows[found]], scores[found]

    def settled(self, *, memory: int = MEMORY) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows and scores of the best targets of each query, the best first; -1 and -infinity if there are fewer."""
        from cepts.kernels.nearest import rescore

        shape = len(self.queries), self.count
        rows, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
        if not scores.size:
            return rows, scores
        slack = self._slack()
        cuts, doubtful = np.empty(len(rows)), np.zeros(len(rows), dtype=np.bool_)

        def run(part: slice) -> None:
            given = self.queries[part], self.targets, self.bias, slack[part], self.kept[part], self.kept_rows[part]
            rescore(*given, scores[part], rows[part], cuts[part], doubtful[part])

        for _ in map_shards(run, list(self._parts(0, len(rows))), threads=self.threads):
            pass
        # If all targets are candidates, none can be missing.
        if self.kept.shape[1] < len(self.targets) and doubtful.any():
            places = np.flatnonzero(doubtful)
            rows[places], scores[places] = self._searched_again(places, cuts[places], memory)
        return rows, scores

    def _searched_again(
        self, places: NDArray[np.int64], cuts: NDArray[np.float64], memory: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows and scores for the queries at `places`, from all targets with scores of at least `cuts`."""
        from cepts.kernels.nearest import rescore_block

        queries = self.queries[places]
        rows = np.full((len(places), self.count), -1, dtype=np.int64)
        scores = np.full(rows.shape, -np.inf)

        def use(block: Matrix, query: int, target: int) -> None:
            lines, columns = slice(query, query + len(block)), slice(target, target + block.shape[1])
            bias, targets = self.bias[columns], self.targets[columns]
            given = block, bias.astype(np.float32), bias, target, queries[lines], targets
            with lock:
                rescore_block(*given, cuts[lines], scores[lines], rows[lines])

        lock = Lock()
        scan(queries, self.targets, use, memory=memory, threads=self.threads)
        return rows, scores

    def _parts(self, start: int, stop: int) -> Iterator[slice]:
        """The queries from `start` to `stop`, cut at multiples of `ROWS_AT_ONCE`."""
        while start < stop:
            end = min(start - start % ROWS_AT_ONCE + ROWS_AT_ONCE, stop)
            yield slice(start, end)
            start = end

    def _slack(self) -> NDArray[np.float64]:
        """The largest error that the float32 scores of each query can have.

        In any order, a sum of d products has an error of at most about d u times the lengths of q and t, with
        u = 2^-24; rounding the bias and adding it are two more roundings.
        """
        finite = self.bias[np.isfinite(self.bias)]
        largest = float(np.abs(finite).max(initial=0.0))
        if self.unit:
            lengths = np.ones(len(self.queries))
        else:
            lengths = row_lengths(self.queries) * row_lengths(self.targets).max(initial=0.0)
        return ROUNDING * (self.queries.shape[1] + 8) * (lengths + largest)


def row_lengths(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """The length of each row, in float64."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))


def finite_rows(matrix: NDArray[np.floating], name: str) -> Matrix:
    """`matrix` as contiguous float32 rows; raises `DataError` for a value that is not finite."""
    if np.ndim(matrix) != 2:
        raise DataError(
            f"the {name} must be a matrix whose rows are vectors. Got an array of shape {np.shape(matrix)} instead."
        )
    rows = np.ascontiguousarray(matrix, dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(row_lengths(rows)))
    if len(wrong):
        raise DataError(
            f"row {wrong[0]:,} (from 0) of the {name} has a value that is not a finite float32; remove the vector, or "
            f"scale the vectors down."
        )
    return rows
