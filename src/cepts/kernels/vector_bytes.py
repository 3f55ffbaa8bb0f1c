"""Word vectors in binary formats: reading rows of word2vec, and computing the vectors of fastText words."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.numbers import BLANK, NEWLINE

# Why `binary_rows` stopped.
BLOCK_DONE, ROOM_FULL, EMPTY_WORD, LONG_WORD = range(4)

# FNV-1a, 32 bits.
HASH_START, HASH_PRIME = np.uint32(2166136261), np.uint32(16777619)


@kernel
def binary_rows(data, state, matrix_bytes, word_starts, word_ends, longest):
    """Read rows of word2vec's binary format: a word, a blank, the bytes of its numbers.

    Parameters
    ----------
    data
        Bytes that start with a row or with the newlines before it.
    state
        Position in `data` and rows so far; updated. At the end the position is that of the first incomplete row.
    matrix_bytes, word_starts, word_ends
        Filled for each row: the bytes of its numbers, and start and end of the word in `data`.
    longest
        The most bytes that a word may have.

    Returns
    -------
    int
        Why it stopped: `BLOCK_DONE`, `ROOM_FULL`, `EMPTY_WORD` or `LONG_WORD`.
    """
    rows, width = matrix_bytes.shape
    position, row = state[0], state[1]
    status = ROOM_FULL
    while row < rows:
        start = position
        while start < len(data) and data[start] == NEWLINE:
            start += 1
        end = start
        while end < len(data) and data[end] != BLANK and end - start <= longest:
            end += 1
        if end - start > longest:
            status = LONG_WORD
            break
        if end + 1 + width > len(data):
            status = BLOCK_DONE
            break
        if end == start:
            status = EMPTY_WORD
            break
        for k in range(width):
            matrix_bytes[row, k] = data[end + 1 + k]
        word_starts[row], word_ends[row] = start, end
        row += 1
        position = end + 1 + width
    state[0], state[1] = position, row
    return status


@kernel
def subwords(words, offsets, shortest, longest, buckets, first_word, first_bucket, rows, row_offsets):
    """The rows of a fastText matrix whose mean is the vector of each word: its own row, then those of its n-grams.

    The n-grams of ``<word>`` with `shortest` to `longest` characters share `buckets` rows by their hash.

    Parameters
    ----------
    words, offsets
        Word `w` is ``words[offsets[w]:offsets[w + 1]]``, with ``<`` and ``>`` around it; an empty one has no n-grams.
    first_word, first_bucket
        Row of the first word, and of the first bucket.
    rows, row_offsets
        Filled: word `w` has ``rows[row_offsets[w]:row_offsets[w + 1]]``.
    """
    count = 0
    for word in range(len(offsets) - 1):
        start, end = offsets[word], offsets[word + 1]
        rows[count] = first_word + word
        count += 1
        for first in range(start, end):
            if words[first] & 0xC0 == 0x80:
                continue
            code = HASH_START
            position = first
            length = 1
            while position < end and length <= longest:
                while True:
                    byte = np.uint32(words[position])
                    if byte >= np.uint32(128):
                        byte |= np.uint32(0xFFFFFF00)  # fastText extends bytes with their sign
                    code = np.uint32((code ^ byte) * HASH_PRIME)
                    position += 1
                    if position == end or words[position] & 0xC0 != 0x80:
                        break
                if length >= shortest and not (length == 1 and (first == start or position == end)):
                    rows[count] = first_bucket + np.int64(code % np.uint32(buckets))
                    count += 1
                length += 1
        row_offsets[word + 1] = count


@kernel
def mean_of_rows(rows, offsets, means):
    """Mean of each run of `rows`, summed in float32 and in order, as in fastText."""
    for run in range(len(offsets) - 1):
        start, end = offsets[run], offsets[run + 1]
        mean = means[run]
        mean[:] = 0
        for row in range(start, end):
            for column in range(len(mean)):
                mean[column] += rows[row, column]
        share = np.float32(1.0 / (end - start))
        for column in range(len(mean)):
            mean[column] *= share
