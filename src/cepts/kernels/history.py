"""P(hidden document | history): eqs. (15) and (16) of nmf_lm, iterated or running along with the text.

`words` holds P(word | d), a row a word; a word that the hidden documents do not have is a row of -1 and tells nothing.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, vector_kernel


@vector_kernel
def running_step(row, words, priors, marginals, decay, strength, background, seen, weights):
    """Let the word `row` follow: decay what earlier words have told (`seen`), add what this one tells; sets `weights`.

    The word is shared out among the hidden documents by eq. (15), with the present P(d | H) for P(d) and a background
    that has `background` of all words; `strength` is how many words the priors are worth.
    """
    documents = len(priors)
    explained = np.float32(0)
    for d in range(documents):
        explained += words[row, d] * weights[d]
    share = (np.float32(1) - background) / max(
        (np.float32(1) - background) * explained + background * marginals[row], np.float32(1e-30)
    )
    total = np.float32(0)
    for d in range(documents):
        seen[d] = decay * seen[d] + share * words[row, d] * weights[d]
        total += seen[d]
    scale = np.float32(1) / (total + strength)
    for d in range(documents):
        weights[d] = (seen[d] + strength * priors[d]) * scale


@kernel
def running_weights(rows, words, priors, marginals, decay, strength, background, seen, weights, found):
    """P(d | H) before each word of `rows`, to the rows of `found`; `seen` and `weights` are carried on."""
    for place in range(len(rows)):
        for d in range(len(priors)):
            found[place, d] = weights[d]
        if rows[place] >= 0:
            running_step(rows[place], words, priors, marginals, decay, strength, background, seen, weights)


@vector_kernel
def window_weights(rows, words, priors, marginals, size, steps, background, recent, new, found):
    """P(d | H) before each word of `rows`, of the last `size` words with equal weight: `steps` of EM from the priors.

    One step is eqs. (15) and (16). `recent` holds the last words before `rows`, the latest last, and is carried on.
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
                    explained = np.float32(0)
                    for d in range(documents):
                        explained += words[row, d] * weights[d]
                    share = (np.float32(1) - background) / max(
                        (np.float32(1) - background) * explained + background * marginals[row], np.float32(1e-30)
                    )
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
    """P(word | H) of each word of `rows`, eq. (13), under its row of `weights`; 0 for a word of no row."""
    for place in range(len(rows)):
        prob = np.float32(0)
        if rows[place] >= 0:
            for d in range(weights.shape[1]):
                prob += words[rows[place], d] * weights[place, d]
        found[place] = prob
