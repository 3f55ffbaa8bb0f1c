"""E-step of the models with independent links: Models 1 and 2 and the diagonal model.

Each target word is a mixture over the source words and null, eq. (1d) of ibm12. The models differ in the prior of the
positions, which is stored in one table for each pair of lengths (the *shape* of a sentence pair).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import vector_kernel


class PositionCounts(NamedTuple):
    """Expected positions, with the same layout as the priors; empty if the model does not learn them."""

    forward: Any
    reverse: Any
    forward_null: Any
    reverse_null: Any


class MixtureRoom(NamedTuple):
    """Buffers for one pair: a matrix for each direction, a number for each target word and for each source word."""

    ahead: Any
    back: Any
    total: Any
    share: Any


@vector_kernel
def mixture_posteriors(block, priors, room, counting, agreeing, found, tables):
    """Posteriors of all pairs of a block in both directions; where `counting`, adds to `tables` unless empty."""
    ahead, back, total, share = room.ahead, room.back, room.total, room.share
    source_offsets, target_offsets = block.source_offsets, block.target_offsets
    cells, lexicon = block.cells, block.lexicon
    source_null, target_null = block.source_null, block.target_null
    forward_prior, reverse_prior = priors.forward, priors.reverse
    forward_null, reverse_null = priors.forward_null, priors.reverse_null
    counts, forward, reverse = found.counts, found.forward, found.reverse
    source_free, target_free = found.source_free, found.target_free
    log_likelihoods = found.log_likelihoods
    tabling = len(tables.forward) > 0
    for place in range(len(block.order)):
        pair = block.order[place]
        source = source_offsets[pair]
        target = target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        shape = priors.shapes[pair]
        table = priors.offsets[shape]
        first = block.cell_offsets[pair]
        ahead_null = priors.forward_null_offsets[shape]
        back_null = priors.reverse_null_offsets[shape]
        for j in range(length):
            mass = forward_null[ahead_null + j] * target_null[target + j]
            target_free[target + j] = mass
            total[j] = mass
        log_back = 0.0
        likelihood = 1.0
        for i in range(size):
            row = i * length
            mass = reverse_null[back_null + i] * source_null[source + i]
            sum_back = mass
            # Gathering in a loop of its own lets many cache misses overlap.
            for j in range(length):
                cell = cells[first + row + j]
                ahead[row + j] = lexicon[cell, 0]
                back[row + j] = lexicon[cell, 1]
            for j in range(length):
                there = ahead[row + j] * forward_prior[table + row + j]
                ahead[row + j] = there
                total[j] += there
            for j in range(length):
                back[row + j] *= reverse_prior[table + row + j]
            # A loop that both sums and stores would sum in another order where arrays happen to be close in memory.
            for j in range(length):
                sum_back += back[row + j]
            # Multiply first, to take one logarithm for many words.
            likelihood *= sum_back
            if likelihood < 1e-200:
                log_back += np.log(likelihood)
                likelihood = 1.0
            share[i] = np.float32(1) / sum_back
            source_free[source + i] = mass * share[i]
        log_likelihoods[pair, 1] = log_back + np.log(likelihood)
        log_ahead = 0.0
        likelihood = 1.0
        for j in range(length):
            likelihood *= total[j]
            if likelihood < 1e-200:
                log_ahead += np.log(likelihood)
                likelihood = 1.0
            total[j] = np.float32(1) / total[j]
            target_free[target + j] *= total[j]
        log_likelihoods[pair, 0] = log_ahead + np.log(likelihood)
        for i in range(size):
            row = i * length
            for j in range(length):
                ahead[row + j] *= total[j]
                back[row + j] *= share[i]
        if not counting:
            if agreeing:
                for cell in range(size * length):
                    forward[first + cell] = min(np.sqrt(ahead[cell] * back[cell]), np.float32(1))
            else:
                for cell in range(size * length):
                    forward[first + cell] = ahead[cell]
                    reverse[first + cell] = back[cell]
            continue
        weight = block.times[pair]
        if agreeing:
            for cell in range(size * length):
                counts[cells[first + cell], 0] += weight * ahead[cell] * back[cell]
        else:
            for cell in range(size * length):
                counts[cells[first + cell], 0] += weight * ahead[cell]
                counts[cells[first + cell], 1] += weight * back[cell]
        if tabling:
            for cell in range(size * length):
                tables.forward[table + cell] += weight * ahead[cell]
                tables.reverse[table + cell] += weight * back[cell]
            for j in range(length):
                tables.forward_null[ahead_null + j] += weight * target_free[target + j]
            for i in range(size):
                tables.reverse_null[back_null + i] += weight * source_free[source + i]


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
