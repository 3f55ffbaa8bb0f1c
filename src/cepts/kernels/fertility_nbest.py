"""The best alignments of Models 3 and 4 that moves and swaps lead to, best first.

From the climbed alignment on, the best alignment found whose neighbours are not yet known is *opened*: its neighbours
join the list, from which the worst fall out once it is full. It ends when every alignment of the list is open.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel
from cepts.kernels.fertility import FIRST_CEPT, LINK, NULL, new_cepts, new_gains, settle
from cepts.kernels.fertility_gains import climb, fill_gains, tabulate
from cepts.kernels.fertility_sentence import new_room, open_pair


@kernel
def _mark(j, i):
    """A number for the link of word j to cept i, such that sums of them tell alignments apart (splitmix64)."""
    number = np.uint64(j) * np.uint64(0x100000001) + np.uint64(i) + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _sift(heap, scores, place, entries):
    """Let the entry at `place` of a heap whose root is the worst sink to where it belongs."""
    while True:
        least = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < entries and scores[heap[child]] < scores[heap[least]]:
                least = child
        if least == place:
            return
        heap[place], heap[least] = heap[least], heap[place]
        place = least


@kernel
def _offer(score, mark, room, heap, scores, marks, opened):
    """The entry that an alignment of this score and mark takes, or -1 if it is listed; `room[0]` are taken so far."""
    entries, count = room[0], len(heap)
    for entry in range(entries):
        if marks[entry] == mark:
            return -1
    if entries < count:
        entry = entries
        room[0] = entries + 1
        scores[entry] = score
        heap[entry] = entry
        place = entry
        while place and scores[heap[place]] < scores[heap[(place - 1) // 2]]:
            heap[place], heap[(place - 1) // 2] = heap[(place - 1) // 2], heap[place]
            place = (place - 1) // 2
    else:
        entry = heap[0]
        scores[entry] = score
        _sift(heap, scores, NULL, count)
    marks[entry] = mark
    opened[entry] = False
    return entry


@allocating_kernel
def best_alignments(cepts, sentence, gains, room, heap, scores, marks, opened, alignments):
    """Fill the list from the alignment that `cepts` holds; returns how many alignments it has.

    `alignments[entry]` are the cepts of the target words; entries stand in no order.
    """
    of = cepts.of
    length, count = sentence.length, len(heap)
    room[0] = 0
    score = climb(cepts, sentence, gains)
    mark = np.uint64(0)
    for j in range(length):
        mark += _mark(j, of[LINK, j])
    entry = _offer(score, mark, room, heap, scores, marks, opened)
    alignments[entry, :length] = of[LINK, :length]
    while True:
        entry = -1
        for other in range(room[0]):
            if not opened[other] and (entry < 0 or scores[other] > scores[entry]):
                entry = other
        if entry < 0:
            return room[0]
        of[LINK, :length] = alignments[entry, :length]
        mark = marks[entry]
        score = settle(cepts, sentence)
        opened[entry] = True
        tabulate(cepts, sentence, gains, FIRST_CEPT, sentence.size)
        fill_gains(cepts, sentence, gains)
        for j in range(length):
            i = of[LINK, j]
            without = mark - _mark(j, i)
            for to in range(sentence.size + 1):
                gain = gains.moves[j, to]
                if score + gain > (scores[heap[0]] if room[0] == count else -np.inf):
                    entry = _offer(score + gain, without + _mark(j, to), room, heap, scores, marks, opened)
                    if entry >= 0:
                        alignments[entry, :length] = of[LINK, :length]
                        alignments[entry, j] = to
            for k in range(j + 1, length):
                gain = gains.swaps[j, k]
                if score + gain > (scores[heap[0]] if room[0] == count else -np.inf):
                    to = of[LINK, k]
                    swapped = without + _mark(j, to) - _mark(k, to) + _mark(k, i)
                    entry = _offer(score + gain, swapped, room, heap, scores, marks, opened)
                    if entry >= 0:
                        alignments[entry, :length] = of[LINK, :length]
                        alignments[entry, j] = to
                        alignments[entry, k] = i


@allocating_kernel
def fertility_nbest(shard, direction, count, found, log_probabilities, positions):
    """Lists of at most `count` alignments of all pairs of a shard in one direction.

    `found[pair]` receives the length of the list; the lists stand end to end in `log_probabilities` and `positions`,
    the best first, -1 for null. Returns how much of the two is used.
    """
    width = shard.longest + 2
    room = new_room(width)
    cepts = new_cepts(width)
    gains = new_gains(width)
    entries = np.zeros(1, np.int64)
    heap = np.zeros(count, np.int64)
    scores = np.zeros(count)
    marks = np.zeros(count, np.uint64)
    opened = np.zeros(count, np.bool_)
    alignments = np.zeros((count, width), np.int64)
    used, used_positions = 0, 0
    for pair in range(len(shard.block.source_offsets) - 1):
        size = shard.block.source_offsets[pair + 1] - shard.block.source_offsets[pair]
        if size == 0 or shard.block.target_offsets[pair + 1] == shard.block.target_offsets[pair]:
            continue
        sentence, _, _ = open_pair(shard, direction, pair, room, cepts)
        length = sentence.length
        listed = best_alignments(cepts, sentence, gains, entries, heap, scores, marks, opened, alignments)
        found[pair] = listed
        # The heap gives the worst first.
        for place in range(listed - 1, -1, -1):
            entry = heap[0]
            heap[0] = heap[place]
            _sift(heap, scores, NULL, place)
            log_probabilities[used + place] = scores[entry]
            for j in range(length):
                positions[used_positions + place * length + j] = alignments[entry, j] - 1
        used += listed
        used_positions += listed * length
    return used, used_positions
