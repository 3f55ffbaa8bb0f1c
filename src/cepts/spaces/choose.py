"""Choosing the exponent of the correlations and the shrinkage of the covariances on held-out entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cepts.spaces.ibfa import Canonical, canonical
from cepts.spaces.moments import gather_moments
from cepts.spaces.retrieve import unit_rows

EXPONENTS = (0.5, 0.75, 1.0, 1.25)
SHRINKAGES = (0.03, 0.1, 0.3, 1.0, 3.0)
DEFAULT = 0.75, 0.3  # used if there are too few entries to hold some out
HELD_OUT = 0.2
MOST_HELD_OUT = 1000
LEAST_HELD_OUT = 20
TARGETS = 10_000  # words among which a translation is searched

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The exponent and the shrinkage with which a space is fitted; None if a method does not have them.

    Attributes
    ----------
    exponent, shrinkage
        The values that are used.
    tried
        Every exponent and shrinkage that was tried on held-out entries, with the mean reciprocal rank of the right
        translation (higher is better); empty if nothing had to be chosen.
    """

    exponent: float | None = None
    shrinkage: float | None = None
    tried: tuple[tuple[float, float, float], ...] = ()


def choose(
    views: Sequence[Matrix],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    exponent: float | None = None,
    shrinkage: float | None = None,
    factors: int | None = None,
    seed: int = 0,
) -> ChosenSettings:
    """Choose the exponent and the shrinkage with which IBFA ranks the translations of held-out words highest.

    For each pair of views, a fifth of the words that have entries (up to a thousand) are held out with all their
    entries, the rest is fitted, and the held-out words are looked up in both directions by cosine. The shrinkage is
    chosen first, then the exponent. Values that are given are kept.
    """
    if exponent is not None and shrinkage is not None:
        return ChosenSettings(exponent, shrinkage)
    power = DEFAULT[0] if exponent is None else exponent
    splits = _splits(views, rows, weights, seed)
    if not splits:
        return ChosenSettings(power, DEFAULT[1] if shrinkage is None else shrinkage)
    tried: dict[tuple[float, float], float] = {}

    @cache
    def fitted(split: _Split, ridge: float) -> Canonical:
        most = None if factors is None else min(factors, *split.widths)
        return canonical(split.moments, split.widths, shrinkage=ridge, factors=most)

    def score(power: float, ridge: float) -> float:
        if (power, ridge) not in tried:
            ranks = [split.reciprocal_rank(fitted(split, ridge), power) for split in splits]
            tried[power, ridge] = float(np.mean(ranks))
        return tried[power, ridge]

    ridges = SHRINKAGES if shrinkage is None else (shrinkage,)
    ridge = max(ridges, key=lambda value: score(power, value))
    if exponent is None:
        power = max(EXPONENTS, key=lambda value: score(value, ridge))
    return ChosenSettings(power, ridge, tuple((*key, value) for key, value in tried.items()))


class _Split:
    """Two views with some words of each held out."""

    def __init__(
        self, x: Matrix, y: Matrix, pairs: NDArray[np.int64], weights: NDArray[np.float64], held: NDArray[np.bool_]
    ) -> None:
        self.x, self.y = x, y
        self.widths = x.shape[1], y.shape[1]
        self.held = pairs[held]
        (self.moments,) = gather_moments([x, y], pairs[~held], weights[~held])

    def reciprocal_rank(self, found: Canonical, exponent: float) -> float:
        """Mean reciprocal rank of the held-out translations over both directions."""
        powers = found.correlations**exponent
        maps = [(u * powers).astype(np.float32) for u in found.directions]
        centres = [mean.astype(np.float32) for mean in found.means]
        sides = ((self.x, 0), (self.y, 1))
        ranks = []
        for (source, i), (target, j) in (sides, sides[::-1]):
            # The most frequent words, and the right translations even if they are rare.
            pool = np.union1d(np.arange(min(TARGETS, len(target))), self.held[:, j])
            words, at = np.unique(self.held[:, i], return_inverse=True)
            queries = unit_rows((source[words] - centres[i]) @ maps[i])
            scores = queries @ unit_rows((target[pool] - centres[j]) @ maps[j]).T
            right = np.full(len(words), -np.inf, dtype=np.float32)
            np.maximum.at(right, at, scores[at, np.searchsorted(pool, self.held[:, j])])
            ranks.append(1.0 / (1 + (scores > right[:, None]).sum(axis=1)))
        return float(np.mean([rank.mean() for rank in ranks]))


def held_out_words(words: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A fifth of `words`, or a thousand of them, drawn with `seed`."""
    count = min(int(HELD_OUT * len(words)), MOST_HELD_OUT)
    return np.random.default_rng(seed).choice(words, count, replace=False)


def _splits(views: Sequence[Matrix], rows: NDArray[np.int64], weights: NDArray[np.float64], seed: int) -> list[_Split]:
    splits = []
    for i, j in combinations(range(len(views)), 2):
        both = (rows[:, i] >= 0) & (rows[:, j] >= 0)
        pairs = rows[both][:, [i, j]]
        chosen = held_out_words(np.unique(pairs[:, 0]), seed)
        if len(chosen) >= LEAST_HELD_OUT:
            splits.append(_Split(views[i], views[j], pairs, weights[both], np.isin(pairs[:, 0], chosen)))
    return splits
