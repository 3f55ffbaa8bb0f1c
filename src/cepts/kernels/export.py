"""One back-off model of several: their probabilities at the n-grams of all of them, and weights of backing off."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.ngrams import ngram_step


@kernel
def entry_probs(
    first,
    words,
    probs,
    backoffs,
    suffixes,
    levels_last_start,
    weight,
    entry_contexts,
    entry_words,
    own_contexts,
    found,
):
    """Add a model's P(word | context), times `weight`, to `found` of each entry of another trie.

    Parameters
    ----------
    first, words, probs, backoffs, suffixes, levels_last_start
        The model.
    entry_contexts, entry_words
        The other trie: the entry of each entry's context (-1 for the empty one), which stands before it; its last word.
    own_contexts
        Filled for each context of the other trie: where the model stands after its words.
    """
    for entry in range(len(entry_words)):
        context = np.int64(-1)
        if entry_contexts[entry] >= 0:
            context = own_contexts[entry_contexts[entry]]
        prob, following = ngram_step(
            first, words, probs, backoffs, suffixes, levels_last_start, context, np.int64(entry_words[entry])
        )
        found[entry] += weight * prob
        if entry < len(own_contexts):
            own_contexts[entry] = following


@kernel
def backed_off(first, suffixes, least, probs, backoffs):
    """Fill `backoffs` so that P(word | context) sums to 1 over the words, for every context.

    Backing off shares out what the continuations leave: (1 - sum of their probabilities) / (1 - sum of those that they
    have in the shorter context). Where either is below `least`, which is all that rounding tells of it, the
    continuations are scaled: to 1 where the shorter context has no other words (backing off then means nothing, and
    keeps a weight of 1), and to 1 - `least` where it has, so that no word becomes impossible.
    """
    # Shorter contexts stand before, so what continuations have in them is settled by then.
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
