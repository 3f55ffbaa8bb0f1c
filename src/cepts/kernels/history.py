"""P(hidden document | history): eqs. (15) and (16) of nmf_lm, iterated over a window or updated with each word.

`words` has one row P(word | d) for each word. Words that the hidden documents lack have the row number -1 and are
ignored.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, piece, vector_kernel


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
def window_weights(rows, words, priors, marginals, size, steps, background, recent, new, found):
    """Fill the rows of `found` with P(d | H) before each word of `rows`, where H is the last `size` words.

    It makes `steps` steps of EM from the priors, each of them eqs. (15) and (16) of nmf_lm. `recent` holds the last
    words before `rows`, the latest last, and is updated.
    """
    documents = len(priors)
    length = len(recent)
    for place in range(len(rows)):
        weights = found[place]
        for d in range(documents):
            weights[d] = priors[d]
        for _ in range(steps):
            for d in range(documents):
                new[d] = np.float32(0)
            total = np.float32(0)
            for back in range(1, size + 1):
                at = place - back
                row = rows[at] if at >= 0 else (recent[length + at] if length + at >= 0 else -1)
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
    for place in range(length):
        at = place + len(rows)
        recent[place] = recent[at] if at < length else rows[at - length]


@vector_kernel
def word_probs(rows, words, weights, found):
    """P(word | H), eq. (13) of nmf_lm, of each word of `rows` with its row of `weights`; 0 for row number -1."""
    for place in range(len(rows)):
        prob = np.float32(0)
        if rows[place] >= 0:
            for d in range(weights.shape[1]):
                prob += words[rows[place], d] * weights[place, d]
        found[place] = prob
