"""N-gram models as tries in flat arrays: finding entries, scoring texts, masses of classes; and as lines of ARPA files.

The arrays are those of `NGrams`; a context of -1 is the empty one, whose continuation by word `w` is entry `w`.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.numbers import MINUS, NEWLINE, POINT, TAB, ZERO, parse_number
from cepts.kernels.text import is_space

__all__ = [
    "BLOCK_DONE",
    "LONG_LINE",
    "MARK",
    "SHORT_LINE",
    "find_continuation",
    "find_entries",
    "next_context",
    "ngram_distribution",
    "ngram_prob",
    "ngram_step",
    "read_entries",
    "score_sentences",
    "trace_sentences",
    "weighted_masses",
    "write_entries",
]

BLANK, BACKSLASH = 32, 92

# Why a run over lines stopped.
BLOCK_DONE, MARK, SHORT_LINE, LONG_LINE = range(4)

DECIMALS = 10_000_000  # of the logarithms that are written: seven digits after the point
NO_LOGARITHM = -99.0  # which stands for that of zero


@kernel
def find_continuation(first, words, context, word):
    """Entry of `word` after the words of entry `context`; -1 where there is none."""
    if context < 0:
        return np.int64(word)
    low, high = first[context], first[context + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < end and words[low] == word:
        return low
    return np.int64(-1)


@kernel
def back_off(first, words, backoffs, suffixes, context, word):
    """Entry of `word` after the longest end of `context` that has it, and the weight of backing off to there."""
    weight = 1.0
    entry = find_continuation(first, words, context, word)
    while entry < 0:
        weight *= backoffs[context]
        context = suffixes[context]
        entry = find_continuation(first, words, context, word)
    return entry, weight


@kernel
def ngram_prob(first, words, probs, backoffs, suffixes, context, word):
    """P(word | context)."""
    entry, weight = back_off(first, words, backoffs, suffixes, context, word)
    return weight * probs[entry]


@kernel
def next_context(first, words, suffixes, levels_last_start, context, word):
    """The longest stored context after `word` has followed `context`.

    `levels_last_start` is the first entry of the highest order: such entries are no contexts, their suffixes are.
    """
    entry = find_continuation(first, words, context, word)
    while entry < 0:
        context = suffixes[context]
        entry = find_continuation(first, words, context, word)
    if entry >= levels_last_start:
        return suffixes[entry]
    return entry


@kernel
def ngram_step(first, words, probs, backoffs, suffixes, levels_last_start, context, word):
    """`ngram_prob` and `next_context` of one word in one search."""
    entry, weight = back_off(first, words, backoffs, suffixes, context, word)
    following = entry
    if entry >= levels_last_start:
        following = suffixes[entry]
    return weight * probs[entry], following


@kernel
def score_sentences(
    first, words, probs, backoffs, suffixes, levels_last_start, start, end_word, ids, offsets, log_probs
):
    """Fill `log_probs` with the natural logarithms of each word and of the end of each sentence.

    Parameters
    ----------
    start, end_word
        Context in which sentences start, and the word that ends them.
    ids, offsets
        Sentence `n` is ``ids[offsets[n]:offsets[n + 1]]``.
    """
    filled = 0
    for sentence in range(len(offsets) - 1):
        context = start
        for position in range(offsets[sentence], offsets[sentence + 1] + 1):
            word = end_word
            if position < offsets[sentence + 1]:
                word = np.int64(ids[position])
            prob, context = ngram_step(
                first, words, probs, backoffs, suffixes, levels_last_start, np.int64(context), word
            )
            log_probs[filled] = np.log(prob)
            filled += 1


@kernel
def ngram_distribution(first, words, probs, backoffs, suffixes, vocabulary_size, context, path, distribution):
    """Fill `distribution` with P(word | context) of every word; `path` has room for as many entries as the order."""
    length = 0
    while context >= 0:
        path[length] = context
        length += 1
        context = suffixes[context]
    for word in range(vocabulary_size):
        distribution[word] = probs[word]
    for place in range(length - 1, -1, -1):
        context = path[place]
        backoff = np.float64(backoffs[context])
        for word in range(vocabulary_size):
            distribution[word] *= backoff
        for entry in range(first[context], first[context + 1]):
            distribution[words[entry]] = probs[entry]


@kernel
def weighted_masses(first, words, probs, backoffs, suffixes, factors, masses):
    """Fill `masses` with the sum over words of P(word | context) x factor, for every context.

    The contexts are the entries below the highest order; the last of `masses` is that of the empty context. What an
    entry's own continuations add to the shorter context's mass is their probability without that which they would have
    had by backing off.
    """
    contexts = len(masses) - 1
    mass = 0.0
    for word in range(len(factors)):
        mass += np.float64(probs[word]) * factors[word]
    masses[contexts] = mass
    # Suffixes are of a lower order, so they stand before.
    for context in range(contexts):
        shorter = suffixes[context]
        backed_off, own = masses[shorter if shorter >= 0 else contexts], 0.0
        for entry in range(first[context], first[context + 1]):
            factor = np.float64(factors[words[entry]])
            backed_off -= factor * probs[suffixes[entry]]
            own += factor * probs[entry]
        masses[context] = np.float64(backoffs[context]) * backed_off + own


@kernel
def find_entries(first, words, rows, entries):
    """Fill `entries` with the entry of each n-gram of `rows`; -1 where the model does not have it."""
    for row in range(len(rows)):
        entry = np.int64(-1)
        for place in range(rows.shape[1]):
            entry = find_continuation(first, words, entry, rows[row, place])
            if entry < 0:
                break
        entries[row] = entry


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


@kernel
def trace_sentences(
    first, words, probs, backoffs, suffixes, levels_last_start, start, end_word, ids, offsets, found, contexts
):
    """Probability of each word and of the end of each sentence, and the context in which it stands.

    As `score_sentences`, whose arguments it takes; fills `found` and `contexts`.
    """
    filled = 0
    for sentence in range(len(offsets) - 1):
        context = np.int64(start)
        for position in range(offsets[sentence], offsets[sentence + 1] + 1):
            word = end_word
            if position < offsets[sentence + 1]:
                word = np.int64(ids[position])
            contexts[filled] = context
            found[filled], context = ngram_step(
                first, words, probs, backoffs, suffixes, levels_last_start, np.int64(context), word
            )
            filled += 1
