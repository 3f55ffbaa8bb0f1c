"""What the posterior of a link is worth in the text on which the model was trained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The log-odds that a link would have, had its sentence pair not been part of the text: `SHIFT + SLOPE z - RARE /
# sqrt(n)`, where z are those that it has, and n is how often the rarer word occurs. Fitted without gold links, to
# posteriors of pairs that were left out of texts of 100 to 25,000 pairs in six languages (benchmarks/confidence.py).
SHIFT, SLOPE, RARE = 0.44, 0.5, 2.38
# The weight of the posterior without the pair, as in the .632 estimator of Efron (1983).
HELD_OUT = 0.632
# A posterior is not known to be further from 0 and from 1 than this.
LEAST, MOST = 1e-12, 1.0 - 1e-3
# Halvings that find a posterior to the precision of float64.
HALVINGS = 60


def in_sample_confidence(
    posterior: NDArray[np.floating], rarer: NDArray[np.integer | np.floating]
) -> NDArray[np.float32]:
    """Confidence of links in the training text, of which about this share is right.

    A model has fitted the very pairs that it aligns, so that links of rare words seem certain: the words have no rival.
    The posterior under a model without the pair errs on the other side, because it knows nothing of words that occur
    only there. The confidence is a mean of both,

        c = (1 - w) p + w logistic(SHIFT + SLOPE logit p - RARE / sqrt(n)),    w = HELD_OUT,

    where the second term is what the posterior without the pair is on average. It rises with p and with n.

    Parameters
    ----------
    posterior
        Posteriors of links, p.
    rarer
        How often the rarer one of the two words occurs in the training text, n, which is at least 1.
    """
    p = np.clip(np.asarray(posterior, dtype=np.float64), LEAST, MOST)
    logits = SHIFT + SLOPE * np.log(p / (1.0 - p)) - RARE / np.sqrt(rarer)
    held_out = 1.0 / (1.0 + np.exp(-logits))
    return np.asarray((1.0 - HELD_OUT) * posterior + HELD_OUT * held_out, dtype=np.float32)


def least_posterior(confidence: float) -> float:
    """The least posterior with which any link of the training text, however frequent, can have this confidence."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if in_sample_confidence(np.array([middle]), np.array([np.inf]))[0] < np.float32(confidence):
            low = middle
        else:
            high = middle
    return low
