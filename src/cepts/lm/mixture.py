"""Mixing what the components give, and the rescaling of n-grams by what a history lifts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.lm.caches import Cache
from cepts.lm.hidden import HiddenDocuments

__all__ = ["LEAST_WEIGHT", "MIXTURES", "MOST_EXPONENT", "Lifting", "Mixture", "components_of", "mix"]

Mixture = Literal["class", "literal"]
MIXTURES: tuple[Mixture, ...] = get_args(Mixture)
LEAST_WEIGHT = 1e-3  # of a hidden document, to lift words
MOST_EXPONENT = 4.0  # of rescaling: beyond, powers of lifts may leave single precision


def components_of(mixture: Mixture, hidden: bool, rescaling: bool, caches: Sequence[Cache]) -> tuple[str, ...]:
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
    mixture: Mixture,
) -> NDArray[np.float64]:
    """P(word | h, H) of what the background and the components give.

    ``literal`` is eq. (17) of nmf_lm for any number of components. ``class`` leaves function words what the n-gram
    gives them, and shares the mass of content words out among these by the mixture of the components.
    """
    if mixture == "literal":
        return np.asarray(weights[0] * probs + columns[:, 1:] @ weights[1:])
    return np.where(content, masses * (columns @ weights), probs)


class Lifting:
    """(P(w | H) / P(w)) ** exponent of every word, for some histories at a time; memory is taken once.

    Content words that the hidden documents do not have stay as they are, with 1; other words have 0, and no say.
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
