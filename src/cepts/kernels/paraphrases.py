"""Looking up words and spans in a table, and pairs of spans in a table of paraphrases."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import find_sorted
from cepts.kernels.text import HASH_PRIME, HASH_START

BLANK = np.uint64(32)


@kernel
def number_spans(data, offsets, known, numbers):
    """Fill `numbers[i, l - 1]` with the place in `known` of the span of `l` words that starts at word `i`.

    The code of a span (`cepts.phrases.tables.code_of`) is that of its words joined by blanks. A span that is unknown or
    goes beyond the sentence gets -1.
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
            numbers[start, length - 1] = find_sorted(known, 0, len(known), code ^ (code >> np.uint64(32)))


@kernel
def look_up_spans(source, target, offsets, others, marks, rule_entries, rule_rows, kinds, rows):
    """Fill `kinds` and `rows` for every pair of spans.

    Parameters
    ----------
    source, target
        Numbers of the spans from `number_spans`, flattened.
    offsets, others, marks
        The table: phrase `a` is paired with the phrases `others[offsets[a]:offsets[a + 1]]`, sorted, all with a higher
        number. The four low bits of `marks` are those of the pair (lower, higher), the four high bits those of
        (higher, lower).
    rule_entries, rule_rows
        The entries with a scored rule, sorted; and for each the rows of scores of (lower, higher) and (higher, lower).
    kinds, rows
        Filled with one row for each source span and one column for each target span: the marks of both directions
        joined, with bit 4 set where the table has only the reversed pair; and the row of scores, -1 for none.
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
            entry = find_sorted(others, offsets[lower], offsets[lower + 1], higher)
            if entry < 0:
                continue
            mark = np.int64(marks[entry])
            ahead = mark & 15
            back = mark >> 4
            if first > second:
                ahead, back = back, ahead
            kind = ahead & 7 | back & 7
            # Only the symbol [X], where neither direction has a rule with a symbol of its own.
            if (ahead & 12) != 4 and (back & 12) != 4 and kind & 4:
                kind |= 8
            if ahead == 0:
                kind |= 16
            kinds[one, two] = kind
            if kind & 4:
                rule = find_sorted(rule_entries, 0, len(rule_entries), entry)
                rows[one, two] = rule_rows[rule, 0 if first < second else 1]
