"""From bytes to word numbers: the tokens of a text are found, hashed and numbered in one pass, 8 bytes at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.kernels import kernel, piece

NEWLINE = 10
TAB = 9
BAR = 124

# FNV-1a, 64 bits, byte by byte: hashes that files hold.
HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)

# Numba makes a float of uint64 and a plain number, so all numbers that meet positions and chunks are uint64. Unsigned
# positions also save the check for negative ones, which would keep 8 bytes from being loaded at once.
ZERO, ONE, TWO, THREE, SEVEN, EIGHT, HALF, TOP_BYTE = (np.uint64(number) for number in (0, 1, 2, 3, 7, 8, 32, 56))
EVERY_BYTE = np.uint64(0x0101010101010101)
LOW_BITS = np.uint64(0x7F) * EVERY_BYTE
HIGH_BITS = np.uint64(0x80) * EVERY_BYTE
BLANKS = np.uint64(32) * EVERY_BYTE
NEWLINES = np.uint64(NEWLINE) * EVERY_BYTE
FROM_TAB = np.uint64(0x80 - 9) * EVERY_BYTE  # added to a byte below 0x80, it sets the high bit from 9 on
AFTER_RETURN = np.uint64(0x80 - 14) * EVERY_BYTE
PLACES = np.uint64(0x0001020304050607)  # times 256**k, its top byte is k

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
LONG = np.uint64(1 << 63)  # set in the key of a word of 8 bytes or more


class Words(NamedTuple):
    """Distinct words, and the hash table that finds them.

    Word `w` is `data[offsets[w]:offsets[w + 1]]` and occurs `counts[w]` times; the arrays may have room for more words.
    Each row of `table` is the key of a word and its number, or zeros where free; the next free row is taken if a row
    is not (open addressing). The number of rows is a power of two.

    The key of a word of up to 7 bytes is these bytes and, in the top byte, their number, so that equal keys are equal
    words. The key of a longer word is a hash, so that words with equal keys must be compared.
    """

    table: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    counts: NDArray[np.int64]


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
def eight_bytes(data, position):
    """The 8 bytes from `position` on as a number, the first one lowest; newlines stand for bytes after the end."""
    end = np.uint64(len(data))
    if position + EIGHT <= end:
        chunk = ZERO
        for k in range(EIGHT):
            chunk |= np.uint64(data[position + k]) << (k << THREE)
        return chunk
    chunk = NEWLINES
    while end > position:
        end -= ONE
        chunk = (chunk << EIGHT) | np.uint64(data[end])
    return chunk


@piece
def space_bits(chunk):
    """The high bit of each byte of `chunk` that is ASCII white space."""
    low = chunk & LOW_BITS
    blanks = ~((low ^ BLANKS) + LOW_BITS)
    others = (low + FROM_TAB) & ~(low + AFTER_RETURN)
    return (blanks | others) & ~chunk & HIGH_BITS


@piece
def first_row(key, table):
    """The row of `table` from which on the word with `key` is looked for."""
    return (((key ^ (key >> HALF)) * MULTIPLIER) >> HALF) & np.uint64(len(table) - 1)


@kernel
def find_row(words, key, data, start, length):
    """Row of `words.table` with the word of `length` bytes at `data[start]`, or the free row where it belongs."""
    mask = np.uint64(len(words.table) - 1)
    row = first_row(key, words.table)
    while True:
        found = words.table[row, 0]
        if found == ZERO:
            return row
        if found == key:
            if key < LONG:
                return row
            word = words.table[row, 1]
            known = np.uint64(words.offsets[word])
            if np.uint64(words.offsets[word + ONE]) - known == length:
                k = ZERO
                while k < length and words.data[known + k] == data[start + k]:
                    k += ONE
                if k == length:
                    return row
        row = (row + ONE) & mask


@piece
def add_word(words, row, key, word, data, start, length):
    """Make the word of `length` bytes at `data[start]` number `word`, in a free row."""
    words.table[row, 0] = key
    words.table[row, 1] = word
    free = np.uint64(words.offsets[word])
    for k in range(length):
        words.data[free + k] = data[start + k]
    words.offsets[word + ONE] = free + length
    words.counts[word] = 0


@kernel
def number_tokens(data, state, ids, line_ends, words, keys):
    """Number the tokens of `data` from position `state[0]` on; a new word gets the next free number.

    Parameters
    ----------
    data
        Bytes of whole lines.
    state
        Position in `data`, tokens and lines found in it so far, known words; updated.
    ids, line_ends
        Filled with the word number of each token, and the number of tokens before each newline.
    words
        The known words, as `Words`; updated. `words.data` has space for all of `data`.
    keys
        Filled with the key of each word.

    Returns
    -------
    bool
        False if `keys` or `line_ends` is full: make room in both, and call again.
    """
    size = np.uint64(len(data))
    position, tokens, lines = np.uint64(state[0]), np.uint64(state[1]), np.uint64(state[2])
    word_count = np.uint64(state[3])
    first_token = tokens
    done = True
    while position < size:
        byte = data[position]
        if is_space(byte):
            if byte == NEWLINE:
                if lines == np.uint64(len(line_ends)):
                    done = False
                    break
                line_ends[lines] = tokens
                lines += ONE
            position += ONE
            continue
        start = position
        key = ZERO
        chunk = eight_bytes(data, position)
        spaces = space_bits(chunk)
        while spaces == ZERO:
            key = (key ^ chunk) * MULTIPLIER
            key ^= key >> HALF
            position += EIGHT
            chunk = eight_bytes(data, position)
            spaces = space_bits(chunk)
        after = (spaces & (~spaces + ONE)) >> SEVEN  # the lowest bit of the first byte after the token
        last = (after * PLACES) >> TOP_BYTE
        chunk &= after - ONE
        key = chunk | (last << TOP_BYTE) if position == start else ((key ^ chunk) * MULTIPLIER) | LONG
        position += last
        length = position - start
        row = find_row(words, key, data, start, length)
        if words.table[row, 0] == ZERO:
            if word_count == np.uint64(len(keys)):
                position = start
                done = False
                break
            add_word(words, row, key, word_count, data, start, length)
            keys[word_count] = key
            word_count += ONE
        ids[tokens] = words.table[row, 1]
        tokens += ONE
    for token in range(first_token, tokens):
        words.counts[np.uint64(ids[token])] += 1
    state[0], state[1], state[2], state[3] = position, tokens, lines, word_count
    return done


@kernel
def merge_words(new, keys, ids, known, word_count, numbers, known_ids):
    """Add the words of a block to those of a text, and number the block's tokens by them.

    Parameters
    ----------
    new, keys
        The words of the block and their keys.
    ids
        Tokens, as numbers of the block's words.
    known, word_count
        The words of the text, of which there are `word_count`; updated. There is room for all new words.
    numbers, known_ids
        Filled with the number that each word and each token has in the text.

    Returns
    -------
    int
        How many words the text has now.
    """
    words = np.uint64(word_count)
    for k in range(np.uint64(len(keys))):
        start = np.uint64(new.offsets[k])
        length = np.uint64(new.offsets[k + ONE]) - start
        row = find_row(known, keys[k], new.data, start, length)
        if known.table[row, 0] == ZERO:
            add_word(known, row, keys[k], words, new.data, start, length)
            words += ONE
        word = known.table[row, 1]
        known.counts[word] += new.counts[k]
        numbers[k] = word
    for token in range(np.uint64(len(ids))):
        known_ids[token] = numbers[np.uint64(ids[token])]
    return words


@kernel
def find_words(new, keys, known, numbers):
    """Fill `numbers` with the number that each word of a block has in a text; -1 if it is new."""
    for k in range(np.uint64(len(keys))):
        start = np.uint64(new.offsets[k])
        row = find_row(known, keys[k], new.data, start, np.uint64(new.offsets[k + ONE]) - start)
        numbers[k] = -1 if known.table[row, 0] == ZERO else np.int32(known.table[row, 1])


@kernel
def enter_words(words, word_count):
    """Put the first words of `words` into its empty table, under the keys that `number_tokens` gives them."""
    for word in range(np.uint64(word_count)):
        start = np.uint64(words.offsets[word])
        length = np.uint64(words.offsets[word + ONE]) - start
        position, left, key = start, length, ZERO
        while left >= EIGHT:
            key = (key ^ eight_bytes(words.data, position)) * MULTIPLIER
            key ^= key >> HALF
            position += EIGHT
            left -= EIGHT
        chunk = eight_bytes(words.data, position) & ((ONE << (left << THREE)) - ONE)
        key = chunk | (length << TOP_BYTE) if length < EIGHT else ((key ^ chunk) * MULTIPLIER) | LONG
        row = find_row(words, key, words.data, start, length)
        words.table[row, 0] = key
        words.table[row, 1] = word


@kernel
def settle_numbers(heirs):
    """Replace each number by that of its word: heirs are earlier, and a number that is its own heir is a word."""
    words = 0
    for number in range(len(heirs)):
        heir = heirs[number]
        if heir == number:
            heirs[number] = words
            words += 1
        else:
            heirs[number] = heirs[heir]


@kernel
def refill_table(table, larger):
    """Put all rows of `table` into the empty table `larger`."""
    mask = np.uint64(len(larger) - 1)
    for k in range(np.uint64(len(table))):
        key = table[k, 0]
        if key != ZERO:
            row = first_row(key, larger)
            while larger[row, 0] != ZERO:
                row = (row + ONE) & mask
            larger[row, 0] = key
            larger[row, 1] = table[k, 1]


@kernel
def next_mark(data, position, mark):
    """The next position with a newline or the byte `mark`; the end of `data` if there is none."""
    marks = np.uint64(mark) * EVERY_BYTE
    while position < np.uint64(len(data)):
        chunk = eight_bytes(data, position)
        low = chunk & LOW_BITS
        others = ((low ^ NEWLINES) + LOW_BITS) & ((low ^ marks) + LOW_BITS)
        bits = ~(others | chunk) & HIGH_BITS
        if bits != ZERO:
            return position + ((((bits & (~bits + ONE)) >> SEVEN) * PLACES) >> TOP_BYTE)
        position += EIGHT
    return np.uint64(len(data))


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
        Filled: bytes of `source`, bytes of `target`.

    Returns
    -------
    int
        Start of the first line that does not have exactly one separator; -1 if there is none.
    """
    size = np.uint64(len(data))
    mark, width = (TAB, ONE) if by_tab else (BAR, THREE)
    source_end = target_end = start = ZERO
    failed = -1
    while start < size:
        left_end = right_start = start
        separators = 0
        end = next_mark(data, start, mark)
        while end < size and data[end] != NEWLINE:
            if by_tab or (
                end + THREE <= size
                and data[end + ONE] == BAR
                and data[end + TWO] == BAR
                and (end == start or is_space(data[end - ONE]))
                and (end + THREE == size or is_space(data[end + THREE]))
            ):
                separators += 1
                left_end, right_start = end, end + width
                end = right_start
            else:
                end += ONE
            end = next_mark(data, end, mark)
        if separators == 0:
            blank = start
            while blank < end and is_space(data[blank]):
                blank += ONE
            right_start = end
            separators += blank == end
        if separators != 1:
            failed = np.int64(start)
            break
        for k in range(left_end - start):
            source[source_end + k] = data[start + k]
        source_end += left_end - start
        source[source_end] = NEWLINE
        source_end += ONE
        for k in range(end - right_start):
            target[target_end + k] = data[right_start + k]
        target_end += end - right_start
        target[target_end] = NEWLINE
        target_end += ONE
        start = end + ONE
    counts[0], counts[1] = source_end, target_end
    return failed
