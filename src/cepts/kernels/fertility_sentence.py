"""The scores of Models 3 and 4 for one direction of a sentence pair, from the parameters of both directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel, piece
from cepts.kernels.fertility import CLASS, LINK, ROW, SentenceScores

HALVE = np.log(0.5)


class Shard(NamedTuple):
    """Sentence pairs and all parameters; these and the block's lexicon are logarithms.

    For each token, `source_words` and `target_words` are rows of the fertilities, -1 for an unknown word. The last row
    of the fertilities is for unknown words; the last column is for that fertility and all higher ones, whose
    probability halves with each further word. `placements[direction, a, b, g]` (Model 4) is for a last cept of class a
    and a word of class b; after the classes, a has one index for the start of a sentence and one for later words of the
    same cept. `displacements[direction, bucket, g]` are those of Model 3. The climb starts from the alignments in
    `source_links` and `target_links`.
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


class FertilityRoom(NamedTuple):
    """Buffers for one sentence pair in one direction."""

    score: Any
    fertility: Any
    log_factorials: Any


@allocating_kernel
def new_room(width):
    """Buffers for sentences with fewer than `width` words."""
    log_factorials = np.zeros(width + 2)
    for n in range(1, width + 2):
        log_factorials[n] = log_factorials[n - 1] + np.log(n)
    return FertilityRoom(np.zeros((width, width)), np.zeros((width, width + 2)), log_factorials)


@kernel
def diagonal_place(i, size, length):
    """The target position on the diagonal beside cept i (1 to size)."""
    return (2 * i - 1) * length // (2 * size)


@kernel
def length_bucket(length, buckets):
    """Bucket of a length in words: 1 to 8, 9 to 16, 17 to 32, ...; the last is for all longer ones."""
    bucket = 0
    while bucket < buckets - 1 and length > 8 << bucket:
        bucket += 1
    return bucket


@piece
def log_fertility(known, row, n):
    """Log-probability of n words; the last known one and all higher ones share theirs, which halves with each word."""
    most = known.shape[1] - 1
    value = np.float64(known[row, min(n, most)])
    return value + (n - most + 1) * HALVE if n >= most else value


@piece
def log_null_fertility(log_factorials, length, n, null_prob):
    """Log-probability that null has n of `length` words."""
    if 2 * n > length:
        return -np.inf
    ways = log_factorials[length - n] - log_factorials[n] - log_factorials[length - 2 * n]
    return ways + n * np.log(null_prob) + (length - 2 * n) * np.log(1.0 - null_prob)


@allocating_kernel
def _fill(room, cepts, shard, direction, size, length, words, null, source_classes, target_classes):
    """The scores of a sentence; `room.score` already has the lexicon entries of all links but those of null."""
    known_fertility = shard.source_fertility if direction == 0 else shard.target_fertility
    placements, displacements = shard.placements[direction], shard.displacements[direction]
    chained, groups, reach = shard.chained, shard.groups, shard.reach
    score, fertility, of = room.score, room.fertility, cepts.of
    rows, columns, width = placements.shape
    for j in range(length):
        score[j, 0] = null[j]
        of[CLASS, j] = target_classes[j] * width
    for i in range(size):
        row = words[i] if words[i] >= 0 else known_fertility.shape[0] - 1
        for n in range(length + 1):
            fertility[i + 1, n] = log_fertility(known_fertility, row, n)
            if not chained:
                fertility[i + 1, n] += room.log_factorials[n]
        fertility[i + 1, length + 1] = -np.inf
        of[ROW, i + 1] = source_classes[i] * columns * width
    of[ROW, 0] = (rows - 2) * columns * width
    for n in range(length + 2):
        fertility[0, n] = log_null_fertility(room.log_factorials, length, n, shard.null_prob)
    if not chained:
        bucket = length_bucket(length, displacements.shape[0])
        for i in range(1, size + 1):
            place = diagonal_place(i, size, length)
            for j in range(length):
                score[j, i] += displacements[bucket, groups[reach + j - place]]
    rest = (rows - 1) * columns * width
    flat = placements.reshape(rows * columns * width)
    return SentenceScores(chained, size, length, score, fertility, flat, rest, groups, reach)


@kernel
def start_from(links, cepts, sentence):
    """Start from the alignment `links` (-1 for null); where too many words are null, link those that lose least."""
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
    """The scores of a pair in one direction, its links in the shard, and the rows of its source words.

    The alignment from which to start is copied to `cepts`.
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
