"""An alignment of one sentence pair in one direction under Models 3 and 4, and its score.

Cept 0 is null, cept i the source word i - 1. Model 4 places each cept relative to the last one, so its cepts make a
chain. Model 3 has no chain: its placement belongs to the scores of links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel, piece

# No word, and no or the first cept, as arguments: Numba would compile kernels once more for a plain number.
NONE = np.int64(-1)
NULL = np.int64(0)
FIRST_CEPT = np.int64(1)

# Rows of `CeptArrays.of` with one number for each target word: its cept, the next word of its cept (-1 for none), and
# where its class starts in the placements.
LINK, FOLLOW, CLASS = 0, 1, 2
# Rows with one number for each cept: its first word (-1 for none), the number of its words, the sum of their positions,
# their centre, the nearest cepts with words before (0 for none) and after it (size + 1 for none), and where the class
# of its source word starts in the placements. The last row is a buffer.
FIRST, COUNT, TOTAL, CENTRE, BEFORE, AFTER, ROW, LIST = 3, 4, 5, 6, 7, 8, 9, 10
ROWS = 11
# Rows of `CeptArrays.scores`, by cept: the scores of placing its first word, and its other words.
HEAD, WITHIN = 0, 1


class SentenceScores(NamedTuple):
    """Log-probabilities of one direction of the model for a sentence pair.

    `score[j, i]` is that of target word j in cept i, `fertility[i, n]` that of n words in cept i. Where `chained`
    (Model 4), `placements[r + c + g]` is that of the first word of a cept, where c stands for the word's class, g for
    its distance from the centre of the last cept and r for the class of that cept; or, with r = `rest`, that of a later
    word of the cept at this distance from the word before it. The group g of distance d is `groups[reach + d]`.
    """

    chained: Any
    size: Any
    length: Any
    score: Any
    fertility: Any
    placements: Any
    rest: Any
    groups: Any
    reach: Any


class CeptArrays(NamedTuple):
    """An alignment: the cept of each target word, and for each cept what its score and that of the next depend on."""

    of: Any
    scores: Any


class Gains(NamedTuple):
    """The gain of each neighbour, `moves[j, i]` and (for j < k) `swaps[j, k]`, and the parts that they are sums of.

    `add[j, i]` is the chain's gain when word j enters cept i, `remove[j]` when it leaves its own cept, `exchange[j, k]`
    when word k takes its place there. Where the two cepts follow one another, the gains are not additive; the
    difference is then in `add[j, i]` or, for j in the later cept, in `exchange[j, k]`.
    """

    moves: Any
    swaps: Any
    add: Any
    remove: Any
    exchange: Any
    grow: Any
    shrink: Any


@allocating_kernel
def new_cepts(width):
    """Buffers for the alignments of sentences with fewer than `width` words."""
    return CeptArrays(np.zeros((ROWS, width + 1), np.int64), np.zeros((2, width + 1)))


@allocating_kernel
def new_gains(width):
    """Buffers for the gains of sentences with fewer than `width` words."""
    return Gains(
        np.zeros((width, width)),
        np.zeros((width, width)),
        np.zeros((width, width)),
        np.zeros(width),
        np.zeros((width, width)),
        np.zeros(width),
        np.zeros(width),
    )


@kernel
def settle(cepts, sentence):
    """Compute all of `cepts` from its links; returns the score of the alignment."""
    of, scores = cepts.of, cepts.scores
    size, length = sentence.size, sentence.length
    placements, rest, groups, reach = sentence.placements, sentence.rest, sentence.groups, sentence.reach
    for i in range(size + 2):
        of[FIRST, i] = -1
        of[COUNT, i] = 0
        of[TOTAL, i] = 0
    score = 0.0
    for j in range(length - 1, -1, -1):
        i = of[LINK, j]
        of[FOLLOW, j] = of[FIRST, i]
        of[FIRST, i] = j
        of[COUNT, i] += 1
        of[TOTAL, i] += j
        score += sentence.score[j, i]
    of[CENTRE, 0] = -1
    of[BEFORE, 0] = 0
    of[AFTER, 0] = 0
    score += sentence.fertility[0, of[COUNT, 0]]
    last = 0
    for i in range(1, size + 1):
        of[BEFORE, i] = last
        count = of[COUNT, i]
        score += sentence.fertility[i, count]
        if count == 0:
            continue
        of[CENTRE, i] = (of[TOTAL, i] + count - 1) // count
        if sentence.chained:
            j = of[FIRST, i]
            head = placements[of[ROW, last] + of[CLASS, j] + groups[reach + j - of[CENTRE, last]]]
            within = 0.0
            while of[FOLLOW, j] >= 0:
                k = of[FOLLOW, j]
                within += placements[rest + of[CLASS, k] + groups[reach + k - j]]
                j = k
            scores[HEAD, i] = head
            scores[WITHIN, i] = within
            score += head + within
        last = i
    last = size + 1
    for i in range(size, 0, -1):
        of[AFTER, i] = last
        if of[COUNT, i]:
            last = i
    return score


@piece
def place_cept(of, sentence, i, removed, added, last, centre, gain, weight, values, counting):
    """Go through the placements of cept i, without its word `removed` and with the word `added` (-1 for none).

    Adds the `values` of the placements to `gain` or, where `counting`, `weight` to these values. `last` is the last
    cept with words and `centre` its centre. Returns both for the next cept, and the gain.
    """
    count = of[COUNT, i]
    total = of[TOTAL, i]
    if removed >= 0:
        count -= 1
        total -= removed
    if added >= 0:
        count += 1
        total += added
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
            place = of[ROW, last] + of[CLASS, word] + sentence.groups[sentence.reach + word - centre]
        else:
            place = sentence.rest + of[CLASS, word] + sentence.groups[sentence.reach + word - before]
        if counting:
            values[place] += weight
        else:
            gain += values[place]
        before = word
    if count:
        last = i
        centre = (total + count - 1) // count
    return last, centre, gain
