"""N-gram models as tries in flat arrays: finding entries, scoring texts, masses of classes of words.

The arrays are those of `NGrams`; a context of -1 is the empty one, whose continuation by word `w` is entry `w`.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


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
def ngram_step(first, words, probs, backoffs, suffixes, levels_last_start, context, word):
    """P(word | context), and the longest stored context after the word.

    The probability is that of the longest context that has the word among its continuations. `levels_last_start` is
    the first entry of the highest order: such entries are no contexts, their suffixes are.
    """
    weight = 1.0
    entry = find_continuation(first, words, context, word)
    while entry < 0:
        weight *= backoffs[context]
        context = suffixes[context]
        entry = find_continuation(first, words, context, word)
    following = entry
    if entry >= levels_last_start:
        following = suffixes[entry]
    return weight * probs[entry], following


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
def trace_sentences(
    first, words, probs, backoffs, suffixes, levels_last_start, start, end_word, ids, offsets, found, contexts
):
    """Probability of each word and of the end of each sentence, to `found`, and the context in which it stands.

    Parameters
    ----------
    start, end_word
        Context in which sentences start, and the word that ends them.
    ids, offsets
        Sentence `n` is ``ids[offsets[n]:offsets[n + 1]]``.
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
