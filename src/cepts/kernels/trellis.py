"""The trellis of a sentence pair in one direction, and its best path: for the HMM and for independent links.

Each explained word has I + 1 *choices*: null (0) or position i (choice i + 1). The log-weight of a choice depends on
the word and on the *state* after the words before it. With independent links there is one state. The HMM has one state
for each position (null does not change it), one before the first word (I), and one for sentences that so far have only
nulls (I + 1). The last two make each alignment exactly one path: where the first words are null, their hidden position
is summed out in the weight of the first link.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece


class Trellis(NamedTuple):
    """Buffers for the trellis of the longest sentence.

    `into[i, state]` is the log-weight of a step to position i, `through[j, i]` that of word j at that position with the
    best completion after it, `free[j]` that of null, `after[j, state]` that of the best completion from word j on.
    `log_jumps` is a buffer for the logarithms of jumps; links are independent unless `chained`.
    """

    into: Any
    through: Any
    free: Any
    after: Any
    log_jumps: Any
    chained: Any


@piece
def complete(size, length, trellis):
    """Fill `after[j, state]`, the best log-weight of words j, j + 1, ..., and add what follows to `through[j, i]`."""
    into, through, free, after, chained = trellis.into, trellis.through, trellis.free, trellis.after, trellis.chained
    states = size + 2 if chained else 1
    for state in range(states):
        after[length, state] = 0.0
    for j in range(length - 1, -1, -1):
        if not chained:
            top = free[j]
            for i in range(size):
                top = max(top, through[j, i])
                through[j, i] += after[j + 1, 0]
            after[j, 0] = top + after[j + 1, 0]
            continue
        for i in range(size):
            through[j, i] += after[j + 1, i]
        if j == 0:
            break
        row = after[j]
        following = after[j + 1]
        for state in range(states):
            row[state] = free[j] + following[state]
        for i in range(size):
            rest = through[j, i]
            for state in range(states):
                weight = into[i, state] + rest
                row[state] = weight if weight > row[state] else row[state]
    if chained:
        top = free[0] + after[1, size + 1]
        for i in range(size):
            top = max(top, into[i, size] + through[0, i])
        after[0, size] = top


@piece
def weight_of(j, state, choice, size, trellis):
    """Log-weight of a choice and the best completion after it."""
    if choice > 0:
        return trellis.into[choice - 1, state] + trellis.through[j, choice - 1]
    return trellis.free[j] + trellis.after[j + 1, size + 1 if trellis.chained and state == size else state]


@piece
def next_choice(j, state, weight, choice, size, trellis):
    """The next best choice after the given one, and its weight; -1 if there is none. Of equal ones the lower wins."""
    top = -np.inf
    found = -1
    for other in range(size + 1):
        its = weight_of(j, state, other, size, trellis)
        if its > top and (its < weight or (its == weight and other > choice)):
            top = its
            found = other
    return found, top


@piece
def follow(state, choice, size, chained):
    """The state after a choice."""
    if not chained:
        return 0
    if choice > 0:
        return choice - 1
    return size + 1 if state == size else state


@piece
def fill_mixture(direction, pair, block, priors, trellis):
    """Fill the log-weights of independent links; returns the numbers of positions and of explained words."""
    prior = priors.forward if direction == 0 else priors.reverse
    null_prior = priors.forward_null if direction == 0 else priors.reverse_null
    null_offsets = priors.forward_null_offsets if direction == 0 else priors.reverse_null_offsets
    through, cells, lexicon = trellis.through, block.cells, block.lexicon
    source, target = block.source_offsets[pair], block.target_offsets[pair]
    size = block.source_offsets[pair + 1] - source
    length = block.target_offsets[pair + 1] - target
    first = block.cell_offsets[pair]
    table = priors.offsets[priors.shapes[pair]]
    null = null_offsets[priors.shapes[pair]]
    for i in range(size):
        for j in range(length):
            cell = i * length + j
            weight = np.log(np.float64(prior[table + cell]) * np.float64(lexicon[cells[first + cell], direction]))
            if direction == 0:
                through[j, i] = weight
            else:
                through[i, j] = weight
    if direction == 1:
        size, length = length, size
    for word in range(length):
        share = block.target_null[target + word] if direction == 0 else block.source_null[source + word]
        trellis.free[word] = np.log(np.float64(null_prior[null + word]) * np.float64(share))
    return size, length


@piece
def _log_jumps(size, jumps, starts, centre, trellis):
    """`into[i, state]`: log P(i | i', I) for each i', log P(i) of the first word, and of the first link after nulls."""
    into, log_jumps = trellis.into, trellis.log_jumps
    for place in range(centre - size + 1, centre + size):
        log_jumps[place] = np.log(np.float64(jumps[place]))
    first = 0.0
    for i in range(size):
        first += starts[i]
    for i in range(size):
        into[i, size] = np.log(starts[i] / first)
        into[i, size + 1] = 0.0
    for last in range(size):
        total = 0.0
        for i in range(size):
            total += jumps[centre + i - last]
        log_total = np.log(total)
        share = starts[last] / (first * total)
        for i in range(size):
            into[i, last] = log_jumps[centre + i - last] - log_total
            into[i, size + 1] += share * jumps[centre + i - last]
    for i in range(size):
        into[i, size + 1] = np.log(into[i, size + 1])


@piece
def fill_hmm(direction, pair, tabled, block, chain, trellis):
    """Fill the log-weights of the HMM; returns the numbers of positions and of explained words.

    The table of jumps is made again if the number of positions differs from that of the pair before (`tabled`).
    """
    through, cells, lexicon = trellis.through, block.cells, block.lexicon
    keep = np.log(1.0 - chain.null_prob)
    leave = np.log(np.float64(chain.null_prob))
    source, target = block.source_offsets[pair], block.target_offsets[pair]
    size = block.source_offsets[pair + 1] - source
    length = block.target_offsets[pair + 1] - target
    first = block.cell_offsets[pair]
    for i in range(size):
        for j in range(length):
            weight = keep + np.log(np.float64(lexicon[cells[first + i * length + j], direction]))
            if direction == 0:
                through[j, i] = weight
            else:
                through[i, j] = weight
    if direction == 1:
        size, length = length, size
    for word in range(length):
        share = block.target_null[target + word] if direction == 0 else block.source_null[source + word]
        trellis.free[word] = leave + np.log(np.float64(share))
    if size != tabled:
        _log_jumps(size, chain.jumps[direction], chain.starts[direction], chain.centre, trellis)
    return size, length


@piece
def _walk(size, length, trellis, path):
    """Fill `path` with the best path; if all alignments of the pair have probability 0, `path` stays as it is."""
    complete(size, length, trellis)
    into, through, free, after, chained = trellis.into, trellis.through, trellis.free, trellis.after, trellis.chained
    state = size if chained else 0
    if after[0, state] == -np.inf:
        return
    for j in range(length):
        # Null first, so that among equal choices the lower wins, as in `next_choice`.
        best = -1
        state_of_null = size + 1 if chained and state == size else state
        top = free[j] + after[j + 1, state_of_null]
        for i in range(size):
            if into[i, state] + through[j, i] > top:
                top = into[i, state] + through[j, i]
                best = i
        path[j] = best
        state = best if chained and best >= 0 else state_of_null


@kernel
def mixture_paths(block, priors, trellis, direction, offsets, positions):
    """The best position of each explained word (-1 for null), for independent links."""
    for pair in range(len(offsets) - 1):
        size, length = fill_mixture(direction, pair, block, priors, trellis)
        if size > 0 and length > 0:
            _walk(size, length, trellis, positions[offsets[pair] : offsets[pair + 1]])


@kernel
def hmm_paths(block, chain, trellis, direction, offsets, positions):
    """The best path of each pair under the HMM, in the block's `order`, so that few tables of jumps are made."""
    tabled = np.int64(0)
    for place in range(len(block.order)):
        pair = block.order[place]
        tabled, length = fill_hmm(direction, pair, tabled, block, chain, trellis)
        if tabled > 0 and length > 0:
            _walk(tabled, length, trellis, positions[offsets[pair] : offsets[pair + 1]])
