"""One back-off model from several: probabilities for the n-grams of all of them, and back-off weights."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.ngrams import ngram_step


@kernel
def entry_probs(trie, weight, entry_contexts, entry_words, own_contexts, found):
    """Add P(word | context) of the model `trie`, times `weight`, to `found` of each entry of another trie.

    Parameters
    ----------
    entry_contexts, entry_words
        The entries of the other trie: the entry of the context (-1 for the empty one), which comes earlier, and the
        last word.
    own_contexts
        Filled for each context of the other trie: the context of the model after its words.
    """
    first, words, probs, backoffs, suffixes, stored = trie
    for entry in range(len(entry_words)):
        context = np.int64(-1)
        if entry_contexts[entry] >= 0:
            context = own_contexts[entry_contexts[entry]]
        word = np.int64(entry_words[entry])
        prob, following = ngram_step(first, words, probs, backoffs, suffixes, stored, context, word)
        found[entry] += weight * prob
        if entry < len(own_contexts):
            own_contexts[entry] = following


@kernel
def fill_backoffs(first, suffixes, least, probs, backoffs):
    """Fill `backoffs` so that P(word | context) sums to 1 over the words, for every context.

    A weight is what the continuations of the context leave over what they leave in the shorter context: (1 - sum of
    their probabilities) / (1 - sum of their probabilities there). A numerator or denominator below `least` is only
    rounding. Then the continuations are scaled: to 1 where the shorter context has no other words (the weight does not
    matter then, and is 1), and to 1 - `least` where it has, so that no word becomes impossible.
    """
    # Shorter contexts come first, so their probabilities are final when they are used.
    for context in range(len(backoffs)):
        start, stop = first[context], first[context + 1]
        own, shorter = 0.0, 0.0
        for entry in range(start, stop):
            own += probs[entry]
            shorter += probs[suffixes[entry]]
        left, room = 1 - own, 1 - shorter
        if room < least:
            wanted, backoffs[context] = 1.0, 1
        elif left < least:
            wanted, backoffs[context] = 1 - least, least / room
        else:
            wanted, backoffs[context] = own, left / room
        if wanted != own and own > 0:
            for entry in range(start, stop):
                probs[entry] *= wanted / own
