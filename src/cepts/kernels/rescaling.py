"""Unigram rescaling: n-gram probabilities times a power of each word's lift P(w | H) / P(w), renormalised."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, vector_kernel
from cepts.kernels.ngrams import trace_suffixes

# Polynomials for log2(1 + x) / x and (2 ** x - 1) / x, 0 <= x < 1, the highest power first: least squares on
# Chebyshev points, error 2e-7.
LOG2 = tuple(
    np.float32(c)
    for c in (
        -0.012370624, 0.0637875255, -0.155599862, 0.256179624, -0.35345465, 0.480073742, -0.721310722, 1.44269477
    )
)  # fmt: skip
EXP2 = tuple(
    np.float32(c) for c in (0.000208291929, 0.00126893521, 0.00965244066, 0.0554959361, 0.240227215, 0.693147171)
)
MANTISSA = np.int32(0x007FFFFF)
ONE = np.int32(0x3F800000)
MANTISSA_BITS = np.int32(23)
BIAS = np.int32(127)
# In a float of this size the last bit is worth 1, so its bits can be read as an integer, without a conversion.
COUNTER = np.int32(0x4B000000)
COUNTED = np.float32(1 << 23)
MIDDLE = np.float32(3 << 22)
SMALLEST = np.float32(1e-4)  # least lift


@vector_kernel
def raise_powers(values, value_bits, exponent, whole, whole_bits, scale, scale_bits):
    """Raise `values` (each at least 0.0001) to the power `exponent`, in place, with a relative error of about 1e-6.

    `value_bits`, `whole_bits` and `scale_bits` are int32 views of the arrays before them; `whole` and `scale` are
    buffers. The loops use only 32-bit arithmetic, for which there are vector instructions: the library's `pow` would
    take longer than all the rest of rescaling.
    """
    for j in range(len(values)):
        bits = value_bits[j]
        whole_bits[j] = (bits >> MANTISSA_BITS) | COUNTER
        value_bits[j] = (bits & MANTISSA) | ONE
    for j in range(len(values)):
        x = values[j] - np.float32(1)
        log = LOG2[0]
        for place in range(1, len(LOG2)):
            log = log * x + LOG2[place]
        power = exponent * ((whole[j] - (COUNTED + np.float32(BIAS))) + x * log)
        floor = np.floor(power)
        x = power - floor
        rest = EXP2[0]
        for place in range(1, len(EXP2)):
            rest = rest * x + EXP2[place]
        values[j] = np.float32(1) + x * rest
        scale[j] = floor + MIDDLE
    for j in range(len(values)):
        scale_bits[j] = (scale_bits[j] + BIAS) << MANTISSA_BITS
    for j in range(len(values)):
        values[j] *= scale[j]


@vector_kernel
def lift_words(weights, starts, members, lifts, least, share, lifted):
    """Fill `lifted` with P(w | H) / P(w): one row for each word of the hidden documents, one column for each history.

    Successive histories have much the same hidden documents, so a block of them is computed together, with the numbers
    of each word side by side.

    Parameters
    ----------
    weights
        P(d | H), one row for each history.
    starts, members, lifts
        Hidden document `d` lifts word `members[n]` by `lifts[n]`, for n from `starts[d]` to `starts[d + 1]`.
    least
        Hidden documents with a smaller weight are ignored: the weight goes to a lift of 1.
    share
        Buffer with one place for each history.
    """
    histories, documents = weights.shape
    for place in range(histories):
        rest = np.float32(1)
        for d in range(documents):
            if weights[place, d] >= least:
                rest -= weights[place, d]
        share[place] = max(rest, SMALLEST)
    for row in range(len(lifted)):
        for place in range(histories):
            lifted[row, place] = share[place]
    for d in range(documents):
        used = False
        for place in range(histories):
            share[place] = weights[place, d] if weights[place, d] >= least else np.float32(0)
            used |= weights[place, d] >= least
        if used:
            for at in range(starts[d], starts[d + 1]):
                lift = lifts[at]
                row = lifted[members[at]]
                for place in range(histories):
                    row[place] += share[place] * lift


@kernel
def spread_factors(lifted, word_of_row, factors):
    """Copy each column of `lifted` to a row of `factors`, which has one column for each word of the vocabulary."""
    for row in range(len(lifted)):
        word = word_of_row[row]
        for place in range(lifted.shape[1]):
            factors[place, word] = lifted[row, place]


@vector_kernel
def excess_probs(trie, vocabulary_size, excess):
    """Fill `excess` with each n-gram's probability minus what it would have by backing off."""
    first, probs, backoffs, suffixes = trie.first, trie.probs, trie.backoffs, trie.suffixes
    for word in range(vocabulary_size):
        excess[word] = probs[word]
    for context in range(len(first) - 1):
        backoff = backoffs[context]
        for entry in range(first[context], first[context + 1]):
            excess[entry] = probs[entry] - backoff * probs[suffixes[entry]]


@vector_kernel
def factored_masses(trie, excess, contexts, factors, path, found):
    """Sum over words of P(word | context) x factor, for each of `contexts` with its row of `factors`.

    `path` is a buffer as long as the order of the model.
    """
    first, words, backoffs = trie.first, trie.words, trie.backoffs
    for place in range(len(contexts)):
        row = factors[place]
        length = trace_suffixes(trie, contexts[place], path)
        part = np.float32(0)
        for word in range(len(row)):
            part += excess[word] * row[word]
        total = np.float64(part)
        for step in range(length - 1, -1, -1):
            context = path[step]
            part = np.float32(0)
            for entry in range(first[context], first[context + 1]):
                part += excess[entry] * row[words[entry]]
            total = total * backoffs[context] + part
        found[place] = total
