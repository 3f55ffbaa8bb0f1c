"""The best alignments of Models 3 and 4 that moves and swaps lead to, best first.

The list starts with the alignment that the climb reaches. Again and again, the best alignment of the list that is not
yet *opened* is opened: its neighbours join the list, and the worst are dropped once it is full. The search ends when
all alignments of the list are open.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel, piece
from cepts.kernels.fertility import FIRST_CEPT, LINK, NULL, new_cepts, new_gains, settle
from cepts.kernels.fertility_gains import climb, fill_gains, tabulate
from cepts.kernels.fertility_sentence import new_room, open_pair


class AlignmentHeap(NamedTuple):
    """The best alignments so far: `heap` has their entries in the other arrays, the worst first.

    `used[0]` entries are in use. An alignment has a score, the sum of its marks, whether it is opened, and the cept of
    each target word.
    """

    used: Any
    heap: Any
    scores: Any
    marks: Any
    opened: Any
    alignments: Any


@kernel
def _mark(j, i):
    """A hash of the link of word j to cept i; the sum of these identifies an alignment (splitmix64)."""
    number = np.uint64(j) * np.uint64(0x100000001) + np.uint64(i) + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _sift(heap, scores, place, entries):
    """Restore the heap, whose root is the worst entry, below `place`."""
    while True:
        least = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < entries and scores[heap[child]] < scores[heap[least]]:
                least = child
        if least == place:
            return
        heap[place], heap[least] = heap[least], heap[place]
        place = least


@piece
def _worst(best):
    """The score that a new alignment must exceed."""
    return best.scores[best.heap[0]] if best.used[0] == len(best.heap) else -np.inf


@kernel
def _offer(score, mark, of, length, best):
    """Add the alignment in `of`, with this score and mark, to the list; returns its entry, or -1 if it is listed."""
    heap, scores = best.heap, best.scores
    entries = best.used[0]
    for entry in range(entries):
        if best.marks[entry] == mark:
            return -1
    if entries < len(heap):
        entry = entries
        best.used[0] = entries + 1
        scores[entry] = score
        heap[entry] = entry
        place = entry
        while place and scores[heap[place]] < scores[heap[(place - 1) // 2]]:
            heap[place], heap[(place - 1) // 2] = heap[(place - 1) // 2], heap[place]
            place = (place - 1) // 2
    else:
        entry = heap[0]
        scores[entry] = score
        _sift(heap, scores, NULL, len(heap))
    best.marks[entry] = mark
    best.opened[entry] = False
    for j in range(length):
        best.alignments[entry, j] = of[LINK, j]
    return entry


@kernel
def best_alignments(cepts, sentence, gains, best):
    """Fill the list, starting from the alignment in `cepts`."""
    of, length = cepts.of, sentence.length
    best.used[0] = 0
    score = climb(cepts, sentence, gains)
    mark = np.uint64(0)
    for j in range(length):
        mark += _mark(j, of[LINK, j])
    _offer(score, mark, of, length, best)
    while True:
        entry = -1
        for other in range(best.used[0]):
            if not best.opened[other] and (entry < 0 or best.scores[other] > best.scores[entry]):
                entry = other
        if entry < 0:
            return
        for j in range(length):
            of[LINK, j] = best.alignments[entry, j]
        mark = best.marks[entry]
        score = settle(cepts, sentence)
        best.opened[entry] = True
        tabulate(cepts, sentence, gains, FIRST_CEPT, sentence.size)
        fill_gains(cepts, sentence, gains)
        for j in range(length):
            i = of[LINK, j]
            without = mark - _mark(j, i)
            for to in range(sentence.size + 1):
                gain = gains.moves[j, to]
                if score + gain > _worst(best):
                    entry = _offer(score + gain, without + _mark(j, to), of, length, best)
                    if entry >= 0:
                        best.alignments[entry, j] = to
            for k in range(j + 1, length):
                gain = gains.swaps[j, k]
                if score + gain > _worst(best):
                    to = of[LINK, k]
                    swapped = without + _mark(j, to) - _mark(k, to) + _mark(k, i)
                    entry = _offer(score + gain, swapped, of, length, best)
                    if entry >= 0:
                        best.alignments[entry, j] = to
                        best.alignments[entry, k] = i


@allocating_kernel
def fertility_nbest(shard, direction, count, found, log_probabilities, positions):
    """Lists of at most `count` alignments of all pairs of a shard in one direction.

    `found[pair]` receives the length of the list. The lists follow one another in `log_probabilities` and `positions`
    (-1 for null), each with its best alignment first. Returns how much of these two is used.
    """
    width = shard.longest + 2
    room = new_room(width)
    cepts = new_cepts(width)
    gains = new_gains(width)
    heap, scores = np.zeros(count, np.int64), np.zeros(count)
    marks, opened = np.zeros(count, np.uint64), np.zeros(count, np.bool_)
    best = AlignmentHeap(np.zeros(1, np.int64), heap, scores, marks, opened, np.zeros((count, width), np.int64))
    used, used_positions = 0, 0
    for pair in range(len(shard.block.source_offsets) - 1):
        size = shard.block.source_offsets[pair + 1] - shard.block.source_offsets[pair]
        if size == 0 or shard.block.target_offsets[pair + 1] == shard.block.target_offsets[pair]:
            continue
        sentence, _, _ = open_pair(shard, direction, pair, room, cepts)
        length = sentence.length
        best_alignments(cepts, sentence, gains, best)
        listed = best.used[0]
        found[pair] = listed
        # The heap has the worst first.
        for place in range(listed - 1, -1, -1):
            entry = heap[0]
            heap[0] = heap[place]
            _sift(heap, scores, NULL, place)
            log_probabilities[used + place] = scores[entry]
            for j in range(length):
                positions[used_positions + place * length + j] = best.alignments[entry, j] - 1
        used += listed
        used_positions += listed * length
    return used, used_positions
