"""Which words of a text stand next to each other, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class AdjacentWords:
    """Counts of words and of pairs of adjacent words; the end of a sentence, and its start, is the word `words`.

    Attributes
    ----------
    words
        Size of the vocabulary.
    counts
        How often each word occurs.
    first, second, times
        The pairs of adjacent words, in ascending order, and how often each occurs.
    """

    words: int
    counts: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    times: NDArray[np.int64]

    @classmethod
    def of(
        cls, ids: NDArray[np.int32], offsets: NDArray[np.int64], words: int, weights: NDArray[np.integer] | None = None
    ) -> AdjacentWords:
        """The adjacent words of a text whose sentences start at `offsets`, and which counts each `weights` times."""
        sentences = len(offsets) - 1
        lengths = np.diff(offsets)
        text = np.full(len(ids) + sentences + 1, words, dtype=np.int64)
        text[np.arange(len(ids)) + np.repeat(np.arange(1, sentences + 1), lengths)] = ids
        keys = text[:-1] * (words + 1) + text[1:]
        if weights is None:
            kinds, times = np.unique(keys, return_counts=True)
            counts = np.bincount(ids, minlength=words)
        else:
            kinds, places = np.unique(keys, return_inverse=True)
            # The boundary before a sentence belongs to it.
            times = np.bincount(places, np.repeat(weights, lengths + 1), len(kinds))
            counts = np.bincount(ids, np.repeat(weights, lengths), words)
        return cls._of_keys(words, counts, kinds, times)

    @classmethod
    def sum(cls, parts: Sequence[AdjacentWords]) -> AdjacentWords:
        """The counts of several texts together."""
        if len(parts) == 1:
            return parts[0]
        words = parts[0].words
        keys = np.concatenate([part.first.astype(np.int64) * (words + 1) + part.second for part in parts])
        kinds, places = np.unique(keys, return_inverse=True)
        times = np.bincount(places, np.concatenate([part.times for part in parts]), len(kinds))
        return cls._of_keys(words, np.sum([part.counts for part in parts], axis=0), kinds, times)

    @classmethod
    def _of_keys(cls, words: int, counts: NDArray, keys: NDArray[np.int64], times: NDArray) -> AdjacentWords:
        first, second = np.divmod(keys, words + 1)
        return cls(
            words, counts.astype(np.int64), first.astype(np.int32), second.astype(np.int32), times.astype(np.int64)
        )

    def inside(self) -> AdjacentWords:
        """Only pairs of words, without the boundaries of sentences."""
        kept = (self.first < self.words) & (self.second < self.words)
        return AdjacentWords(self.words, self.counts, self.first[kept], self.second[kept], self.times[kept])
