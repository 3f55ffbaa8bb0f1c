"""Sentence pairs in the lanes of vectors.

Pairs of similar lengths are computed as a *batch*, each in one lane of all vectors. A pair without such neighbours, or
too long for the buffers of a batch, is computed *alone*, with consecutive words in the lanes. Neighbouring words are
`step` numbers apart: LANES in a batch, 1 in a pair alone. Kernels take every sum in the same order either way, so that
results depend neither on the other pairs of a batch nor on the width of registers.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import piece
from cepts.kernels.lanes import LANES, at, put

# The most cells of a pair in a batch, so that the buffers of a batch fit into the processor's cache.
CELLS_IN_LANE = 4096


@piece
def next_batch(block, place, pairs):
    """Put the pairs from `place` of the order on into `pairs`: those of a batch with at most as much padding as cells.

    Returns their number (1 for a pair alone, 0 at the end of the block), their longest source and target sentences, and
    where the next batch begins.
    """
    count, size, length, end = 0, 0, 0, place
    seen, rows, columns, cells = 0, 0, 0, 0
    while place < len(block.order) and seen < LANES:
        pair = block.order[place]
        place += 1
        own_rows = block.source_offsets[pair + 1] - block.source_offsets[pair]
        own_columns = block.target_offsets[pair + 1] - block.target_offsets[pair]
        if own_rows == 0 or own_columns == 0:
            continue
        pairs[seen] = pair
        seen += 1
        rows, columns, cells = max(rows, own_rows), max(columns, own_columns), cells + own_rows * own_columns
        if seen == 1 or (LANES * rows * columns <= 2 * cells and rows * columns <= CELLS_IN_LANE):
            count, size, length, end = seen, rows, columns, place
    return count, size, length, end


@piece
def write_links(block, room, count, ahead_row, ahead_column, back_row, back_column, counting, agreeing, found):
    """Write the posteriors of all links of a batch, or add them to the counts.

    Those of the forward direction are `ahead_row` apart from source word to source word and `ahead_column` apart from
    target word to target word, those of the reverse direction `back_row` and `back_column`.
    """
    cells, numbers = block.cells, room.numbers
    counts, forward, reverse = found.counts, found.forward, found.reverse
    for lane in range(count):
        pair = room.pairs[lane]
        columns = block.target_offsets[pair + 1] - block.target_offsets[pair]
        cell = block.cell_offsets[pair]
        weight = block.times[pair]
        for i in range(block.source_offsets[pair + 1] - block.source_offsets[pair]):
            ahead, back = room.forward + i * ahead_row + lane, room.reverse + i * back_row + lane
            if counting and agreeing:
                for j in range(columns):
                    entry = np.int64(at(cells, cell + j))
                    both = at(numbers, ahead + j * ahead_column) * at(numbers, back + j * back_column)
                    put(counts, entry, at(counts, entry) + weight * both)
            elif counting:
                for j in range(columns):
                    entry = 2 * np.int64(at(cells, cell + j))
                    put(counts, entry, at(counts, entry) + weight * at(numbers, ahead + j * ahead_column))
                    put(counts, entry + 1, at(counts, entry + 1) + weight * at(numbers, back + j * back_column))
            elif agreeing:
                for j in range(columns):
                    both = at(numbers, ahead + j * ahead_column) * at(numbers, back + j * back_column)
                    put(forward, cell + j, min(np.sqrt(both), np.float32(1)))
            else:
                for j in range(columns):
                    put(forward, cell + j, at(numbers, ahead + j * ahead_column))
                    put(reverse, cell + j, at(numbers, back + j * back_column))
            cell += columns
