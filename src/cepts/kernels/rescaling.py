"""Unigram rescaling: n-gram probabilities times a power of how much the history lifts each word, renormalised."""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel, vector_kernel

# Polynomials of log2(1 + x) / x and (2 ** x - 1) / x for 0 <= x < 1: least squares on Chebyshev points, to 2e-7.
LOG2 = tuple(
    np.float32(c)
    for c in (
        1.44269477, -0.721310722, 0.480073742, -0.35345465, 0.256179624, -0.155599862, 0.0637875255, -0.012370624
    )
)  # fmt: skip
EXP2 = tuple(
    np.float32(c) for c in (0.693147171, 0.240227215, 0.0554959361, 0.00965244066, 0.00126893521, 0.000208291929)
)
MANTISSA = np.int32(0x007FFFFF)
ONE = np.int32(0x3F800000)
MANTISSA_BITS = np.int32(23)
BIAS = np.int32(127)
# A float of this size has the unit for its last bit, so that its bits count: a conversion without an instruction.
COUNTER = np.int32(0x4B000000)
COUNTED = np.float32(1 << 23)
MIDDLE = np.float32(3 << 22)
SMALLEST = np.float32(1e-4)  # of a lift


@vector_kernel
def raise_powers(values, value_bits, exponent, whole, whole_bits, scale, scale_bits):
    """Raise `values` (of 0.0001 or more) to a power, in place and to about 1e-6.

    `value_bits`, `whole_bits` and `scale_bits` are the memory of the arrays before them as int32; `whole` and `scale`
    are scratch. Loops of plain arithmetic on 32 bits, for vector instructions: the library's power would cost more than
    all the rest of rescaling.
    """
    for j in range(len(values)):
        bits = value_bits[j]
        whole_bits[j] = (bits >> MANTISSA_BITS) | COUNTER
        value_bits[j] = (bits & MANTISSA) | ONE
    for j in range(len(values)):
        x = values[j] - np.float32(1)
        log = LOG2[7]
        log = log * x + LOG2[6]
        log = log * x + LOG2[5]
        log = log * x + LOG2[4]
        log = log * x + LOG2[3]
        log = log * x + LOG2[2]
        log = log * x + LOG2[1]
        log = log * x + LOG2[0]
        power = exponent * ((whole[j] - (COUNTED + np.float32(BIAS))) + x * log)
        floor = np.floor(power)
        x = power - floor
        rest = EXP2[5]
        rest = rest * x + EXP2[4]
        rest = rest * x + EXP2[3]
        rest = rest * x + EXP2[2]
        rest = rest * x + EXP2[1]
        rest = rest * x + EXP2[0]
        values[j] = np.float32(1) + x * rest
        scale[j] = floor + MIDDLE
    for j in range(len(values)):
        scale_bits[j] = (scale_bits[j] + BIAS) << MANTISSA_BITS
    for j in range(len(values)):
        values[j] *= scale[j]


@allocating_kernel
def lift_words(weights, starts, members, lifts, least, lifted):
    """P(w | H) / P(w) of the words of hidden documents, to `lifted`: a row a word, a column for each row of `weights`.

    Histories that follow one another have much the same hidden documents, so a block of them is lifted together, and
    each word's numbers stand side by side.

    Parameters
    ----------
    weights
        P(d | H), a row a history.
    starts, members, lifts
        Hidden document `d` lifts the words of the rows `members[starts[d]:starts[d + 1]]` by so much.
    least
        Hidden documents of a smaller weight lift no word: their weight goes to the priors.
    """
    histories, documents = weights.shape
    share = np.empty(histories, dtype=np.float32)
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
    """Put each column of `lifted` into a row of `factors`, a column a word of the vocabulary."""
    for row in range(len(lifted)):
        word = word_of_row[row]
        for place in range(lifted.shape[1]):
            factors[place, word] = lifted[row, place]


@vector_kernel
def excess_probs(first, probs, backoffs, suffixes, vocabulary_size, excess):
    """What each n-gram has beyond that which it would have by backing off, to `excess`."""
    for word in range(vocabulary_size):
        excess[word] = probs[word]
    for context in range(len(first) - 1):
        backoff = backoffs[context]
        for entry in range(first[context], first[context + 1]):
            excess[entry] = probs[entry] - backoff * probs[suffixes[entry]]


@vector_kernel
def factored_masses(first, words, excess, backoffs, suffixes, contexts, factors, path, found):
    """Sum over words of P(word | context) x factor: for each of `contexts`, with its row of `factors`.

    `path` has room for as many entries as the model's order.
    """
    for place in range(len(contexts)):
        row = factors[place]
        length = 0
        context = contexts[place]
        while context >= 0:
            path[length] = context
            length += 1
            context = suffixes[context]
        total = np.float64(0)
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
