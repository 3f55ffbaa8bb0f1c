"""Numbers of words and spans in a table, and the pairs of spans that a table of paraphrases has."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.text import HASH_PRIME, HASH_START

BLANK = np.uint64(32)


@piece
def find_code(known, code):
    """Place of `code` in the sorted array `known`, or -1."""
    low = 0
    high = len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < len(known) and known[low] == code:
        return low
    return -1


@kernel
def number_spans(data, offsets, known, numbers):
    """Fill `numbers[i, l - 1]` with the place in `known` of the span of `l` words from `i` on.

    The code of a span (`cepts.phrases.tables.code_of`) is that of its words with one blank between them. -1 stands for
    a span that is not known or that leaves the sentence.
    """
    words, longest = numbers.shape
    for start in range(words):
        code = HASH_START
        for length in range(1, longest + 1):
            if start + length > words:
                numbers[start, length - 1] = -1
                continue
            if length > 1:
                code = (code ^ BLANK) * HASH_PRIME
            for place in range(offsets[start + length - 1], offsets[start + length]):
                code = (code ^ np.uint64(data[place])) * HASH_PRIME
            numbers[start, length - 1] = find_code(known, code ^ (code >> np.uint64(32)))


@kernel
def look_up_spans(source, target, offsets, others, marks, rule_entries, rule_rows, kinds, rows):
    """Fill `kinds` and `rows` for every pair of spans.

    Parameters
    ----------
    source, target
        Numbers of the spans, as `number_spans` gives them, flat.
    offsets, others, marks
        The pairs: `others[offsets[a]:offsets[a + 1]]` are the sides, sorted, that stand with side `a` and have a higher
        number. The four low bits of `marks` say how the pair stands as (lower, higher), the four high ones how it
        stands as (higher, lower).
    rule_entries, rule_rows
        The entries with a scored rule, sorted; and the rows of scores of each, as (lower, higher), as (higher, lower).
    kinds, rows
        Filled, with a row for each source span and a column for each target span: the marks of both directions
        together, with bit 4 where the table has only the reversed pair; and the row of scores, -1 where there is none.
    """
    for one in range(len(source)):
        for two in range(len(target)):
            kinds[one, two] = 0
            rows[one, two] = -1
        first = source[one]
        if first < 0:
            continue
        for two in range(len(target)):
            second = target[two]
            if second < 0 or second == first:
                continue
            lower = first if first < second else second
            higher = second if first < second else first
            low = offsets[lower]
            end = offsets[lower + 1]
            high = end
            while low < high:
                middle = (low + high) // 2
                if others[middle] < higher:
                    low = middle + 1
                else:
                    high = middle
            if low == end or others[low] != higher:
                continue
            mark = np.int64(marks[low])
            ahead = mark & 15
            back = mark >> 4
            if first > second:
                ahead, back = back, ahead
            kind = ahead & 7 | back & 7
            # [X] alone only where no way round has a rule with a symbol of its own
            if (ahead & 12) != 4 and (back & 12) != 4 and kind & 4:
                kind |= 8
            if ahead == 0:
                kind |= 16
            kinds[one, two] = kind
            if kind & 4:
                rule = find_code(rule_entries, low)
                rows[one, two] = rule_rows[rule, 0 if first < second else 1]
