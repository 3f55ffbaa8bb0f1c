"""An alignment of one sentence pair in one direction under Models 3 and 4, and its score.

Cept 0 is null, cept i the source word i - 1. Model 4 places each cept relative to the last one, so its cepts make a
chain. Model 3 has no chain: its placement belongs to the scores of links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel

# No word and no cept, as arguments; a plain -1 would have kernels compiled once more for just that value.
NONE = np.int64(-1)
NULL = np.int64(0)
FIRST_CEPT = np.int64(1)

# Rows of `Cepts.of`, by target word: its cept, the next word of its cept (-1 for none), where its class starts in the
# placements.
LINK, FOLLOW, CLASS = 0, 1, 2
# By cept: its first word (-1 for none), how many it has, the sum of their positions, their centre, the nearest cepts
# with words before (0 for none) and after it (size + 1), where its word's class starts in the placements; and a list.
FIRST, COUNT, TOTAL, CENTRE, BEFORE, AFTER, ROW, LIST = 3, 4, 5, 6, 7, 8, 9, 10
ROWS = 11
# Rows of `Cepts.scores`, by cept: the placement of its first word, and of its other words.
HEAD, WITHIN = 0, 1


class Sentence(NamedTuple):
    """What one direction of the model says of a sentence pair, all as logarithms.

    `score[j, i]` is that of target word j in cept i and `fertility[i, n]` that of n words in cept i. Where `chained`
    (Model 4), `placements[r + c + g]` is that of the first word of a cept, of class c, at a distance of group g from
    the centre of the last cept, of class r; or, with r = `rest`, that of another word, at that distance from the word
    before it in the cept. The group of distance d is `groups[reach + d]`.
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


class Cepts(NamedTuple):
    """An alignment: the cept of each target word, and of each cept what its own and the next one's terms depend on."""

    of: Any
    scores: Any


class Gains(NamedTuple):
    """What each neighbour gains: `moves[j, i]` and, for j < k, `swaps[j, k]`; and the parts of which they are made.

    `add[j, i]` is what the chain gains when j enters cept i, `remove[j]` when it leaves its own, `exchange[j, k]` when
    k takes its place there. Of cepts that follow one another, `add[j, i]` and `exchange[j, k]`, where j stands in the
    first, have all that is not additive.
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
    """Room for the alignments of sentences of fewer than `width` words."""
    return Cepts(np.zeros((ROWS, width + 1), np.int64), np.zeros((2, width + 1)))


@allocating_kernel
def new_gains(width):
    """Room for the gains of sentences of fewer than `width` words."""
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
    """Make all of `cepts` from its links and return the alignment's score."""
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
