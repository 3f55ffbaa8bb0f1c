"""N-gram models as tries in flat arrays: finding entries, scoring texts, masses of classes of words.

A context is an entry, or -1 for the empty context, whose continuation by word `w` is entry `w`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import find_sorted


class Trie(NamedTuple):
    """The arrays of `cepts.data.NGrams`; the first `contexts` entries, those below the highest order, are contexts."""

    first: Any
    words: Any
    probs: Any
    backoffs: Any
    suffixes: Any
    contexts: Any


@kernel
def find_continuation(first, words, context, word):
    """Entry of `word` after the words of entry `context`; -1 where there is none."""
    if context < 0:
        return np.int64(word)
    return find_sorted(words, first[context], first[context + 1], word)


@kernel
def link_suffixes(start, stop, first, words, suffixes):
    """Fill `suffixes` for the continuations of the entries `start` to `stop`, whose own suffixes are known.

    An n-gram without its first word is an entry, too: the one that continues the suffix of its context by its word.
    """
    for context in range(start, stop):
        low = first[suffixes[context]]
        high = first[suffixes[context] + 1]
        for entry in range(first[context], first[context + 1]):
            suffixes[entry] = find_sorted(words, low, high, words[entry])
            low = suffixes[entry] + 1


@kernel
def ngram_step(first, words, probs, backoffs, suffixes, contexts, context, word):
    """P(word | context), and the longest stored context after the word; the first arguments are those of `Trie`.

    The probability comes from the longest suffix of the context that has the word among its continuations, times the
    back-off weights on the way there.
    """
    weight = 1.0
    entry = find_continuation(first, words, context, word)
    while entry < 0:
        weight *= backoffs[context]
        context = suffixes[context]
        entry = find_continuation(first, words, context, word)
    following = entry
    if entry >= contexts:
        following = suffixes[entry]
    return weight * probs[entry], following


@kernel
def trace_suffixes(trie, context, path):
    """Fill `path` with the context and its ever shorter suffixes, but for the empty one; returns their number."""
    length = 0
    while context >= 0:
        path[length] = context
        length += 1
        context = trie.suffixes[context]
    return length


@kernel
def ngram_distribution(trie, context, path, distribution):
    """Fill `distribution` with P(word | context) of every word; `path` is a buffer as long as the model's order."""
    probs = trie.probs
    for word in range(len(distribution)):
        distribution[word] = probs[word]
    for place in range(trace_suffixes(trie, context, path) - 1, -1, -1):
        context = path[place]
        backoff = np.float64(trie.backoffs[context])
        for word in range(len(distribution)):
            distribution[word] *= backoff
        for entry in range(trie.first[context], trie.first[context + 1]):
            distribution[trie.words[entry]] = probs[entry]


@kernel
def weighted_masses(trie, factors, masses):
    """Fill `masses` with the sum over words of P(word | context) x factor for every context, the empty one last.

    The mass of a context is the back-off weight times that of the shorter context, where the context's own
    continuations are left out, plus the mass of these continuations.
    """
    first, words, probs, backoffs, suffixes, contexts = trie
    mass = 0.0
    for word in range(len(factors)):
        mass += np.float64(probs[word]) * factors[word]
    masses[contexts] = mass
    # Suffixes have a lower order, so they come first.
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
    """Fill `entries` with the entry of each n-gram (a row of `rows`); -1 where the model lacks it."""
    for row in range(len(rows)):
        entry = np.int64(-1)
        for place in range(rows.shape[1]):
            entry = find_continuation(first, words, entry, rows[row, place])
            if entry < 0:
                break
        entries[row] = entry


@kernel
def trace_sentences(trie, start, end_word, ids, offsets, found, contexts):
    """Fill `found` with the probability of each word and of the end of each sentence, and `contexts` with its context.

    Sentence `n` is ``ids[offsets[n]:offsets[n + 1]]``; it starts in the context `start` and ends with `end_word`.
    """
    first, words, probs, backoffs, suffixes, stored = trie
    filled = 0
    for sentence in range(len(offsets) - 1):
        context = np.int64(start)
        for position in range(offsets[sentence], offsets[sentence + 1] + 1):
            word = end_word
            if position < offsets[sentence + 1]:
                word = np.int64(ids[position])
            contexts[filled] = context
            found[filled], context = ngram_step(
                first, words, probs, backoffs, suffixes, stored, np.int64(context), word
            )
            filled += 1
