"""Unigram caches: words that a text has used are likely to occur again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError

LEAST_DECAY = 1e-6  # with less, only the last word counts, and scales overflow


@dataclass(frozen=True, slots=True)
class Cache:
    """A unigram cache: the distribution of the content words of the text so far.

    Attributes
    ----------
    size
        How many words it remembers; 0 means all.
    decay
        Factor by which the weight of a word is multiplied with each content word that follows; 1 keeps the weight.
    """

    size: int = 0
    decay: float = 1.0

    def __post_init__(self) -> None:
        if self.size < 0 or not LEAST_DECAY <= self.decay <= 1:
            raise UsageError(
                f"each of `caches` must have a size of 0 (all words) or more and a decay of {LEAST_DECAY:g} to 1. "
                f"Got {self.size} and {self.decay} instead."
            )

    @classmethod
    def from_text(cls, text: str) -> Cache:
        """Parse a cache: ``500`` remembers 500 words, ``0.99`` decays by that factor, ``500:0.99`` does both."""
        size, both, decay = text.partition(":")
        try:
            if not both and not text.strip().lstrip("+-").isdecimal():
                return cls(0, float(text))
            return cls(int(size), float(decay) if both else 1.0)
        except ValueError:
            raise UsageError(
                f"each of `caches` must be a number of words (500; 0 is all), a decay (0.99), or both (500:0.99). "
                f"Got {text!r} instead."
            ) from None

    def __str__(self) -> str:
        if self.decay == 1:
            return str(self.size)
        decay = repr(float(self.decay))  # with all its digits, because model directories store caches as text
        return decay if self.size == 0 else f"{self.size}:{decay}"


class CacheTracker:
    """The state of caches along a text; remembers the words that it has followed."""

    def __init__(self, caches: Sequence[Cache], words: int) -> None:
        self.caches = tuple(caches)
        self.counts = np.zeros((len(caches), words))
        self.totals = np.zeros(len(caches))
        self.scales = np.ones(len(caches))
        self.recent = np.full(max([cache.size for cache in caches], default=0), -1, dtype=np.int32)

    def copy(self) -> CacheTracker:
        """An independent copy."""
        twin = CacheTracker((), 0)
        twin.caches = self.caches
        for name in ("counts", "totals", "scales", "recent"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def follow(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """P(word) of each of these words in each cache, one column per cache; then remember the words.

        An empty cache gives -1.
        """
        from cepts.kernels.caches import cache_probs

        found = np.empty((len(ids), len(self.caches)))
        sizes = np.array([cache.size for cache in self.caches], dtype=np.int64)
        decays = np.array([cache.decay for cache in self.caches], dtype=np.float64)
        ids = np.ascontiguousarray(ids, dtype=np.int32)
        cache_probs(ids, sizes, decays, self.recent, self.counts, self.totals, self.scales, found)
        return found

    def probs_after(self, pending: Sequence[int], word: int) -> list[float]:
        """P(word) in each cache after the words `pending`; -1 for an empty cache. Nothing is changed."""
        found = []
        for number, cache in enumerate(self.caches):
            decay, size = cache.decay, cache.size
            kept = pending[-size:] if size else pending
            count = sum(decay**age for age, other in enumerate(reversed(kept)) if other == word)
            total = float(len(kept)) if decay == 1 else (1 - decay ** len(kept)) / (1 - decay)
            older = decay ** len(kept) / self.scales[number]
            count += self.counts[number, word] * older
            total += self.totals[number] * older
            if size:  # older words that the new ones push out
                first = len(self.recent) - size
                gone = self.recent[first : first + len(kept)].tolist()
                for place, other in enumerate(gone):
                    weight = decay ** (size - 1 - place + len(kept)) if other >= 0 else 0.0
                    total -= weight
                    count -= weight if other == word else 0.0
            found.append(max(count, 0.0) / total if total > 1e-12 else -1.0)
        return found

    def distributions(self) -> NDArray[np.float64]:
        """P(word) of every word in each cache, one row per cache; the row of an empty cache is zero."""
        return self.counts / np.where(self.totals > 0, self.totals, 1.0)[:, None]
