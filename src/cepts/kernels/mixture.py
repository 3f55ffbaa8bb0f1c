"""E-step of the models with independent links: Models 1 and 2 and the diagonal model.

Each target word is a mixture over the source words and null, eq. (1d) of ibm12. The models differ in the prior of the
positions, which is stored in one table for each pair of lengths (the *shape* of a sentence pair).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece, vector_kernel
from cepts.kernels.batches import next_batch, write_links
from cepts.kernels.lanes import LANES, at, load, put, spread, store


class PositionCounts(NamedTuple):
    """Expected positions, with the same layout as the priors; empty if the model does not learn them."""

    forward: Any
    reverse: Any
    forward_null: Any
    reverse_null: Any


class MixtureRoom(NamedTuple):
    """Buffers for one batch: where each of them begins in `numbers`.

    `forward` and `reverse` are matrices of lexicon entries, which become posteriors; they have a row for each position
    and in it a number for each explained word of each pair. So have the sums of their columns (`totals`) and null's
    part in these (`nulls`). `pairs` are those of the batch.
    """

    numbers: Any
    pairs: Any
    forward: Any
    reverse: Any
    nulls: Any
    totals: Any


@piece
def _gather(block, priors, room, count, size, length, width, height, step):
    """Prior times lexicon entry of each link of a batch, in both directions; 0 in the padding."""
    cells, lexicon, numbers = block.cells, block.lexicon, room.numbers
    zero = spread(np.float32(0))
    for place in range(0, size * width, LANES):
        store(numbers, room.forward + place, zero)
    for place in range(0, length * height, LANES):
        store(numbers, room.reverse + place, zero)
    for lane in range(count):
        pair = room.pairs[lane]
        columns = block.target_offsets[pair + 1] - block.target_offsets[pair]
        cell = block.cell_offsets[pair]
        prior = priors.offsets[priors.shapes[pair]]
        for i in range(block.source_offsets[pair + 1] - block.source_offsets[pair]):
            ahead, back = room.forward + i * width + lane, room.reverse + i * step + lane
            for j in range(columns):
                entry = 2 * np.int64(at(cells, cell + j))
                put(numbers, ahead + j * step, at(priors.forward, prior + j) * at(lexicon, entry))
                put(numbers, back + j * height, at(priors.reverse, prior + j) * at(lexicon, entry + 1))
            cell += columns
            prior += columns


@piece
def _normalise(direction, words, null, prior, prior_offsets, shapes, free, room, count, step, rows, width, found):
    """Divide the columns of the matrix of a direction by their sums, to which null belongs."""
    numbers = room.numbers
    matrix = room.forward if direction == 0 else room.reverse
    for place in range(0, width, LANES):
        store(numbers, room.nulls + place, spread(np.float32(1)))
    for lane in range(count):
        pair = room.pairs[lane]
        first, here = words[pair], prior_offsets[shapes[pair]]
        for j in range(words[pair + 1] - first):
            put(numbers, room.nulls + j * step + lane, at(prior, here + j) * at(null, first + j))
    for place in range(0, width, LANES):
        total = load(numbers, room.nulls + place)
        for row in range(matrix + place, matrix + place + rows * width, width):
            total = total + load(numbers, row)
        store(numbers, room.totals + place, total)
        share = spread(np.float32(1)) / total
        store(numbers, room.nulls + place, load(numbers, room.nulls + place) * share)
        for row in range(matrix + place, matrix + place + rows * width, width):
            store(numbers, row, load(numbers, row) * share)
    for lane in range(count):
        pair = room.pairs[lane]
        first = words[pair]
        log_likelihood = 0.0
        likelihood = 1.0
        for j in range(words[pair + 1] - first):
            put(free, first + j, at(numbers, room.nulls + j * step + lane))
            # Multiply first, to take one logarithm for many words.
            likelihood *= at(numbers, room.totals + j * step + lane)
            if likelihood < 1e-200:
                log_likelihood += np.log(likelihood)
                likelihood = 1.0
        found.log_likelihoods[pair, direction] = log_likelihood + np.log(likelihood)


@piece
def _count_positions(block, priors, room, count, step, width, height, found, tables):
    """Add the expected positions of a batch."""
    numbers = room.numbers
    for lane in range(count):
        pair = room.pairs[lane]
        source, target, shape = block.source_offsets[pair], block.target_offsets[pair], priors.shapes[pair]
        size, length = block.source_offsets[pair + 1] - source, block.target_offsets[pair + 1] - target
        weight, place = block.times[pair], priors.offsets[shape]
        for i in range(size):
            ahead, back = room.forward + i * width + lane, room.reverse + i * step + lane
            for j in range(length):
                tables.forward[place] += weight * at(numbers, ahead + j * step)
                tables.reverse[place] += weight * at(numbers, back + j * height)
                place += 1
        place = priors.forward_null_offsets[shape]
        for j in range(length):
            tables.forward_null[place + j] += weight * found.target_free[target + j]
        place = priors.reverse_null_offsets[shape]
        for i in range(size):
            tables.reverse_null[place + i] += weight * found.source_free[source + i]


@kernel
def mixture_posteriors(block, priors, room, counting, agreeing, found, tables):
    """Posteriors of all pairs of a block in both directions; where `counting`, adds to `tables` unless empty."""
    place = 0
    while True:
        count, size, length, place = next_batch(block, place, room.pairs)
        if count == 0:
            break
        step = 1 if count == 1 else LANES
        # Rows are rounded up to whole vectors.
        width, height = -(-length * step // LANES) * LANES, -(-size * step // LANES) * LANES
        _gather(block, priors, room, count, size, length, width, height, step)
        for direction in range(2):
            words, null, free = block.target_offsets, block.target_null, found.target_free
            prior, offsets = priors.forward_null, priors.forward_null_offsets
            rows, breadth = size, width
            if direction == 1:
                words, null, free = block.source_offsets, block.source_null, found.source_free
                prior, offsets = priors.reverse_null, priors.reverse_null_offsets
                rows, breadth = length, height
            _normalise(
                direction, words, null, prior, offsets, priors.shapes, free, room, count, step, rows, breadth, found
            )
        write_links(block, room, count, width, step, step, height, counting, agreeing, found)
        if counting and len(tables.forward) > 0:
            _count_positions(block, priors, room, count, step, width, height, found, tables)


@vector_kernel
def diagonal_priors(sizes, lengths, offsets, tension, keep, forward, reverse):
    """For each shape, P(a_j = i | I, J) = keep exp(-tension |i/I - j/J|) / Z_j, positions from 1; and the reverse."""
    for shape in range(len(sizes)):
        size = sizes[shape]
        length = lengths[shape]
        first = offsets[shape]
        for j in range(length):
            total = 0.0
            for i in range(size):
                total += np.exp(-tension[0] * abs((i + 1) / size - (j + 1) / length))
            for i in range(size):
                weight = np.exp(-tension[0] * abs((i + 1) / size - (j + 1) / length))
                forward[first + i * length + j] = keep * weight / total
        for i in range(size):
            total = 0.0
            for j in range(length):
                total += np.exp(-tension[1] * abs((i + 1) / size - (j + 1) / length))
            for j in range(length):
                weight = np.exp(-tension[1] * abs((i + 1) / size - (j + 1) / length))
                reverse[first + i * length + j] = keep * weight / total


@vector_kernel
def diagonal_objective(sizes, lengths, offsets, tension, table, reverse):
    """Expected log-prior of the links counted in `table`, as a function of the tension, up to a constant."""
    objective = 0.0
    for shape in range(len(sizes)):
        size = sizes[shape]
        length = lengths[shape]
        first = offsets[shape]
        words = size if reverse else length
        states = length if reverse else size
        for word in range(words):
            total = 0.0
            linked = 0.0
            distance = 0.0
            for state in range(states):
                i = word if reverse else state
                j = state if reverse else word
                gap = abs((i + 1) / size - (j + 1) / length)
                count = np.float64(table[first + i * length + j])
                total += np.exp(-tension * gap)
                linked += count
                distance += count * gap
            objective -= tension * distance + linked * np.log(total)
    return objective


@vector_kernel
def normalise_tables(sizes, lengths, offsets, null_offsets, table, null_table, reverse, prior, null_prior):
    """P(a_j = i | I, J) = counts over their total, which includes null; a word without counts keeps its prior."""
    for shape in range(len(sizes)):
        size = sizes[shape]
        length = lengths[shape]
        first = offsets[shape]
        words = size if reverse else length
        states = length if reverse else size
        for word in range(words):
            total = np.float64(null_table[null_offsets[shape] + word])
            for state in range(states):
                total += table[first + (word * length + state if reverse else state * length + word)]
            if total <= 0.0:
                continue
            null_prior[null_offsets[shape] + word] = null_table[null_offsets[shape] + word] / total
            for state in range(states):
                place = first + (word * length + state if reverse else state * length + word)
                prior[place] = table[place] / total
