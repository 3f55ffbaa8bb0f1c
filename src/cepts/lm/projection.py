"""LSA: a history as a vector of counts, projected onto the singular vectors of the counts of a text.

This is what hidden documents replace, and the baseline with which they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.lm.history import HistoryModel, HistoryOptions, Tracker

BLOCK = 256  # histories that are projected at a time


@dataclass(frozen=True, eq=False)
class ProjectedWords(HistoryModel):
    """Word distributions of LSA: the counts of the history, projected as in Novak and Mammone (2001), eq. (1).

    The projection U U' d of the counts d has negative numbers, which cannot be counts. They are set to 0, and the
    others are divided by their sum. Where nothing is positive, as with an empty history, P(word | H) is P(word).

    Attributes
    ----------
    words
        U: one row for each word, one column for each singular vector (float32).
    marginals
        P(word) of each row (float32).
    numbers
        The number of each row's word in the vocabulary of the whole model (int32, ascending).
    """

    KIND: ClassVar[str] = "svd"
    ARRAYS: ClassVar[tuple[str, ...]] = ("words", "marginals", "numbers")

    words: NDArray[np.float32]
    marginals: NDArray[np.float32]
    numbers: NDArray[np.int32]

    def __len__(self) -> int:
        return self.words.shape[1]

    def tracker(self, options: HistoryOptions) -> ProjectionTracker:
        """A tracker of the coordinates U' d at the beginning of a text."""
        return ProjectionTracker(self, options)

    def probs(self, rows: NDArray[np.int32], states: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of each word of `rows`, given the coordinates of its history; 0 for row number -1."""
        found = np.zeros(len(rows))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            distributions = self._distributions(states[part])
            own = rows[part]
            found[part] = np.where(own >= 0, distributions[np.arange(len(own)), own], 0)
        return found

    def distribution(self, state: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of all rows, given the coordinates of the history."""
        return self._distributions(state[None])[0]

    def _distributions(self, states: NDArray[np.float32]) -> NDArray[np.float64]:
        projected = np.maximum(states @ self.words.T, 0).astype(np.float64)
        sums = projected.sum(axis=1, keepdims=True)
        empty = sums[:, 0] <= 0
        projected[empty] = self.marginals
        sums[empty] = self.marginals.sum(dtype=np.float64)
        projected /= sums
        return projected


class ProjectionTracker(Tracker):
    """The coordinates U' d of the counts d of the history, along a text."""

    def __init__(self, projected: ProjectedWords, options: HistoryOptions) -> None:
        super().__init__(options)
        self.projected = projected
        self._seen = np.zeros(len(projected), dtype=np.float32)

    def copy(self) -> Self:
        """An independent copy."""
        twin = type(self)(self.projected, self.options)
        twin._seen, twin._recent = self._seen.copy(), self._recent.copy()
        return twin

    def _running(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        from cepts.kernels.history import running_sums

        found = np.empty((len(rows), len(self.projected)), dtype=np.float32)
        running_sums(rows, self.projected.words, np.float32(self.options.decay), self._seen, found)
        return found

    def _windows(self, line: NDArray[np.int32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        from cepts.kernels.history import window_sums

        found = np.empty((len(places), len(self.projected)), dtype=np.float32)
        window_sums(line, places, self.projected.words, self.options.history, found)
        return found
