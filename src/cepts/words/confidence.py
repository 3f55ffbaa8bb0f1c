"""What the posterior of a link is worth in the text on which the model was trained."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The weight of the posterior without the pair, as in the .632 estimator of Efron (1983). Gold links of five languages
# prefer it to 0.5, and hardly to 0.7.
WEIGHT = 0.632
# A posterior is not taken to be closer to 0 and to 1 than this.
LEAST, MOST = 1e-12, 1.0 - 1e-3
# Halvings that find a posterior to the precision of float64.
HALVINGS = 60


class HeldOut(NamedTuple):
    """The posterior that a link would have on average, had its sentence pair not been part of the training text.

    Its log-odds are `shift + slope z - rare / sqrt(n)`, where z are those that it has, and n is how often the rarer one
    of the two words occurs. The defaults were fitted without gold links, to posteriors of pairs that were left out of
    texts of 100 to 25,000 pairs in six languages (benchmarks/confidence.py).
    """

    shift: float = 0.43
    slope: float = 0.48
    rare: float = 2.35

    def __call__(
        self, posterior: NDArray[np.floating], rarer: NDArray[np.integer | np.floating]
    ) -> NDArray[np.float64]:
        """The expected posteriors without the pair."""
        p = np.clip(np.asarray(posterior, dtype=np.float64), LEAST, MOST)
        logits = self.shift + self.slope * np.log(p / (1.0 - p)) - self.rare / np.sqrt(rarer)
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))


FITTED = HeldOut()


def in_sample_confidence(
    posterior: NDArray[np.floating], rarer: NDArray[np.integer | np.floating], held_out: HeldOut = FITTED
) -> NDArray[np.float32]:
    """Confidence of links in the training text: about this share of such links is right.

    A model has fitted the very pairs that it aligns, so that links of rare words seem certain: the words have no rival.
    The posterior under a model without the pair errs on the other side, because it knows nothing of words that occur
    only there. The confidence is a mean of both,

        c = (1 - w) p + w q(p, n),    w = 0.632,

    where q is the expectation of the latter, see `HeldOut`. It rises with p and with n.

    Parameters
    ----------
    posterior
        Posteriors of links, p.
    rarer
        How often the rarer one of the two words occurs in the training text, n, which is at least 1.
    held_out
        The expectation of posteriors without the pair.
    """
    return np.asarray((1.0 - WEIGHT) * posterior + WEIGHT * held_out(posterior, rarer), dtype=np.float32)


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
