"""What Models 3 and 4 say of a sentence pair in one direction, gathered from the parameters of both directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel
from cepts.kernels.fertility import CLASS, LINK, ROW, Sentence


class Shard(NamedTuple):
    """Sentence pairs and all parameters, the latter as logarithms; so is the block's lexicon.

    `source_words` and `target_words` are rows of the fertilities, -1 for an unknown
    word, and the classes are by token too. The fertilities have a last row for unknown words; their last column is for
    that fertility or a higher one, which is half as likely with each word more. `placements[direction, a, b, g]` of
    Model 4 is for a last cept of class a and a word of class b; after the classes come the beginning of the sentence
    and, for a, the other words of the same cept. `displacements[direction, bucket, g]` are those of Model 3.
    `source_links` and `target_links` are the alignments from which to start.
    """

    block: Any
    source_words: Any
    target_words: Any
    source_classes: Any
    target_classes: Any
    source_fertility: Any
    target_fertility: Any
    placements: Any
    displacements: Any
    chained: Any
    groups: Any
    reach: Any
    null_prob: Any
    longest: Any
    source_links: Any
    target_links: Any


class Room(NamedTuple):
    """Buffers for one sentence pair in one direction."""

    score: Any
    fertility: Any
    log_factorials: Any


@allocating_kernel
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


@allocating_kernel
def _fill(room, cepts, shard, direction, size, length, words, null, source_classes, target_classes):
    """All that the model says of a sentence of whose links, but for null, `room.score` has the lexicon's part."""
    known_fertility = shard.source_fertility if direction == 0 else shard.target_fertility
    placements, displacements = shard.placements[direction], shard.displacements[direction]
    chained, groups, reach = shard.chained, shard.groups, shard.reach
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
    log_null, log_real = np.log(shard.null_prob), np.log(1.0 - shard.null_prob)
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


@allocating_kernel
def open_pair(shard, direction, pair, room, cepts):
    """The sentence of a pair in a direction, the alignment from which it starts, and the rows of its source words.

    The alignment is also put into `cepts`.
    """
    block = shard.block
    source, end_source = block.source_offsets[pair], block.source_offsets[pair + 1]
    target, end_target = block.target_offsets[pair], block.target_offsets[pair + 1]
    size, length = end_source - source, end_target - target
    first = block.cell_offsets[pair]
    for i in range(size):
        for j in range(length):
            entry = block.lexicon[block.cells[first + i * length + j], direction]
            if direction == 0:
                room.score[j, i + 1] = entry
            else:
                room.score[i, j + 1] = entry
    words = shard.source_words[source:end_source]
    classes = shard.source_classes[source:end_source]
    null = block.target_null[target:end_target]
    other_classes = shard.target_classes[target:end_target]
    links = shard.target_links[target:end_target]
    if direction == 1:
        size, length = length, size
        words, null = shard.target_words[target:end_target], block.source_null[source:end_source]
        classes, other_classes = other_classes, classes
        links = shard.source_links[source:end_source]
    sentence = _fill(room, cepts, shard, direction, size, length, words, null, classes, other_classes)
    start_from(links, cepts, sentence)
    return sentence, links, words
