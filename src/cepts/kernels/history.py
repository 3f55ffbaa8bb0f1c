"""What a history says: P(hidden document | history), eqs. (14) to (16) of nmf_lm, or a sum of vectors, as in eq. (1).

`words` has one row P(word | d) for each word. Words that the hidden documents lack have the row number -1 and are
ignored; in a history of a fixed length they take up a place.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, piece, vector_kernel

IMPOSSIBLE = np.float32(-1e30)  # stands for the logarithm of 0
POSSIBLE = np.float32(-1e29)  # a sum of logarithms above this has none of 0


@piece
def _scale_of(row, words, weights, marginals, background):
    """The factor by which P(word | d) P(d | H) is the posterior of d, eq. (15) of nmf_lm, given `background`."""
    explained = np.float32(0)
    for d in range(len(weights)):
        explained += words[row, d] * weights[d]
    return (np.float32(1) - background) / max(
        (np.float32(1) - background) * explained + background * marginals[row], np.float32(1e-30)
    )


@vector_kernel
def running_step(row, words, priors, marginals, decay, strength, background, seen, weights):
    """Add the word `row` to the history: let the counts `seen` of hidden documents decay, add the word, set `weights`.

    The word is shared among the hidden documents by eq. (15) of nmf_lm, with the present P(d | H) in place of P(d) and
    a background that has the share `background` of all words. The priors count as much as `strength` words.
    """
    documents = len(priors)
    share = _scale_of(row, words, weights, marginals, background)
    total = np.float32(0)
    for d in range(documents):
        seen[d] = decay * seen[d] + share * words[row, d] * weights[d]
        total += seen[d]
    scale = np.float32(1) / (total + strength)
    for d in range(documents):
        weights[d] = (seen[d] + strength * priors[d]) * scale


@kernel
def running_weights(rows, words, priors, marginals, decay, strength, background, seen, weights, found):
    """Fill the rows of `found` with P(d | H) before each word of `rows`; `seen` and `weights` are updated."""
    for place in range(len(rows)):
        for d in range(len(priors)):
            found[place, d] = weights[d]
        if rows[place] >= 0:
            running_step(rows[place], words, priors, marginals, decay, strength, background, seen, weights)


@vector_kernel
def window_weights(line, places, words, priors, marginals, size, steps, background, new, found):
    """Fill the rows of `found` with P(d | H) at each of `places` in `line`, where H is the `size` rows before it.

    It makes `steps` steps of EM from the priors, each of them eqs. (15) and (16) of nmf_lm. `new` is a buffer with one
    number for each hidden document.
    """
    documents = len(priors)
    for n in range(len(places)):
        weights = found[n]
        for d in range(documents):
            weights[d] = priors[d]
        for _ in range(steps):
            for d in range(documents):
                new[d] = np.float32(0)
            total = np.float32(0)
            for at in range(places[n] - size, places[n]):
                row = line[at]
                if row >= 0:
                    share = _scale_of(row, words, weights, marginals, background)
                    for d in range(documents):
                        new[d] += share * words[row, d]
            for d in range(documents):
                new[d] *= weights[d]
                total += new[d]
            if total > np.float32(0):
                scale = np.float32(1) / total
                for d in range(documents):
                    weights[d] = new[d] * scale


@kernel
def product_weights(line, places, logs, priors, size, found):
    """Fill the rows of `found` with P(d | H) of eq. (14) of nmf_lm at each of `places`; `line` as in `window_weights`.

    `logs` has log P(word | d), and `IMPOSSIBLE` for a probability of 0. If no hidden document can have all words of the
    history, or there are none, P(d | H) is the prior.
    """
    documents = len(priors)
    for n in range(len(places)):
        weights = found[n]
        for d in range(documents):
            weights[d] = np.float32(0)
        known = False
        for at in range(places[n] - size, places[n]):
            row = line[at]
            if row >= 0:
                known = True
                for d in range(documents):
                    weights[d] += logs[row, d]
        highest = weights[0]
        for d in range(1, documents):
            highest = max(highest, weights[d])
        if known and highest > POSSIBLE:
            total = np.float32(0)
            for d in range(documents):
                weights[d] = np.exp(weights[d] - highest)
                total += weights[d]
            for d in range(documents):
                weights[d] /= total
        else:
            for d in range(documents):
                weights[d] = priors[d]


@kernel
def window_sums(line, places, vectors, size, found):
    """Fill the rows of `found` with the sum of the vectors of the `size` rows of `line` before each of `places`."""
    for n in range(len(places)):
        for a in range(vectors.shape[1]):
            found[n, a] = np.float32(0)
        for at in range(places[n] - size, places[n]):
            if line[at] >= 0:
                for a in range(vectors.shape[1]):
                    found[n, a] += vectors[line[at], a]


@kernel
def running_sums(rows, vectors, decay, seen, found):
    """Fill the rows of `found` with the sum of the vectors of all words before each of `rows`, older ones decayed.

    `seen` is the sum so far and is updated.
    """
    for place in range(len(rows)):
        for a in range(len(seen)):
            found[place, a] = seen[a]
        if rows[place] >= 0:
            for a in range(len(seen)):
                seen[a] = decay * seen[a] + vectors[rows[place], a]


@vector_kernel
def word_probs(rows, words, weights, found):
    """P(word | H), eq. (13) of nmf_lm, of each word of `rows` with its row of `weights`; 0 for row number -1."""
    for place in range(len(rows)):
        prob = np.float32(0)
        if rows[place] >= 0:
            for d in range(weights.shape[1]):
                prob += words[rows[place], d] * weights[place, d]
        found[place] = prob
