"""Association matrices: from N-best lists, from lexicon and position tables, and as shares of rows and columns."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


@kernel
def nbest_weights(offsets, log_probabilities, rule, wanted, weights):
    """Weight of every entry of every list: equal (`rule` 0), by probability (1), or by one over the rank (2).

    The weights of a list sum to its length, whatever the rule, so that counts keep their scale. A list with fewer than
    `wanted` entries is always weighted by probability, and its weights sum to `wanted`.
    """
    for pair in range(len(offsets) - 1):
        start = offsets[pair]
        stop = offsets[pair + 1]
        short = stop - start < wanted
        best = -np.inf
        for entry in range(start, stop):
            best = max(best, log_probabilities[entry])
        total = 0.0
        for entry in range(start, stop):
            weight = 1.0
            # Where all entries have probability 0, they have equal weights.
            if (rule == 1 or short) and best > -np.inf:
                weight = np.exp(log_probabilities[entry] - best)
            elif rule == 2:
                weight = 1.0 / (entry - start + 1)
            weights[entry] = weight
            total += weight
        for entry in range(start, stop):
            weights[entry] *= max(stop - start, wanted) / total


@kernel
def add_nbest(offsets, positions, weights, word_offsets, cell_offsets, reverse, values, null, room):
    """Add the links of N-best lists, each times the weight of its entry, to the matrices in `values`.

    `positions` has one position for each entry and explained word; those of pair `n` are the words from
    `word_offsets[n]` on. Null links are added to `null`. Where `reverse`, the explained words are the source words.
    `room` is a buffer for the largest matrix and its null.
    """
    first = 0
    for pair in range(len(offsets) - 1):
        length = word_offsets[pair + 1] - word_offsets[pair]
        start = cell_offsets[pair]
        cells = cell_offsets[pair + 1] - start
        width = cells // max(length, 1) if reverse else length
        # Summed in float64: a list may be long.
        for cell in range(cells + length):
            room[cell] = 0.0
        for entry in range(offsets[pair], offsets[pair + 1]):
            weight = weights[entry]
            for word in range(length):
                position = positions[first + word]
                if position < 0:
                    room[cells + word] += weight
                elif reverse:
                    room[word * width + position] += weight
                else:
                    room[position * width + word] += weight
            first += length
        for cell in range(cells):
            values[start + cell] += room[cell]
        for word in range(length):
            null[word_offsets[pair] + word] += room[cells + word]


@kernel
def mean_of_tables(block, priors, values, source_free, target_free):
    """Mean over both directions of lexicon times position prior; each null comes from the one direction that has it."""
    half = np.float32(0.5)
    cells, lexicon, forward, reverse = block.cells, block.lexicon, priors.forward, priors.reverse
    for pair in range(len(block.source_offsets) - 1):
        first = block.cell_offsets[pair]
        count = block.cell_offsets[pair + 1] - first
        if count == 0:
            continue
        shape = priors.shapes[pair]
        table = priors.offsets[shape]
        for place in range(count):
            cell = cells[first + place]
            ahead = lexicon[cell, 0] * forward[table + place]
            back = lexicon[cell, 1] * reverse[table + place]
            values[first + place] = half * (ahead + back)
        source = block.source_offsets[pair]
        null = priors.reverse_null_offsets[shape]
        for i in range(block.source_offsets[pair + 1] - source):
            source_free[source + i] = priors.reverse_null[null + i] * block.source_null[source + i]
        target = block.target_offsets[pair]
        null = priors.forward_null_offsets[shape]
        for j in range(block.target_offsets[pair + 1] - target):
            target_free[target + j] = priors.forward_null[null + j] * block.target_null[target + j]


@kernel
def shares_of_lines(source_lengths, target_lengths, cell_offsets, values, rows, columns):
    """Replace each value by the geometric mean of its share in its row and its share in its column.

    `rows` and `columns` are buffers for the longest source and target sentence.
    """
    for pair in range(len(source_lengths)):
        size = source_lengths[pair]
        length = target_lengths[pair]
        first = cell_offsets[pair]
        rows[:size] = 0.0
        columns[:length] = 0.0
        for i in range(size):
            for j in range(length):
                value = np.float64(values[first + i * length + j])
                rows[i] += value
                columns[j] += value
        for i in range(size):
            for j in range(length):
                cell = first + i * length + j
                if values[cell] > 0.0:
                    # Two roots, because the product of both sums may overflow or underflow.
                    values[cell] = values[cell] / np.sqrt(rows[i]) / np.sqrt(columns[j])
