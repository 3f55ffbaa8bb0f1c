"""Forward-backward of the HMM aligner, exact, in scaled single precision.

States are source positions. A target word is emitted either by the source word at the current position, which is
reached from the last one by a jump, or by null, which stays where it is: so null needs no states of its own in the
sums, only a share of the mass of each position. Vectors are padded to whole registers with zeros.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import vector_kernel


@vector_kernel
def _multiply(matrix, vector, size, padded, out):
    for row in range(size):
        total = np.float32(0)
        for column in range(padded):
            total += matrix[row, column] * vector[column]
        out[row] = total


@vector_kernel
def _jump_matrices(size, padded, jumps, centre, matrix, transposed):
    """P(i | i', I) = jumps[i - i'] / sum over the positions of the sentence, and its transpose."""
    for last in range(size):
        total = np.float32(0)
        for position in range(size):
            total += jumps[centre + position - last]
        share = np.float32(1) / total
        for position in range(size):
            probability = jumps[centre + position - last] * share
            matrix[last, position] = probability
            transposed[position, last] = probability
        for position in range(size, padded):
            matrix[last, position] = np.float32(0)
            transposed[last, position] = np.float32(0)


@vector_kernel
def forward_backward(
    emission,
    null,
    length,
    size,
    padded,
    matrix,
    transposed,
    start,
    null_prob,
    real,
    both,
    posterior,
    null_posterior,
    counting,
    times,
    moves,
    ahead,
    behind,
):
    """Posteriors of one sentence in one direction; returns its log-likelihood.

    `emission[j, i]` is t(target j | source i) and `null[j]` t(target j | null). Fills `posterior[j, i]` and
    `null_posterior[j]`, leaves the posterior of the first position, null or not, in `behind`, and where `counting`
    adds to `moves[i', i]` what, times P(i | i'), is the expected number of jumps from i' to i in `times` such
    sentences.
    """
    keep = np.float32(1) - null_prob
    log_likelihood = 0.0
    likelihood = 1.0
    # Rows of `real` and `both` stay as they are computed; the scale that makes the row before sum to one is applied
    # where that row is read, which saves a pass.
    scale = np.float32(1)
    for j in range(length):
        null_share = null_prob * null[j]
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
        null_posterior[j] = scale
        likelihood *= total
        if likelihood < 1e-200:
            log_likelihood += np.log(likelihood)
            likelihood = 1.0
    log_likelihood += np.log(likelihood)

    for i in range(size):
        behind[i] = np.float32(1)
    for j in range(length - 1, 0, -1):
        scale = null_posterior[j]
        through = keep * scale
        stay = null_prob * null[j] * scale
        linked = np.float32(0)
        for i in range(size):
            after = behind[i]
            mass = real[j, i] * scale * after
            posterior[j, i] = mass
            linked += mass
            ahead[i] = through * emission[j, i] * after
            real[j, i] = stay * after
        # Rounding may leave a little below nothing.
        null_posterior[j] = max(np.float32(1) - linked, np.float32(0))
        if counting:
            for last in range(size):
                mass = both[j - 1, last] * null_posterior[j - 1] * times
                for i in range(padded):
                    moves[last, i] += mass * ahead[i]
        _multiply(matrix, ahead, size, padded, behind)
        for i in range(size):
            behind[i] += real[j, i]
    scale = null_posterior[0]
    linked = np.float32(0)
    for i in range(size):
        mass = real[0, i] * scale * behind[i]
        posterior[0, i] = mass
        linked += mass
        behind[i] *= both[0, i] * scale
    null_posterior[0] = max(np.float32(1) - linked, np.float32(0))
    return log_likelihood


@vector_kernel
def _count_jumps(size, moves, matrix, jumps, centre, numerator, denominator):
    """Turn `moves` into expected jumps, and clear it.

    `denominator[d]` gathers, for each place from which a jump of d is possible, the jumps made from there over the
    sum that normalises them: jumps = numerator / denominator is then the update of Hunter's MM algorithm, which
    never lowers the likelihood although the normaliser depends on the sentence.
    """
    for last in range(size):
        made = 0.0
        for position in range(size):
            count = np.float64(moves[last, position] * matrix[last, position])
            numerator[centre + position - last] += count
            made += count
            moves[last, position] = np.float32(0)
        per_weight = made * matrix[last, last] / jumps[centre]
        for position in range(size):
            denominator[centre + position - last] += per_weight


@vector_kernel
def _start_here(size, weights, start):
    total = np.float32(0)
    for i in range(size):
        total += weights[i]
    for i in range(size):
        start[i] = weights[i] / total
    return 1.0 / total


@vector_kernel
def hmm_posteriors(
    order,
    source_offsets,
    target_offsets,
    cell_offsets,
    cells,
    lexicon,
    source_null,
    target_null,
    times,
    jumps,
    starts,
    centre,
    null_prob,
    counting,
    agreeing,
    stride,
    longest,
    counts,
    forward,
    reverse,
    source_free,
    target_free,
    jump_numerator,
    jump_denominator,
    start_numerator,
    start_denominator,
    log_likelihoods,
):
    """Both directions of all pairs of a shard, in the given `order` (best by lengths: jumps are tabled by length).

    Where `counting`, adds posteriors to `counts` (their product where `agreeing`) and, of every `stride`-th pair, to
    the jump and start statistics; a pair counts `times[pair]` times. Otherwise writes them to `forward` and `reverse`,
    laid out as the cells are (where `agreeing`, their geometric mean to `forward` alone). Row 0 of `jumps`, `starts`
    and of the statistics is the forward direction, row 1 the reverse. `source_free` and `target_free` receive each
    word's posterior of null, `log_likelihoods[pair, direction]` the pair's log-likelihood.
    """
    width = (longest + 8) // 8 * 8
    ahead_emission = np.zeros((width, width), np.float32)
    back_emission = np.zeros((width, width), np.float32)
    ahead_posterior = np.zeros((width, width), np.float32)
    back_posterior = np.zeros((width, width), np.float32)
    real = np.zeros((width, width), np.float32)
    both = np.zeros((width, width), np.float32)
    ahead_moves = np.zeros((width, width), np.float32)
    back_moves = np.zeros((width, width), np.float32)
    ahead_matrix = np.zeros((width, width), np.float32)
    ahead_transposed = np.zeros((width, width), np.float32)
    back_matrix = np.zeros((width, width), np.float32)
    back_transposed = np.zeros((width, width), np.float32)
    ahead = np.zeros(width, np.float32)
    behind = np.zeros(width, np.float32)
    ahead_start = np.zeros(width, np.float32)
    back_start = np.zeros(width, np.float32)
    ahead_weight = 0.0
    back_weight = 0.0
    source_size = 0
    target_size = 0
    for place in range(len(order)):
        pair = order[place]
        source = source_offsets[pair]
        target = target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        moving = counting and place % stride == 0
        weight = times[pair]
        size_padded = (size + 7) // 8 * 8
        length_padded = (length + 7) // 8 * 8
        if size != source_size:
            if counting and source_size:
                _count_jumps(
                    source_size,
                    ahead_moves,
                    ahead_matrix,
                    jumps[0],
                    centre,
                    jump_numerator[0],
                    jump_denominator[0],
                )
            source_size = size
            _jump_matrices(size, size_padded, jumps[0], centre, ahead_matrix, ahead_transposed)
            ahead_weight = _start_here(size, starts[0], ahead_start)
        if length != target_size:
            if counting and target_size:
                _count_jumps(
                    target_size,
                    back_moves,
                    back_matrix,
                    jumps[1],
                    centre,
                    jump_numerator[1],
                    jump_denominator[1],
                )
            target_size = length
            _jump_matrices(length, length_padded, jumps[1], centre, back_matrix, back_transposed)
            back_weight = _start_here(length, starts[1], back_start)
        first = cell_offsets[pair]
        for i in range(size):
            row = first + i * length
            for j in range(length):
                cell = cells[row + j]
                ahead_emission[j, i] = lexicon[cell, 0]
                back_emission[i, j] = lexicon[cell, 1]

        for i in range(size, size_padded):
            ahead[i] = np.float32(0)
            for j in range(length):
                both[j, i] = np.float32(0)
        log_likelihoods[pair, 0] = forward_backward(
            ahead_emission,
            target_null[target : target + length],
            length,
            size,
            size_padded,
            ahead_matrix,
            ahead_transposed,
            ahead_start,
            null_prob,
            real,
            both,
            ahead_posterior,
            target_free[target : target + length],
            moving,
            weight,
            ahead_moves,
            ahead,
            behind,
        )
        if moving:
            for i in range(size):
                start_numerator[0, i] += weight * behind[i]
                start_denominator[0, i] += weight * ahead_weight

        for j in range(length, length_padded):
            ahead[j] = np.float32(0)
            for i in range(size):
                both[i, j] = np.float32(0)
        log_likelihoods[pair, 1] = forward_backward(
            back_emission,
            source_null[source : source + size],
            size,
            length,
            length_padded,
            back_matrix,
            back_transposed,
            back_start,
            null_prob,
            real,
            both,
            back_posterior,
            source_free[source : source + size],
            moving,
            weight,
            back_moves,
            ahead,
            behind,
        )
        if moving:
            for j in range(length):
                start_numerator[1, j] += weight * behind[j]
                start_denominator[1, j] += weight * back_weight

        for i in range(size):
            row = first + i * length
            if not counting:
                if agreeing:
                    for j in range(length):
                        both_agree = ahead_posterior[j, i] * back_posterior[i, j]
                        forward[row + j] = min(np.sqrt(both_agree), np.float32(1))
                else:
                    for j in range(length):
                        forward[row + j] = ahead_posterior[j, i]
                        reverse[row + j] = back_posterior[i, j]
            elif agreeing:
                for j in range(length):
                    counts[cells[row + j], 0] += weight * ahead_posterior[j, i] * back_posterior[i, j]
            else:
                for j in range(length):
                    cell = cells[row + j]
                    counts[cell, 0] += weight * ahead_posterior[j, i]
                    counts[cell, 1] += weight * back_posterior[i, j]
    if counting and source_size:
        _count_jumps(source_size, ahead_moves, ahead_matrix, jumps[0], centre, jump_numerator[0], jump_denominator[0])
    if counting and target_size:
        _count_jumps(target_size, back_moves, back_matrix, jumps[1], centre, jump_numerator[1], jump_denominator[1])
