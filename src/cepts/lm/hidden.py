"""Hidden documents: distributions over words that occur together, and how a history weights them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cepts.lm.history import HistoryModel, HistoryOptions, Tracker

# A smaller P(word | d) does not rescale the word, although the hidden document keeps it.
SMALLEST_SHARE = 1e-6


class Lifts(NamedTuple):
    """P(word | d) / P(word) for the words of each hidden document, one hidden document after the other."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    lifts: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HiddenDocuments(HistoryModel):
    """Hidden documents d: the distributions P(word | d) and the priors P(d).

    Attributes
    ----------
    words
        P(word | d) with one row for each word and one column for each hidden document; columns add up to 1 (float32).
    priors
        P(d) (float32).
    numbers
        The number of each row's word in the vocabulary of the whole model (int32, ascending).
    """

    KIND: ClassVar[str] = "hidden documents"
    ARRAYS: ClassVar[tuple[str, ...]] = ("words", "priors", "numbers")

    words: NDArray[np.float32]
    priors: NDArray[np.float32]
    numbers: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.priors)

    @cached_property
    def marginals(self) -> NDArray[np.float32]:
        """P(word) of each row."""
        return (self.words.astype(np.float64) @ self.priors.astype(np.float64)).astype(np.float32)

    @cached_property
    def lifts(self) -> Lifts:
        """The factors by which hidden documents rescale the probabilities of words."""
        kept = np.where(self.words >= SMALLEST_SHARE, self.words, 0) / np.maximum(self.marginals, 1e-30)[:, None]
        documents, members = np.nonzero(kept.T)
        starts = np.searchsorted(documents, np.arange(len(self) + 1))
        return Lifts(starts, members.astype(np.int32), kept.T[documents, members].astype(np.float32))

    @cached_property
    def logs(self) -> NDArray[np.float32]:
        """Logarithms of P(word | d), with a number that kernels know for a probability of 0."""
        from cepts.kernels.history import IMPOSSIBLE

        logs = np.full_like(self.words, IMPOSSIBLE)
        return np.log(self.words, out=logs, where=self.words > 0)

    def tracker(self, options: HistoryOptions) -> DocumentTracker:
        """A tracker of P(d | H) at the beginning of a text."""
        return DocumentTracker(self, options)

    def probs(self, rows: NDArray[np.int32], states: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of each word of `rows`, given P(d | H) (Novak and Mammone, 2001, eq. 13); 0 for row number -1."""
        from cepts.kernels.history import word_probs

        found = np.empty(len(rows))
        word_probs(rows, self.words, states, found)
        return found

    def distribution(self, state: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of all rows, given P(d | H)."""
        return self.words.astype(np.float64) @ state

    def estimated_priors(self, rows: NDArray[np.int32], options: HistoryOptions) -> NDArray[np.float64]:
        """Estimate P(d) as the mean of P(d | h) over all histories of a text (Novak and Mammone, 2001, eq. 18).

        `rows` has the row of each word of the text, in order.
        """
        tracker = self.tracker(options)
        total = np.zeros(len(self))
        for start in range(0, len(rows), 4096):
            total += tracker.follow(rows[start : start + 4096]).sum(axis=0, dtype=np.float64)
        return total / max(len(rows), 1)


class DocumentTracker(Tracker):
    """P(d | H) along a text."""

    def __init__(self, hidden: HiddenDocuments, options: HistoryOptions) -> None:
        super().__init__(options)
        self.hidden = hidden
        self._seen = np.zeros(len(hidden), dtype=np.float32)
        self._weights = hidden.priors.copy()

    def copy(self) -> Self:
        """An independent copy."""
        twin = type(self)(self.hidden, self.options)
        twin._seen, twin._weights, twin._recent = self._seen.copy(), self._weights.copy(), self._recent.copy()
        return twin

    def _running(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        from cepts.kernels.history import running_weights

        hidden, options = self.hidden, self.options
        found = np.empty((len(rows), len(hidden)), dtype=np.float32)
        numbers = (np.float32(number) for number in (options.decay, options.strength, options.uninformative))
        model = hidden.words, hidden.priors, hidden.marginals
        running_weights(rows, *model, *numbers, self._seen, self._weights, found)
        return found

    def _windows(self, line: NDArray[np.int32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        from cepts.kernels.history import product_weights, window_weights

        hidden, options = self.hidden, self.options
        found = np.empty((len(places), len(hidden)), dtype=np.float32)
        if options.posterior == "product":
            product_weights(line, places, hidden.logs, hidden.priors, options.history, found)
        else:
            new = np.empty(len(hidden), dtype=np.float32)
            model = hidden.words, hidden.priors, hidden.marginals
            steps = options.history, options.fold_in, np.float32(options.uninformative)
            window_weights(line, places, *model, *steps, new, found)
        return found
