"""Mixing the probabilities of the components, and rescaling n-grams by what the history says of each word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cepts.lm.caches import Cache
from cepts.lm.hidden import HiddenDocuments

LEAST_WEIGHT = 1e-3  # hidden documents with a smaller P(d | H) rescale nothing
MOST_EXPONENT = 4.0  # of rescaling: above, powers may leave single precision


def components_of(mixture: str, hidden: bool, rescaling: bool, caches: Sequence[Cache]) -> tuple[str, ...]:
    """Names of the components of a mixture, in their order."""
    names = ["ngram"]
    if hidden and rescaling and mixture == "class":
        names.append("rescaled")
    if hidden:
        names.append("hidden")
    return (*names, *(f"cache {cache}" for cache in caches))


def mix(
    probs: NDArray[np.float64],
    masses: NDArray[np.float64] | float,
    columns: NDArray[np.float64],
    content: NDArray[np.bool_],
    weights: NDArray[np.float64],
    mixture: str,
) -> NDArray[np.float64]:
    """P(word | h, H) from the probabilities of the background and of the components.

    ``literal`` is eq. (17) of nmf_lm for any number of components. ``class`` keeps the n-gram's probabilities of
    function words, and divides the mass of content words among them by the mixture of the components.
    """
    if mixture == "literal":
        return np.asarray(weights[0] * probs + columns[:, 1:] @ weights[1:])
    return np.where(content, masses * (columns @ weights), probs)


class Lifting:
    """(P(w | H) / P(w)) ** exponent of every word, for some histories at a time; buffers are allocated once.

    Content words that the hidden documents do not have keep a factor of 1; other words have 0 and are ignored.
    """

    def __init__(
        self, hidden: HiddenDocuments, content: NDArray[np.bool_], exponent: float, *, histories: int = 1
    ) -> None:
        self._hidden = hidden
        self._exponent = np.float32(exponent)
        self._scratch = np.empty((3, len(self._hidden.numbers) * histories), dtype=np.float32)
        self._factors = np.tile(content.astype(np.float32), (histories, 1))

    def factors(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The factors, a row for each row of P(d | H); the next call writes over them."""
        from cepts.kernels.rescaling import lift_words, raise_powers, spread_factors

        lifted, whole, scale = self._scratch[:, : len(self._hidden.numbers) * len(weights)]
        words = lifted.reshape(-1, len(weights))
        lift_words(weights, *self._hidden.lifts, np.float32(LEAST_WEIGHT), words)
        bits = [scratch.view(np.int32) for scratch in (lifted, whole, scale)]
        raise_powers(lifted, bits[0], self._exponent, whole, bits[1], scale, bits[2])
        factors = self._factors[: len(weights)]
        spread_factors(words, self._hidden.numbers, factors)
        return factors
