"""E-step of Models 3 and 4 over a shard: climb from the given alignments, then sum over the neighbours of the best.

Posteriors are computed as if the alignment that was reached and its neighbours were the only ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel
from cepts.kernels.fertility import (
    AFTER,
    BEFORE,
    CENTRE,
    CLASS,
    COUNT,
    FIRST,
    LINK,
    NONE,
    NULL,
    ROW,
    new_cepts,
    new_gains,
    place_cept,
)
from cepts.kernels.fertility_gains import climb
from cepts.kernels.fertility_sentence import diagonal_place, length_bucket, new_room, open_pair

# In the placement counts of Model 4, neighbours with a posterior below this times the number of cells count like the
# best alignment: counting each one separately is slow, and long pairs have many.
NEGLIGIBLE = 1e-7
# Neighbours with less than exp(this) times the best alignment's probability count as impossible.
UNLIKELY = -20.0


@kernel
def count_cept(of, sentence, i, removed, added, last, centre, weight, counts):
    """Add `weight` to the counts of the placements of a cept, see `place_cept`."""
    last, centre, _ = place_cept(of, sentence, i, removed, added, last, centre, 0.0, weight, counts, True)
    return last, centre


@kernel
def _count_change(of, sentence, low, low_removed, low_added, high, high_removed, high_added, weight, counts):
    """Add the placements that a change touches as they are after it, and subtract them as they are now.

    A word leaves cept `low` and another enters it (-1 for none), and likewise `high` (0 for none).
    """
    for new in range(2):
        share = weight if new else -weight
        last = of[BEFORE, low]
        centre = of[CENTRE, last]
        for step in range(2 if high else 1):
            i = high if step else low
            removed, added = NONE, NONE
            if new:
                removed = high_removed if step else low_removed
                added = high_added if step else low_added
            last, centre = count_cept(of, sentence, i, removed, added, last, centre, share, counts)
        end = of[AFTER, high if high else low]
        if end <= sentence.size:
            word = of[FIRST, end]
            place = of[ROW, last] + of[CLASS, word]
            counts[place + sentence.groups[sentence.reach + word - centre]] += share


@kernel
def count_neighbour(of, sentence, j, k, to, weight, counts):
    """Count the change by a move of word j to cept `to` or, unless k is -1, by a swap with word k of that cept."""
    i = of[LINK, j]
    if i > 0 and to > 0 and of[BEFORE, i] <= to <= of[AFTER, i]:
        if i < to:
            _count_change(of, sentence, i, j, k, to, k, j, weight, counts)
        else:
            _count_change(of, sentence, to, k, j, i, j, k, weight, counts)
        return
    if i > 0:
        _count_change(of, sentence, i, j, k, NULL, NONE, NONE, weight, counts)
    if to > 0:
        _count_change(of, sentence, to, k, j, NULL, NONE, NONE, weight, counts)


@kernel
def neighbourhood(cepts, sentence, gains, posterior, leaving, entering, counting, weight, counts):
    """Posteriors over an alignment and its neighbours; returns log of their total probability over the alignment's own.

    Fills `posterior[j, i]`, and for each cept the posterior of having one word less (`leaving`) or more (`entering`).
    Where `counting`, adds the expected placements of Model 4, times `weight`, to `counts`.
    """
    size, length = sentence.size, sentence.length
    moves, swaps, of = gains.moves, gains.swaps, cepts.of
    total = 1.0
    for j in range(length):
        for i in range(size + 1):
            share = np.exp(moves[j, i]) if moves[j, i] > UNLIKELY else 0.0
            moves[j, i] = share
            total += share
        for k in range(j + 1, length):
            share = np.exp(swaps[j, k]) if swaps[j, k] > UNLIKELY else 0.0
            swaps[j, k] = share
            total += share
    scale = 1.0 / total
    for i in range(size + 1):
        leaving[i] = 0.0
        entering[i] = 0.0
    counting = counting and sentence.chained
    least = NEGLIGIBLE * size * length
    if counting:
        last, centre = NULL, NONE
        for i in range(1, size + 1):
            last, centre = count_cept(of, sentence, i, NONE, NONE, last, centre, weight, counts)
    for j in range(length):
        here = of[LINK, j]
        for i in range(size + 1):
            share = moves[j, i] * scale
            posterior[j, i] = share
            leaving[here] += share
            entering[i] += share
            if counting and share > least:
                count_neighbour(of, sentence, j, NONE, i, weight * share, counts)
    for j in range(length):
        here = of[LINK, j]
        for k in range(j + 1, length):
            share = swaps[j, k] * scale
            if share > 0.0:
                there = of[LINK, k]
                posterior[j, there] += share
                posterior[k, here] += share
                if counting and share > least:
                    count_neighbour(of, sentence, j, k, there, weight * share, counts)
    for j in range(length):
        others = 0.0
        for i in range(size + 1):
            others += posterior[j, i]
        posterior[j, of[LINK, j]] = max(1.0 - others, 0.0)
    return np.log(total)


@kernel
def count_fertilities(of, sentence, leaving, entering, words, first, weight, counts):
    """Add the expected fertilities of the source words, which are `words` from `first` on."""
    most = counts.shape[1] - 1
    for i in range(sentence.size):
        row = words[first + i]
        if row < 0:
            continue
        n = of[COUNT, i + 1]
        out, more = leaving[i + 1], entering[i + 1]
        counts[row, min(n, most)] += weight * max(1.0 - out - more, 0.0)
        counts[row, min(n + 1, most)] += weight * more
        if n:
            counts[row, min(n - 1, most)] += weight * out


@kernel
def _count_displacements(sentence, posterior, weight, counts):
    """Add the expected displacements from the diagonal (Model 3)."""
    bucket = length_bucket(sentence.length, counts.shape[0])
    for i in range(1, sentence.size + 1):
        place = diagonal_place(i, sentence.size, sentence.length)
        for j in range(sentence.length):
            counts[bucket, sentence.groups[sentence.reach + j - place]] += weight * posterior[j, i]


class FertilityCounts(NamedTuple):
    """Expected fertilities and placements; index 0 of the latter is the forward direction."""

    source_fertility: Any
    target_fertility: Any
    placements: Any
    displacements: Any


@allocating_kernel
def fertility_posteriors(shard, counting, agreeing, found, expected):
    """Posteriors of all pairs of a shard in both directions; its links are replaced by the best alignments found.

    Where `counting`, adds to the `expected` counts. A pair's log-likelihood is that of its neighbourhood.
    """
    width = shard.longest + 2
    room = new_room(width)
    cepts = new_cepts(width)
    gains = new_gains(width)
    ahead = np.zeros((width, width))
    back = np.zeros((width, width))
    leaving = np.zeros(width)
    entering = np.zeros(width)
    block, cells, counts = shard.block, shard.block.cells, found.counts
    forward, reverse = found.forward, found.reverse
    source_free, target_free = found.source_free, found.target_free
    for pair in range(len(block.source_offsets) - 1):
        source, target = block.source_offsets[pair], block.target_offsets[pair]
        size, length = block.source_offsets[pair + 1] - source, block.target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        weight = np.float64(block.times[pair])
        for direction in range(2):
            sentence, links, words = open_pair(shard, direction, pair, room, cepts)
            posterior = back if direction else ahead
            free = source_free[source : source + size] if direction else target_free[target : target + length]
            score = climb(cepts, sentence, gains)
            placements = expected.placements[direction]
            found.log_likelihoods[pair, direction] = score + neighbourhood(
                cepts, sentence, gains, posterior, leaving, entering, counting, weight, placements
            )
            for j in range(sentence.length):
                links[j] = cepts.of[LINK, j] - 1
                free[j] = posterior[j, 0]
            if counting:
                fertility_counts = expected.target_fertility if direction else expected.source_fertility
                count_fertilities(cepts.of, sentence, leaving, entering, words, NULL, weight, fertility_counts)
                if not sentence.chained:
                    _count_displacements(sentence, posterior, weight, expected.displacements[direction])

        for i in range(size):
            row = block.cell_offsets[pair] + i * length
            for j in range(length):
                if not counting:
                    if agreeing:
                        # In single precision, to equal the mean of the two float32 matrices.
                        mean = np.sqrt(np.float32(ahead[j, i + 1]) * np.float32(back[i, j + 1]))
                        forward[row + j] = min(mean, np.float32(1))
                    else:
                        forward[row + j] = ahead[j, i + 1]
                        reverse[row + j] = back[i, j + 1]
                elif agreeing:
                    counts[cells[row + j], 0] += weight * ahead[j, i + 1] * back[i, j + 1]
                else:
                    counts[cells[row + j], 0] += weight * ahead[j, i + 1]
                    counts[cells[row + j], 1] += weight * back[i, j + 1]
