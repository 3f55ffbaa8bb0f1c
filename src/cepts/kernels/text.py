"""From bytes to word numbers: the tokens of a text are found, hashed and numbered in one pass."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

NEWLINE = 10
TAB = 9
BAR = 124

# FNV-1a, 64 bits: its one multiplication for each byte takes no longer than the scan, and words are short.
HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)


@kernel
def is_space(byte):
    """Whether `byte` is ASCII white space: blank, tab, newline, vertical tab, form feed, carriage return."""
    return byte <= 32 and (byte == 32 or 9 <= byte <= 13)


@kernel
def skip_blanks(data, position):
    """The next position that is a newline or not white space."""
    while position < len(data) and data[position] != NEWLINE and is_space(data[position]):
        position += 1
    return position


@kernel
def number_tokens(data, state, ids, line_ends, table, word_hashes, word_offsets, word_bytes):
    """Number the tokens of `data` from position `state[0]` on; a new word gets the next free number.

    Parameters
    ----------
    data
        Bytes of whole lines.
    state
        Position in `data`, tokens and lines found in it so far, known words; updated.
    ids, line_ends
        Filled with the word number of each token, and the number of tokens before each newline.
    table
        Hash table with open addressing: word numbers, -1 for free slots; its length is a power of two.
    word_hashes, word_offsets, word_bytes
        The known words. `word_bytes` has space for all of `data` after them.

    Returns
    -------
    bool
        False if `word_hashes` is full: enlarge it and call again.
    """
    position, tokens, lines, words = state[0], state[1], state[2], state[3]
    mask = np.uint64(len(table) - 1)
    done = True
    while position < len(data):
        byte = data[position]
        if is_space(byte):
            position += 1
            if byte == NEWLINE:
                line_ends[lines] = tokens
                lines += 1
            continue
        start = position
        code = HASH_START
        while position < len(data) and not is_space(data[position]):
            code = (code ^ np.uint64(data[position])) * HASH_PRIME
            position += 1
        code ^= code >> np.uint64(32)
        length = position - start
        slot = code & mask
        while True:
            word = table[slot]
            if word < 0:
                break
            if word_hashes[word] == code:
                known = word_offsets[word]
                if word_offsets[word + 1] - known == length:
                    k = 0
                    while k < length and word_bytes[known + k] == data[start + k]:
                        k += 1
                    if k == length:
                        break
            slot = (slot + np.uint64(1)) & mask
        if word < 0:
            if words == len(word_hashes):
                position = start
                done = False
                break
            word = words
            table[slot] = word
            word_hashes[word] = code
            free = word_offsets[word]
            for k in range(length):
                word_bytes[free + k] = data[start + k]
            word_offsets[word + 1] = free + length
            words += 1
        ids[tokens] = word
        tokens += 1
    state[0], state[1], state[2], state[3] = position, tokens, lines, words
    return done


@kernel
def refill_table(word_hashes, table):
    """Put all words into the empty `table`."""
    mask = np.uint64(len(table) - 1)
    for word in range(len(word_hashes)):
        slot = word_hashes[word] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = word


@kernel
def split_sides(data, by_tab, source, target, counts):
    """Split each line of `data` at its separator, into a line of `source` and a line of `target`.

    The separator is a tab or, where `by_tab` is false, a token ``|||``. A blank line has two empty sides.

    Parameters
    ----------
    data
        Bytes of whole lines.
    source, target
        Filled with the sides, each with a newline; at least one byte longer than `data`.
    counts
        Filled: bytes of `source`, bytes of `target`, lines.

    Returns
    -------
    int
        Start of the first line that does not have exactly one separator; -1 if there is none.
    """
    source_end = target_end = lines = start = 0
    failed = -1
    while start < len(data):
        end = start
        left_end = right_start = start
        separators = 0
        blank = True
        while end < len(data) and data[end] != NEWLINE:
            byte = data[end]
            if by_tab:
                if byte == TAB:
                    separators += 1
                    left_end, right_start = end, end + 1
            elif (
                byte == BAR
                and end + 2 < len(data)
                and data[end + 1] == BAR
                and data[end + 2] == BAR
                and (end == start or is_space(data[end - 1]))
                and (end + 3 == len(data) or is_space(data[end + 3]))
            ):
                separators += 1
                left_end, right_start = end, end + 3
                blank = False
                end += 3
                continue
            blank = blank and is_space(byte)
            end += 1
        if separators != 1 and not (blank and separators == 0):
            failed = start
            break
        for k in range(start, left_end):
            source[source_end] = data[k]
            source_end += 1
        for k in range(right_start, end):
            target[target_end] = data[k]
            target_end += 1
        source[source_end] = NEWLINE
        target[target_end] = NEWLINE
        source_end += 1
        target_end += 1
        lines += 1
        start = end + 1
    counts[0], counts[1], counts[2] = source_end, target_end, lines
    return failed
