"""Lines of ARPA files: split into numbers and words, and written."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.numbers import BLANK, MINUS, NEWLINE, POINT, TAB, ZERO, parse_number
from cepts.kernels.text import is_space, skip_blanks

BACKSLASH = 92

# Why `read_entries` stopped.
BLOCK_DONE, MARK, SHORT_LINE, LONG_LINE = range(4)

DECIMALS = 10_000_000  # logarithms are written with seven digits after the point
NO_LOGARITHM = -99.0  # written for the logarithm of 0


@kernel
def skip_field(data, position):
    """End of the field that starts at `position`."""
    while position < len(data) and not is_space(data[position]):
        position += 1
    return position


@kernel
def plain_number(data, start, end):
    """The number in ``data[start:end]``; NaN where it needs exact arithmetic or is no number."""
    found, value, stop = parse_number(data, start, end)
    if found == 1 and stop == end:
        return value
    return np.float32(np.nan)


@kernel
def read_entries(data, state, order, log_probs, log_backoffs, starts, lines, tokens):
    """Split lines ``log-probability word ... word [log-backoff]`` into numbers and words; blank lines are skipped.

    Parameters
    ----------
    data
        Bytes of whole lines.
    state
        Position in `data`, lines before it, entries so far and bytes of `tokens` so far; updated.
    order
        Number of words of each entry.
    log_probs, log_backoffs, starts, lines
        Filled for each entry: its two numbers (see `plain_number`; a missing back-off is 0), where its line starts in
        `data`, and the number of the line, from 1.
    tokens
        Filled with the words, one line for each entry.

    Returns
    -------
    int
        Why it stopped: `BLOCK_DONE`, `MARK` at a line that starts with a backslash, or the fault of the line.
    """
    position, line, entry, used = state[0], state[1], state[2], state[3]
    status = BLOCK_DONE
    while position < len(data):
        end = position
        while end < len(data) and data[end] != NEWLINE:
            end += 1
        start = skip_blanks(data, position)
        if start < end:
            if data[start] == BACKSLASH:
                status = MARK
                break
            stop = skip_field(data, start)
            log_probs[entry] = plain_number(data, start, stop)
            copied = used
            for _ in range(order):
                field = skip_blanks(data, stop)
                stop = skip_field(data, field)
                if field == end:
                    status = SHORT_LINE
                for k in range(field, stop):
                    tokens[copied] = data[k]
                    copied += 1
                tokens[copied] = BLANK
                copied += 1
            field = skip_blanks(data, stop)
            log_backoffs[entry] = 0
            if field < end:
                stop = skip_field(data, field)
                log_backoffs[entry] = plain_number(data, field, stop)
                if skip_blanks(data, stop) < end:
                    status = LONG_LINE
            if status != BLOCK_DONE:
                break
            used = copied
            tokens[used - 1] = NEWLINE
            starts[entry], lines[entry] = start, line + 1
            entry += 1
        line += 1
        position = end + 1
    state[0], state[1], state[2], state[3] = position, line, entry, used
    return status


@kernel
def write_logarithm(value, out, position):
    """Write the decimal logarithm `value` with up to seven decimals; returns the position after it."""
    digits = np.int64(np.rint(abs(max(value, NO_LOGARITHM)) * DECIMALS))
    if value < 0 and digits:
        out[position] = MINUS
        position += 1
    whole, rest = digits // DECIMALS, digits % DECIMALS
    if whole >= 10:
        out[position] = ZERO + whole // 10
        position += 1
    out[position] = ZERO + whole % 10
    position += 1
    if rest:
        out[position] = POINT
        place = DECIMALS // 10
        while rest:
            position += 1
            out[position] = ZERO + rest // place
            rest %= place
            place //= 10
        position += 1
    return position


@kernel
def write_entries(start, stop, contexts, words, log_probs, log_backoffs, buffer, offsets, path, out):
    """Write the entries `start` to `stop` as lines of an ARPA file; returns their number of bytes.

    Parameters
    ----------
    contexts
        The entry of each entry without its last word; -1 for order 1.
    log_probs, log_backoffs
        Decimal logarithms of these entries; a back-off of 0 is not written.
    buffer, offsets
        Word `w` is ``buffer[offsets[w]:offsets[w + 1]]``.
    path
        Buffer for the words of one entry.
    out
        At least as long as all words, one more byte for each word and 32 for each entry.
    """
    position = 0
    order = len(path)
    for entry in range(start, stop):
        position = write_logarithm(log_probs[entry - start], out, position)
        context = entry
        for place in range(order - 1, -1, -1):
            path[place] = words[context]
            context = contexts[context]
        for place in range(order):
            out[position] = BLANK if place else TAB
            position += 1
            for k in range(offsets[path[place]], offsets[path[place] + 1]):
                out[position] = buffer[k]
                position += 1
        if log_backoffs[entry - start] != 0:
            out[position] = TAB
            position = write_logarithm(log_backoffs[entry - start], out, position + 1)
        out[position] = NEWLINE
        position += 1
    return position
