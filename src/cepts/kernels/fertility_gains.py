"""The neighbours of an alignment under Models 3 and 4, and hill climbing to an alignment without a better neighbour.

A *neighbour* differs by a *move* of one target word to another cept, or by a *swap* of the cepts of two target words.
The gain of a change follows from the terms that it touches: the placements of a cept, and that of the first word of the
next cept. Changes of cepts that do not follow one another touch different terms, so the gain of a move is that of
removing a word from one cept plus that of adding it to another. These parts are kept in tables, and only those near the
last change are computed again.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.fertility import (
    AFTER,
    BEFORE,
    CENTRE,
    CLASS,
    COUNT,
    FIRST,
    FIRST_CEPT,
    FOLLOW,
    HEAD,
    LINK,
    LIST,
    NONE,
    ROW,
    TOTAL,
    WITHIN,
    place_cept,
    settle,
)

# A gain below this is a rounding error.
LEAST_GAIN = 1e-9


@kernel
def _tabulate_cept(cepts, sentence, i, gains):
    """Fill the gains of the chain for a word that leaves cept i, enters it, or replaces another word there."""
    of, scores, placements, groups = cepts.of, cepts.scores, sentence.placements, sentence.groups
    add, remove, exchange = gains.add, gains.remove, gains.exchange
    length, reach, rest = sentence.length, sentence.reach, sentence.rest
    last = of[BEFORE, i]
    head_row = of[ROW, last]
    head_groups = reach - of[CENTRE, last]
    row = of[ROW, i]
    end = of[AFTER, i]
    ends = end <= sentence.size
    old = scores[HEAD, i] + scores[WITHIN, i] if of[COUNT, i] else 0.0
    end_head, end_place = 0, 0
    if ends:
        old += scores[HEAD, end]
        end_head = of[FIRST, end]
        end_place = row + of[CLASS, end_head]
        end_head += reach
    removed = -1
    while True:
        # The words of the cept without the removed one, and the score of all but the first.
        count = 0
        before = -1
        within = 0.0
        word = of[FIRST, i]
        while word >= 0:
            if word != removed:
                if before >= 0:
                    within += placements[rest + of[CLASS, word] + groups[reach + word - before]]
                of[LIST, count] = word
                before = word
                count += 1
            word = of[FOLLOW, word]
        total = of[TOTAL, i] - (removed if removed >= 0 else 0)
        if removed >= 0:
            if count:
                gain = within - old
                head = of[LIST, 0]
                gain += placements[head_row + of[CLASS, head] + groups[head_groups + head]]
                if ends:
                    gain += placements[end_place + groups[end_head - (total + count - 1) // count]]
            else:
                gain = -old
                if ends:
                    gain += placements[head_row + end_place - row + groups[head_groups + end_head - reach]]
            remove[removed] = gain
        place = 0
        for j in range(length):
            if of[LINK, j] == i:
                if j != removed:
                    place += 1
                continue
            gain = within - old
            head = j
            centre = j
            if count:
                if count == 1:
                    centre = (total + j + 1) >> 1
                else:
                    centre = (total + j + count) // (count + 1)
                if place > 0:
                    head = of[LIST, 0]
                    before = of[LIST, place - 1]
                    gain += placements[rest + of[CLASS, j] + groups[reach + j - before]]
                if place < count:
                    after = of[LIST, place]
                    column = rest + of[CLASS, after]
                    gain += placements[column + groups[reach + after - j]]
                    if place > 0:
                        gain -= placements[column + groups[reach + after - before]]
            gain += placements[head_row + of[CLASS, head] + groups[head_groups + head]]
            if ends:
                gain += placements[end_place + groups[end_head - centre]]
            if removed < 0:
                add[j, i] = gain
            else:
                exchange[removed, j] = gain
        removed = of[FIRST, i] if removed < 0 else of[FOLLOW, removed]
        if removed < 0:
            return


@kernel
def pair_gain(cepts, sentence, low, low_removed, low_added, high, high_removed, high_added):
    """The gain of the chain when a word leaves cept `low` and another enters it (-1 for none), and likewise `high`.

    No cept between them has words.
    """
    of, scores, placements, groups = cepts.of, cepts.scores, sentence.placements, sentence.groups
    last = of[BEFORE, low]
    centre = of[CENTRE, last]
    gain = 0.0
    for step in range(2):
        i = high if step else low
        removed = high_removed if step else low_removed
        added = high_added if step else low_added
        if of[COUNT, i]:
            gain -= scores[HEAD, i] + scores[WITHIN, i]
        last, centre, gain = place_cept(of, sentence, i, removed, added, last, centre, gain, 0.0, placements, False)
    end = of[AFTER, high]
    if end <= sentence.size:
        word = of[FIRST, end]
        place = of[ROW, last] + of[CLASS, word] + groups[sentence.reach + word - centre]
        gain += placements[place] - scores[HEAD, end]
    return gain


@kernel
def _tabulate_gaps(cepts, sentence, i, j, old, add, left):
    """The gains of moving word j of cept i to cepts without words, between the cepts before and after i.

    `old` is the present score of cept i and of the first word after it; `left` is the part that `gains.remove` has.
    """
    of, placements, groups = cepts.of, sentence.placements, sentence.groups
    size, reach, rest = sentence.size, sentence.reach, sentence.rest
    count = of[COUNT, i] - 1
    head, before = -1, -1
    within = 0.0
    word = of[FIRST, i]
    while word >= 0:
        if word != j:
            if before < 0:
                head = word
            else:
                within += placements[rest + of[CLASS, word] + groups[reach + word - before]]
            before = word
        word = of[FOLLOW, word]
    centre = (of[TOTAL, i] - j + count - 1) // count if count else 0
    last, end = of[BEFORE, i], of[AFTER, i]
    moved = of[CLASS, j]
    end_word = of[FIRST, end] if end <= size else 0
    end_class = of[CLASS, end_word]
    # In front of i: last, j, what is left of i, end.
    start = within - old - left + placements[of[ROW, last] + moved + groups[reach + j - of[CENTRE, last]]]
    if count and end <= size:
        start += placements[of[ROW, i] + end_class + groups[reach + end_word - centre]]
    for to in range(last + 1, i):
        gain = start
        if count:
            gain += placements[of[ROW, to] + of[CLASS, head] + groups[reach + head - j]]
        elif end <= size:
            gain += placements[of[ROW, to] + end_class + groups[reach + end_word - j]]
        add[j, to] = gain
    # Behind it: last, what is left of i, j, end.
    start = within - old - left
    row, from_centre = of[ROW, last], of[CENTRE, last]
    if count:
        start += placements[row + of[CLASS, head] + groups[reach + head - from_centre]]
        row, from_centre = of[ROW, i], centre
    start += placements[row + moved + groups[reach + j - from_centre]]
    for to in range(i + 1, end):
        add[j, to] = start
        if end <= size:
            add[j, to] += placements[of[ROW, to] + end_class + groups[reach + end_word - j]]


@kernel
def _tabulate_near(cepts, sentence, i, gains):
    """The gains of moving words of cept i to cepts next to it, and of swapping them with words of the cept before."""
    of, scores, size = cepts.of, cepts.scores, sentence.size
    last, end = of[BEFORE, i], of[AFTER, i]
    old = scores[HEAD, i] + scores[WITHIN, i] + (scores[HEAD, end] if end <= size else 0.0)
    j = of[FIRST, i]
    while j >= 0:
        left = gains.remove[j]
        if end - last > 2:
            _tabulate_gaps(cepts, sentence, i, j, old, gains.add, left)
        if last > 0:
            gains.add[j, last] = pair_gain(cepts, sentence, last, NONE, j, i, j, NONE) - left
        if end <= size:
            gains.add[j, end] = pair_gain(cepts, sentence, i, j, NONE, end, NONE, j) - left
        k = of[FIRST, last] if last > 0 else -1
        while k >= 0:
            gains.exchange[j, k] = pair_gain(cepts, sentence, last, k, j, i, j, k)
            gains.exchange[k, j] = 0.0
            k = of[FOLLOW, k]
        j = of[FOLLOW, j]


@kernel
def tabulate(cepts, sentence, gains, low, high):
    """Compute the parts of gains that depend on cepts `low` to `high`; in Model 3 all of them are 0."""
    if not sentence.chained:
        return
    of = cepts.of
    j = of[FIRST, 0]
    while j >= 0:
        gains.remove[j] = 0.0
        for k in range(sentence.length):
            gains.exchange[j, k] = 0.0
        j = of[FOLLOW, j]
    low, high = max(low, 1), min(high, sentence.size)
    for i in range(low, high + 1):
        _tabulate_cept(cepts, sentence, i, gains)
    # The next cepts on either side have joint changes with these.
    low, high = max(of[BEFORE, low], 1), min(of[AFTER, high], sentence.size)
    for i in range(low, high + 1):
        _tabulate_near(cepts, sentence, i, gains)


@kernel
def fill_gains(cepts, sentence, gains):
    """Fill the gains of all moves and swaps, minus infinity for those that change nothing.

    Returns the best gain with the words j and k of its swap, or with word j and -1 - cept of its move.
    """
    size, length = sentence.size, sentence.length
    score, fertility, of = sentence.score, sentence.fertility, cepts.of
    moves, swaps, add, exchange = gains.moves, gains.swaps, gains.add, gains.exchange
    grow, shrink = gains.grow, gains.shrink
    for i in range(size + 1):
        count = of[COUNT, i]
        grow[i] = fertility[i, count + 1] - fertility[i, count]
        shrink[i] = fertility[i, count - 1] - fertility[i, count] if count else 0.0
    best, best_word, best_other = -np.inf, 0, 0
    for j in range(length):
        i = of[LINK, j]
        out = shrink[i] - score[j, i] + gains.remove[j]
        for to in range(size + 1):
            moves[j, to] = out + score[j, to] + grow[to] + add[j, to]
        moves[j, i] = -np.inf
        for to in range(size + 1):
            if moves[j, to] > best:
                best, best_word, best_other = moves[j, to], j, -1 - to
    for j in range(length):
        i = of[LINK, j]
        for k in range(j + 1, length):
            to = of[LINK, k]
            if i == to:
                swaps[j, k] = -np.inf
            else:
                gain = score[j, to] - score[j, i] + score[k, i] - score[k, to]
                gain += exchange[j, k] + exchange[k, j]
                swaps[j, k] = gain
                if gain > best:
                    best, best_word, best_other = gain, j, k
    return best, best_word, best_other


@kernel
def climb(cepts, sentence, gains):
    """Make the best move or swap until none is better; returns the score, and leaves all gains in `gains`."""
    of = cepts.of
    score = settle(cepts, sentence)
    tabulate(cepts, sentence, gains, FIRST_CEPT, sentence.size)
    while True:
        best, j, other = fill_gains(cepts, sentence, gains)
        if not best > LEAST_GAIN:
            return score
        i = of[LINK, j]
        to = of[LINK, other] if other >= 0 else -1 - other
        # The score of a cept depends only on its neighbours, as they were before the change and as they are after it.
        i_low, i_high = of[BEFORE, i], of[AFTER, i]
        to_low, to_high = of[BEFORE, to], of[AFTER, to]
        of[LINK, j] = to
        if other >= 0:
            of[LINK, other] = i
        score = settle(cepts, sentence)
        i_low, i_high = min(i_low, of[BEFORE, i]), max(i_high, of[AFTER, i])
        to_low, to_high = min(to_low, of[BEFORE, to]), max(to_high, of[AFTER, to])
        if i > 0 and to > 0 and i_low <= to_high and to_low <= i_high:
            tabulate(cepts, sentence, gains, min(i_low, to_low), max(i_high, to_high))
        else:
            if i > 0:
                tabulate(cepts, sentence, gains, i_low, i_high)
            if to > 0:
                tabulate(cepts, sentence, gains, to_low, to_high)
