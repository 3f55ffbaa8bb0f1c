"""E-step of Models 3 and 4 over a shard: climb from the given alignments, then sum over the neighbours of the best.

The posteriors are those of the climbed alignment and all its neighbours, as if there were no others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.fertility import (
    AFTER,
    BEFORE,
    CENTRE,
    CLASS,
    COUNT,
    FIRST,
    FOLLOW,
    LINK,
    ROW,
    TOTAL,
    Sentence,
    climb,
    new_cepts,
    new_gains,
)

# Neighbours with a smaller share, times the cells of the pair, count as the climbed alignment in the placements of
# Model 4: to count each by itself is dear, and long pairs have many.
NEGLIGIBLE = 1e-7
# Those with less than exp(this) of the best alignment's probability count as impossible.
UNLIKELY = -20.0


class Room(NamedTuple):
    """Buffers for one sentence pair in one direction."""

    score: Any
    fertility: Any
    log_factorials: Any


@kernel
def new_room(width):
    """Buffers for sentences of fewer than `width` words."""
    log_factorials = np.zeros(width + 2)
    for n in range(1, width + 2):
        log_factorials[n] = log_factorials[n - 1] + np.log(n)
    return Room(np.zeros((width, width)), np.zeros((width, width + 2)), log_factorials)


@kernel
def diagonal_place(i, size, length):
    """The target position that lies beside cept i, in 1..size, on the diagonal."""
    return (2 * i - 1) * length // (2 * size)


@kernel
def length_bucket(length, buckets):
    """Bucket of a length in words: 1 to 8, to 16, to 32, ..., the last for all longer ones."""
    bucket = 0
    while bucket < buckets - 1 and length > 8 << bucket:
        bucket += 1
    return bucket


@kernel
def load_sentence(
    room,
    cepts,
    known_fertility,
    placements,
    displacements,
    chained,
    groups,
    reach,
    null_prob,
    size,
    length,
    words,
    null,
    source_classes,
    target_classes,
):
    """All that the model says of a sentence of whose links but for null `room.score` has the lexicon's part already.

    `known_fertility` has a row for each source word and a last one for unknown words; its last column is for that
    fertility or a higher one, which is half as likely with each word more. `placements[a, b, g]` is for source words of
    class a; after the classes come the beginning of the sentence and the other words of the same cept.
    """
    score, fertility, of = room.score, room.fertility, cepts.of
    most = known_fertility.shape[1] - 1
    halve = np.log(0.5)
    rows, columns, width = placements.shape
    for j in range(length):
        score[j, 0] = null[j]
        of[CLASS, j] = target_classes[j] * width
    for i in range(size):
        row = words[i] if words[i] >= 0 else known_fertility.shape[0] - 1
        for n in range(length + 1):
            value = np.float64(known_fertility[row, min(n, most)])
            if n >= most:
                value += (n - most + 1) * halve
            if not chained:
                value += room.log_factorials[n]
            fertility[i + 1, n] = value
        fertility[i + 1, length + 1] = -np.inf
        of[ROW, i + 1] = source_classes[i] * columns * width
    of[ROW, 0] = (rows - 2) * columns * width
    log_null, log_real = np.log(null_prob), np.log(1.0 - null_prob)
    for n in range(length + 2):
        fertility[0, n] = -np.inf
        if 2 * n <= length:
            ways = room.log_factorials[length - n] - room.log_factorials[n] - room.log_factorials[length - 2 * n]
            fertility[0, n] = ways + n * log_null + (length - 2 * n) * log_real
    if not chained:
        bucket = length_bucket(length, displacements.shape[0])
        for i in range(1, size + 1):
            place = diagonal_place(i, size, length)
            for j in range(length):
                score[j, i] += displacements[bucket, groups[reach + j - place]]
    rest = (rows - 1) * columns * width
    return Sentence(
        chained, size, length, score, fertility, placements.reshape(rows * columns * width), rest, groups, reach
    )


@kernel
def start_from(links, cepts, sentence):
    """Take `links` (-1 for null) as the alignment; of more nulls than there may be, link those that lose least."""
    of = cepts.of
    free = 0
    for j in range(sentence.length):
        of[LINK, j] = links[j] + 1
        if links[j] < 0:
            free += 1
    while 2 * free > sentence.length:
        least, word, to = np.inf, -1, 0
        for j in range(sentence.length):
            if of[LINK, j] == 0:
                for i in range(1, sentence.size + 1):
                    loss = sentence.score[j, 0] - sentence.score[j, i]
                    if word < 0 or loss < least:
                        least, word, to = loss, j, i
        of[LINK, word] = to
        free -= 1


@kernel
def _count_cept(of, groups, reach, rest, i, removed, added, last, centre, weight, counts):
    """Count the placement of cept i without its word `removed` and with `added`; return the last cept, its centre."""
    count = of[COUNT, i]
    total = of[TOTAL, i]
    if removed >= 0:
        count -= 1
        total -= removed
    if added >= 0:
        count += 1
        total += added
    if count == 0:
        return last, centre
    before = -1
    j = of[FIRST, i]
    for _ in range(count):
        if j >= 0 and j == removed:
            j = of[FOLLOW, j]
        if added >= 0 and (j < 0 or added < j):
            word = added
            added = -1
        else:
            word = j
            j = of[FOLLOW, j]
        if before < 0:
            counts[of[ROW, last] + of[CLASS, word] + groups[reach + word - centre]] += weight
        else:
            counts[rest + of[CLASS, word] + groups[reach + word - before]] += weight
        before = word
    return i, (total + count - 1) // count


@kernel
def _count_change(
    of, groups, reach, rest, size, low, low_removed, low_added, high, high_removed, high_added, weight, counts
):
    """Count the terms that a change touches as they become, less as they are.

    A word leaves cept `low` and one enters it (-1 for none), and likewise `high`, 0 for none.
    """
    for new in range(2):
        share = weight if new else -weight
        last = of[BEFORE, low]
        centre = of[CENTRE, last]
        for step in range(2 if high else 1):
            removed = high_removed if step else low_removed
            added = high_added if step else low_added
            last, centre = _count_cept(
                of,
                groups,
                reach,
                rest,
                high if step else low,
                removed if new else -1,
                added if new else -1,
                last,
                centre,
                share,
                counts,
            )
        end = of[AFTER, high if high else low]
        if end <= size:
            word = of[FIRST, end]
            counts[of[ROW, last] + of[CLASS, word] + groups[reach + word - centre]] += share


@kernel
def _count_neighbour(of, groups, reach, rest, size, j, k, to, weight, counts):
    """Count what a move of word j to cept `to` changes, or where k is not -1 a swap of j with k, which is there."""
    i = of[LINK, j]
    if i > 0 and to > 0 and of[BEFORE, i] <= to <= of[AFTER, i]:
        if i < to:
            _count_change(of, groups, reach, rest, size, i, j, k, to, k, j, weight, counts)
        else:
            _count_change(of, groups, reach, rest, size, to, k, j, i, j, k, weight, counts)
        return
    if i > 0:
        _count_change(of, groups, reach, rest, size, i, j, k, 0, -1, -1, weight, counts)
    if to > 0:
        _count_change(of, groups, reach, rest, size, to, k, j, 0, -1, -1, weight, counts)


@kernel
def neighbourhood(cepts, sentence, gains, posterior, leaving, entering, counting, weight, counts):
    """Posteriors over a climbed alignment and its neighbours; returns the logarithm of their sum over the alignment's.

    Fills `posterior[j, i]`, and for each cept the share of neighbours in which it has one word less (`leaving`) or
    more (`entering`). Where `counting`, adds the expected placements of Model 4, `weight` times.
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
    groups, reach, rest = sentence.groups, sentence.reach, sentence.rest
    counting = counting and sentence.chained
    least = NEGLIGIBLE * size * length
    if counting:
        last, centre = 0, -1
        for i in range(1, size + 1):
            last, centre = _count_cept(of, groups, reach, rest, i, -1, -1, last, centre, weight, counts)
    for j in range(length):
        here = of[LINK, j]
        for i in range(size + 1):
            share = moves[j, i] * scale
            posterior[j, i] = share
            leaving[here] += share
            entering[i] += share
            if counting and share > least:
                _count_neighbour(of, groups, reach, rest, size, j, -1, i, weight * share, counts)
    for j in range(length):
        here = of[LINK, j]
        for k in range(j + 1, length):
            share = swaps[j, k] * scale
            if share > 0.0:
                there = of[LINK, k]
                posterior[j, there] += share
                posterior[k, here] += share
                if counting and share > least:
                    _count_neighbour(of, groups, reach, rest, size, j, k, there, weight * share, counts)
    for j in range(length):
        others = 0.0
        for i in range(size + 1):
            others += posterior[j, i]
        posterior[j, of[LINK, j]] = max(1.0 - others, 0.0)
    return np.log(total)


@kernel
def _count_fertilities(cepts, sentence, leaving, entering, words, weight, counts):
    """Add the expected fertilities of the source words."""
    most = counts.shape[1] - 1
    for i in range(sentence.size):
        row = words[i]
        if row < 0:
            continue
        n = cepts.of[COUNT, i + 1]
        out, more = leaving[i + 1], entering[i + 1]
        counts[row, min(n, most)] += weight * max(1.0 - out - more, 0.0)
        counts[row, min(n + 1, most)] += weight * more
        if n:
            counts[row, min(n - 1, most)] += weight * out


@kernel
def _count_displacements(sentence, posterior, weight, counts):
    """Add the expected displacements from the diagonal, of Model 3."""
    bucket = length_bucket(sentence.length, counts.shape[0])
    for i in range(1, sentence.size + 1):
        place = diagonal_place(i, sentence.size, sentence.length)
        for j in range(sentence.length):
            counts[bucket, sentence.groups[sentence.reach + j - place]] += weight * posterior[j, i]


@kernel
def fertility_posteriors(
    source_offsets,
    target_offsets,
    cell_offsets,
    cells,
    lexicon,
    source_null,
    target_null,
    times,
    source_words,
    target_words,
    source_classes,
    target_classes,
    source_fertility,
    target_fertility,
    placements,
    displacements,
    chained,
    groups,
    reach,
    null_prob,
    longest,
    counting,
    agreeing,
    counts,
    forward,
    reverse,
    source_free,
    target_free,
    source_fertility_counts,
    target_fertility_counts,
    placement_counts,
    displacement_counts,
    log_likelihoods,
    source_links,
    target_links,
):
    """Both directions of all pairs of a shard, climbing from `source_links` and `target_links`, which become the best.

    `lexicon`, `source_null` and `target_null` are logarithms. Where `counting`, adds posteriors to `counts` (their
    product where `agreeing`) and expected fertilities and placements to the other counts, whose index 0 is the forward
    direction; a pair counts `times[pair]` times. Otherwise writes posteriors to `forward` and `reverse` (where
    `agreeing`, their geometric mean to `forward` alone). `source_free` and `target_free` receive each word's posterior
    of null, `log_likelihoods[pair, direction]` the logarithm of the sum over the neighbourhood.
    """
    width = longest + 2
    room = new_room(width)
    cepts = new_cepts(width)
    gains = new_gains(width)
    ahead = np.zeros((width, width))
    back = np.zeros((width, width))
    leaving = np.zeros(width)
    entering = np.zeros(width)
    for pair in range(len(source_offsets) - 1):
        first_source, last_source = source_offsets[pair], source_offsets[pair + 1]
        first_target, last_target = target_offsets[pair], target_offsets[pair + 1]
        size, length = last_source - first_source, last_target - first_target
        if size == 0 or length == 0:
            continue
        first = cell_offsets[pair]
        weight = np.float64(times[pair])
        for direction in range(2):
            if direction == 0:
                for i in range(size):
                    for j in range(length):
                        room.score[j, i + 1] = lexicon[cells[first + i * length + j], 0]
                words = source_words[first_source:last_source]
                null = target_null[first_target:last_target]
                near_classes = source_classes[first_source:last_source]
                far_classes = target_classes[first_target:last_target]
                links = target_links[first_target:last_target]
                free = target_free[first_target:last_target]
                known, fertility_counts, posterior = source_fertility, source_fertility_counts, ahead
                sizes = size, length
            else:
                for i in range(size):
                    for j in range(length):
                        room.score[i, j + 1] = lexicon[cells[first + i * length + j], 1]
                words = target_words[first_target:last_target]
                null = source_null[first_source:last_source]
                near_classes = target_classes[first_target:last_target]
                far_classes = source_classes[first_source:last_source]
                links = source_links[first_source:last_source]
                free = source_free[first_source:last_source]
                known, fertility_counts, posterior = target_fertility, target_fertility_counts, back
                sizes = length, size
            sentence = load_sentence(
                room,
                cepts,
                known,
                placements[direction],
                displacements[direction],
                chained,
                groups,
                reach,
                null_prob,
                sizes[0],
                sizes[1],
                words,
                null,
                near_classes,
                far_classes,
            )
            start_from(links, cepts, sentence)
            score = climb(cepts, sentence, gains)
            log_likelihoods[pair, direction] = score + neighbourhood(
                cepts,
                sentence,
                gains,
                posterior,
                leaving,
                entering,
                counting,
                weight,
                placement_counts[direction],
            )
            for j in range(sizes[1]):
                links[j] = cepts.of[LINK, j] - 1
                free[j] = posterior[j, 0]
            if counting:
                _count_fertilities(cepts, sentence, leaving, entering, words, weight, fertility_counts)
                if not chained:
                    _count_displacements(sentence, posterior, weight, displacement_counts[direction])

        for i in range(size):
            row = first + i * length
            for j in range(length):
                if not counting:
                    if agreeing:
                        forward[row + j] = np.sqrt(ahead[j, i + 1] * back[i, j + 1])
                    else:
                        forward[row + j] = ahead[j, i + 1]
                        reverse[row + j] = back[i, j + 1]
                elif agreeing:
                    counts[cells[row + j], 0] += weight * ahead[j, i + 1] * back[i, j + 1]
                else:
                    counts[cells[row + j], 0] += weight * ahead[j, i + 1]
                    counts[cells[row + j], 1] += weight * back[i, j + 1]
