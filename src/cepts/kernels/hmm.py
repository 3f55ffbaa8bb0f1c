"""Exact forward-backward of the HMM aligner, in scaled single precision.

States are source positions. A target word is emitted either by the source word at a new position, which is reached from
the last one by a jump, or by null, which does not change the position. So null needs no states of its own, only a share
of the mass of each position. Vectors are padded with zeros to whole registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import piece, vector_kernel


class Chain(NamedTuple):
    """Parameters of the HMM; row 0 of `jumps` and `starts` is the forward direction, row 1 the reverse.

    A jump by d positions has the weight `jumps[direction, centre + d]`.
    """

    jumps: Any
    starts: Any
    centre: Any
    null_prob: Any


class JumpCounts(NamedTuple):
    """Statistics of jumps and starts, with the same layout as the parameters."""

    jump_numerator: Any
    jump_denominator: Any
    start_numerator: Any
    start_denominator: Any


class HmmRoom(NamedTuple):
    """Buffers for one pair, as wide as the longest sentence, padded.

    Those up to `start_weight` have one part for each direction. `tabled` is the length whose jumps are in `matrix`,
    `start_weight` the factor that normalises its starts.
    """

    emission: Any
    posterior: Any
    moves: Any
    matrix: Any
    transposed: Any
    start: Any
    tabled: Any
    start_weight: Any
    real: Any
    both: Any
    ahead: Any
    behind: Any


@piece
def _multiply(matrix, vector, size, padded, out):
    # Four rows at a time share what is read of the vector. Rows beyond `size` are 0.
    for row in range(0, size, 4):
        one = np.float32(0)
        two = np.float32(0)
        three = np.float32(0)
        four = np.float32(0)
        for column in range(padded):
            value = vector[column]
            one += matrix[row, column] * value
            two += matrix[row + 1, column] * value
            three += matrix[row + 2, column] * value
            four += matrix[row + 3, column] * value
        out[row] = one
        out[row + 1] = two
        out[row + 2] = three
        out[row + 3] = four


@piece
def _forward_backward(direction, first, null, length, size, null_prob, room, null_posterior, counting, times):
    """Posteriors of one sentence in one direction; returns its log-likelihood.

    `room.emission[direction, j, i]` is t(target j | source i) and `null[first + j]` t(target j | null). Fills
    `room.posterior[direction, j, i]` and `null_posterior[first + j]`, and leaves the posterior of the position at the
    first word, null or not, in `room.behind`. Where `counting`, adds to `room.moves[direction, i', i]` the expected
    number of jumps from i' to i in `times` such sentences, divided by P(i | i').
    """
    emission, posterior, moves = room.emission[direction], room.posterior[direction], room.moves[direction]
    matrix, transposed, start = room.matrix[direction], room.transposed[direction], room.start[direction]
    real, both, ahead, behind = room.real, room.both, room.ahead, room.behind
    padded = (size + 7) // 8 * 8
    # Clear the padding, where an earlier, longer sentence may have left numbers.
    for i in range(size, padded):
        ahead[i] = np.float32(0)
        for j in range(length):
            both[j, i] = np.float32(0)
    keep = np.float32(1) - null_prob
    log_likelihood = 0.0
    likelihood = 1.0
    # Rows of `real` and `both` are stored unscaled; the scale that makes a row sum to 1 is applied where the row is
    # read, which saves a pass.
    scale = np.float32(1)
    for j in range(length):
        null_share = null_prob * null[first + j]
        total = np.float32(0)
        if j == 0:
            for i in range(size):
                mass = keep * start[i] * emission[0, i]
                whole = mass + null_share * start[i]
                real[0, i] = mass
                both[0, i] = whole
                total += whole
        else:
            _multiply(transposed, both[j - 1], size, padded, ahead)
            through = keep * scale
            stay = null_share * scale
            for i in range(size):
                mass = through * ahead[i] * emission[j, i]
                whole = mass + stay * both[j - 1, i]
                real[j, i] = mass
                both[j, i] = whole
                total += whole
        scale = np.float32(1) / total
        null_posterior[first + j] = scale
        likelihood *= total
        if likelihood < 1e-200:
            log_likelihood += np.log(likelihood)
            likelihood = 1.0
    log_likelihood += np.log(likelihood)

    for i in range(size):
        behind[i] = np.float32(1)
    for j in range(length - 1, 0, -1):
        scale = null_posterior[first + j]
        through = keep * scale
        stay = null_prob * null[first + j] * scale
        linked = np.float32(0)
        for i in range(size):
            after = behind[i]
            mass = real[j, i] * scale * after
            posterior[j, i] = mass
            linked += mass
            ahead[i] = through * emission[j, i] * after
            real[j, i] = stay * after
        # Rounding may make the difference slightly negative.
        null_posterior[first + j] = max(np.float32(1) - linked, np.float32(0))
        if counting:
            for last in range(size):
                mass = both[j - 1, last] * null_posterior[first + j - 1] * times
                for i in range(padded):
                    moves[last, i] += mass * ahead[i]
        _multiply(matrix, ahead, size, padded, behind)
        for i in range(size):
            behind[i] += real[j, i]
    scale = null_posterior[first]
    linked = np.float32(0)
    for i in range(size):
        mass = real[0, i] * scale * behind[i]
        posterior[0, i] = mass
        linked += mass
        behind[i] *= both[0, i] * scale
    null_posterior[first] = max(np.float32(1) - linked, np.float32(0))
    return log_likelihood


@piece
def _count_jumps(direction, chain, room, statistics):
    """Turn `room.moves` into expected jumps, and clear it.

    `denominator[d]` sums, over all positions from which a jump by d is possible, the expected jumps from there divided
    by their normaliser. Then jumps = numerator / denominator is the update of Hunter's MM algorithm, which never lowers
    the likelihood although the normaliser depends on the length of the sentence.
    """
    moves, matrix, centre = room.moves[direction], room.matrix[direction], chain.centre
    jumps = chain.jumps[direction]
    numerator, denominator = statistics.jump_numerator[direction], statistics.jump_denominator[direction]
    size = room.tabled[direction]
    for last in range(size):
        made = 0.0
        for position in range(size):
            made += np.float64(moves[last, position] * matrix[last, position])
        for position in range(size):
            numerator[centre + position - last] += np.float64(moves[last, position] * matrix[last, position])
            moves[last, position] = np.float32(0)
        per_weight = made * matrix[last, last] / jumps[centre]
        for position in range(size):
            denominator[centre + position - last] += per_weight


@piece
def _tabulate(direction, size, chain, room):
    """Fill P(i | i', I) = jumps[i - i'] / sum over positions, its transpose, and the starts, for I = `size`."""
    jumps, centre = chain.jumps[direction], chain.centre
    matrix, transposed = room.matrix[direction], room.transposed[direction]
    padded = (size + 7) // 8 * 8
    for last in range(size):
        total = np.float32(0)
        for position in range(size):
            total += jumps[centre + position - last]
        share = np.float32(1) / total
        for position in range(size):
            probability = jumps[centre + position - last] * share
            matrix[last, position] = probability
            transposed[position, last] = probability
    for last in range(padded):
        for position in range(size if last < size else 0, padded):
            matrix[last, position] = np.float32(0)
            transposed[last, position] = np.float32(0)
    weights, start = chain.starts[direction], room.start[direction]
    total = np.float32(0)
    for i in range(size):
        total += weights[i]
    for i in range(size):
        start[i] = weights[i] / total
    room.start_weight[direction] = 1.0 / total
    room.tabled[direction] = size


@vector_kernel
def hmm_posteriors(block, chain, room, counting, agreeing, stride, found, statistics):
    """Posteriors of all pairs of a block in both directions, in its `order`, so that few tables of jumps are made.

    Where `counting`, every `stride`-th pair adds to the statistics of jumps and starts. `room.tabled` must be 0.
    """
    source_offsets, target_offsets = block.source_offsets, block.target_offsets
    cells, lexicon = block.cells, block.lexicon
    ahead_emission, back_emission = room.emission[0], room.emission[1]
    ahead, back = room.posterior[0], room.posterior[1]
    counts, forward, reverse = found.counts, found.forward, found.reverse
    for place in range(len(block.order)):
        pair = block.order[place]
        source, target = source_offsets[pair], target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        moving = counting and place % stride == 0
        weight = block.times[pair]
        first = block.cell_offsets[pair]
        for i in range(size):
            row = first + i * length
            for j in range(length):
                cell = cells[row + j]
                ahead_emission[j, i] = lexicon[cell, 0]
                back_emission[i, j] = lexicon[cell, 1]
        for direction in range(2):
            states, words = (size, length) if direction == 0 else (length, size)
            if states != room.tabled[direction]:
                if counting:
                    _count_jumps(direction, chain, room, statistics)
                _tabulate(direction, states, chain, room)
            start = target if direction == 0 else source
            null = block.target_null if direction == 0 else block.source_null
            free = found.target_free if direction == 0 else found.source_free
            found.log_likelihoods[pair, direction] = _forward_backward(
                direction, start, null, words, states, chain.null_prob, room, free, moving, weight
            )
            if moving:
                for i in range(states):
                    statistics.start_numerator[direction, i] += weight * room.behind[i]
                    statistics.start_denominator[direction, i] += weight * room.start_weight[direction]
        for i in range(size):
            row = first + i * length
            if not counting:
                if agreeing:
                    for j in range(length):
                        forward[row + j] = min(np.sqrt(ahead[j, i] * back[i, j]), np.float32(1))
                else:
                    for j in range(length):
                        forward[row + j] = ahead[j, i]
                        reverse[row + j] = back[i, j]
            elif agreeing:
                for j in range(length):
                    counts[cells[row + j], 0] += weight * ahead[j, i] * back[i, j]
            else:
                for j in range(length):
                    cell = cells[row + j]
                    counts[cell, 0] += weight * ahead[j, i]
                    counts[cell, 1] += weight * back[i, j]
    if counting:
        for direction in range(2):
            _count_jumps(direction, chain, room, statistics)
