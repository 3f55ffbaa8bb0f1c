"""Features of a second pass: what the first pass makes of the cells around each cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association
from cepts.tuning.cells import AROUND, DIAGONAL, OTHER_DIAGONAL, SAME_COLUMN, SAME_ROW, Cells, Column, logistic

FARTHEST = 6.0
MOST_CHAINS = 3.0
# A cell and its two neighbours are left out where a rival is looked for elsewhere in the line.
NEAR = 3
CONTEXT = (
    *(f"first pass at {rows:+} {columns:+}" for rows, columns in AROUND),
    *("diagonal", "both on diagonal", "other diagonal", "row neighbour", "column neighbour"),
    *("row best", "row rest", "column best", "column rest", "better rival", "both best"),
    *("row best elsewhere", "column best elsewhere", "chains", "score"),
)


def context_of(cells: Cells, shape: Association, scores: Column) -> NDArray[np.float64]:
    """Columns `CONTEXT` of each cell, given the scores (log-odds) of the first pass.

    `chains` sums a[i, j'] a[i', j'] a[i', j] over the other words, where a are the probabilities of the first pass: it
    is high where the other three corners of a rectangle are links.
    """
    own = logistic(scores)
    whole = cells.on_matrix(own, int(shape.offsets[-1]))
    around = {place: cells.neighbour(whole, *place) for place in AROUND}
    row, column = cells.rivals(own, by_target=False), cells.rivals(own, by_target=True)
    pairs = [np.maximum(around[one], around[other]) for one, other in (DIAGONAL, OTHER_DIAGONAL, SAME_ROW, SAME_COLUMN)]
    return np.column_stack(
        [
            *around.values(),
            *(pairs[0], around[DIAGONAL[0]] * around[DIAGONAL[1]], *pairs[1:]),
            *(row.best, row.rest, column.best, column.rest, np.maximum(row.best, column.best), row.best * column.best),
            _best_elsewhere(cells.source_token, cells.target, own),
            _best_elsewhere(cells.target_token, cells.source, own),
            np.minimum(_chains(cells, shape, own), MOST_CHAINS),
            np.clip(scores, -FARTHEST, FARTHEST),
        ]
    )


def _best_elsewhere(line: NDArray[np.int64], position: NDArray[np.int64], values: Column) -> Column:
    """The highest value of each cell's line at a position that is not adjacent to its own."""
    order = np.lexsort((-values, line))
    starts = np.flatnonzero(np.diff(line[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    start, length = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    start[order], length[order] = np.repeat(starts, lengths), np.repeat(lengths, lengths)
    found, open_ = np.zeros(len(order)), np.ones(len(order), dtype=np.bool_)
    for rank in range(NEAR + 1):
        there = np.flatnonzero(open_ & (length > rank))
        other = order[start[there] + rank]
        apart = np.abs(position[other] - position[there]) > 1
        found[there[apart]] = values[other[apart]]
        open_[there[apart]] = False
    return found


def _chains(cells: Cells, shape: Association, values: Column) -> Column:
    from scipy.sparse import csr_array

    size = int(shape.source_lengths.sum()), int(shape.target_lengths.sum())
    if not len(cells):
        return np.zeros(0)
    matrix = csr_array((values, (cells.source_token, cells.target_token)), shape=size)
    chains = (matrix @ matrix.T @ matrix).tocsr()
    found: Column = np.asarray(chains[cells.source_token, cells.target_token], dtype=np.float64).ravel()
    return found
