"""Which words of a text stand next to each other, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    def joined(cls, parts: Sequence[AdjacentWords], counts: NDArray[np.int64]) -> AdjacentWords:
        """The pairs of several texts together, in which each word occurs `counts` times."""
        if len(parts) == 1:
            return replace(parts[0], counts=counts)
        words = len(counts)
        keys = np.concatenate([part.first.astype(np.int64) * (words + 1) + part.second for part in parts])
        kinds, places = np.unique(keys, return_inverse=True)
        times = np.bincount(places, np.concatenate([part.times for part in parts]), len(kinds))
        return cls._of_keys(words, counts, kinds, times)

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

    def scaled(self, tokens: int) -> AdjacentWords:
        """How often the pairs occur in a text of so many tokens of which this is a part; counts of words stay."""
        return replace(self, times=np.rint(self.times * (tokens / max(int(self.counts.sum()), 1))).astype(np.int64))


class AdjacentSum:
    """Adds up the adjacent words of several texts, one after the other, over a vocabulary of `words` words.

    Counts of words are added at once. Pairs wait until there are as many as the sum has, so that each is sorted only a
    few times, and the texts together need little more memory than their sum.
    """

    def __init__(self, words: int) -> None:
        self._counts = np.zeros(words, dtype=np.int64)
        self._sum: AdjacentWords | None = None
        self._waiting: list[AdjacentWords] = []

    def add(self, part: AdjacentWords) -> None:
        """Add a text."""
        self._counts += part.counts
        self._waiting.append(replace(part, counts=self._counts))
        if sum(len(each.times) for each in self._waiting) > (0 if self._sum is None else len(self._sum.times)):
            self._sum = self.total()
            self._waiting = []

    def total(self) -> AdjacentWords:
        """The sum of all that were added."""
        parts = self._waiting if self._sum is None else [self._sum, *self._waiting]
        if not parts:
            return AdjacentWords.of(np.empty(0, np.int32), np.zeros(1, np.int64), len(self._counts))
        return AdjacentWords.joined(parts, self._counts)
