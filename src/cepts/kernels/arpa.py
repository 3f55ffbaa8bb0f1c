"""The lines of ARPA files: cut into numbers and words, and written."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.numbers import MINUS, NEWLINE, POINT, TAB, ZERO, parse_number
from cepts.kernels.text import is_space

BLANK, BACKSLASH = 32, 92

# Why a run over lines stopped.
BLOCK_DONE, MARK, SHORT_LINE, LONG_LINE = range(4)

DECIMALS = 10_000_000  # of the logarithms that are written: seven digits after the point
NO_LOGARITHM = -99.0  # which stands for that of zero


@kernel
def skip_spaces(data, position, end):
    """Where the first byte from `position` on stands that is no white space."""
    while position < end and is_space(data[position]):
        position += 1
    return position


@kernel
def skip_field(data, position, end):
    """Where the field ends that stands at `position`."""
    while position < end and not is_space(data[position]):
        position += 1
    return position


@kernel
def plain_number(data, start, end):
    """The number that is all of ``data[start:end]``, or NaN where it takes more than a kernel to tell."""
    found, value, stop = parse_number(data, start, end)
    if found == 1 and stop == end:
        return value
    return np.float32(np.nan)


@kernel
def read_entries(data, state, order, log_probs, log_backoffs, starts, lines, tokens):
    """Cut lines ``log-probability word ... word [log-backoff]`` into numbers and words; blank lines are passed over.

    Parameters
    ----------
    data
        Bytes of whole lines.
    state
        Position in `data`, lines before it, entries and bytes of `tokens` filled: read and filled.
    order
        Words of each entry.
    log_probs, log_backoffs, starts, lines
        Filled for each entry: its numbers (NaN for what is not plainly one; a back-off that is not there is 0), where
        its line starts in `data`, and that line's number from 1.
    tokens
        Filled with the words, an entry a line.

    Returns
    -------
    int
        Why it stopped: `BLOCK_DONE`, `MARK` at a line that starts with a backslash, or what is wrong with the line.
    """
    position, line, entry, used = state[0], state[1], state[2], state[3]
    status = BLOCK_DONE
    while position < len(data):
        end = position
        while end < len(data) and data[end] != NEWLINE:
            end += 1
        start = skip_spaces(data, position, end)
        if start < end:
            if data[start] == BACKSLASH:
                status = MARK
                break
            stop = skip_field(data, start, end)
            log_probs[entry] = plain_number(data, start, stop)
            copied = used
            for _ in range(order):
                field = skip_spaces(data, stop, end)
                stop = skip_field(data, field, end)
                if field == end:
                    status = SHORT_LINE
                for k in range(field, stop):
                    tokens[copied] = data[k]
                    copied += 1
                tokens[copied] = BLANK
                copied += 1
            field = skip_spaces(data, stop, end)
            log_backoffs[entry] = 0
            if field < end:
                stop = skip_field(data, field, end)
                log_backoffs[entry] = plain_number(data, field, stop)
                if skip_spaces(data, stop, end) < end:
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
    """Write the decimal logarithm `value`, with seven digits after the point; returns the position after it."""
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
    """Write the entries `start` to `stop` as lines of an ARPA file; returns how many bytes they are.

    Parameters
    ----------
    contexts
        The entry without its last word; -1 for order 1.
    log_probs, log_backoffs
        Decimal logarithms of the entries to be written; a back-off of 0 is left out.
    buffer, offsets
        Word `w` is ``buffer[offsets[w]:offsets[w + 1]]``.
    path
        Room for the words of an entry, as many as their order.
    out
        Room for the words with a byte each, and for 32 more an entry.
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
