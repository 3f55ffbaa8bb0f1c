"""The history of a text: which of its words count, and what is computed from them word by word."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError, check_choice
from cepts.names import PLACES, POSTERIORS

MOST_HISTORY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """How the weights P(d | H) of the hidden documents d follow from the words H before the predicted word.

    Attributes
    ----------
    history
        Number of preceding words that are used, all with equal weight (Novak and Mammone, 2001, eq. 16). With 0 all
        preceding words are used, and older ones count less.
    places
        If `history` is above 0: which words it counts. With ``content`` these are content words. With ``all`` they are
        all words, as in Novak and Mammone (2001), so function words take up places, although they say nothing.
    posterior
        ``mixture`` divides each word among the hidden documents (Novak and Mammone, 2001, eqs. 15 and 16). ``product``
        assumes that one hidden document has all words (eq. 14); it needs a `history` above 0.
    fold_in
        If `history` is above 0: the number of EM steps from the priors for each history. One step is eqs. (15) and (16)
        of Novak and Mammone (2001); more are the fold-in of PLSA.
    decay
        If `history` is 0: the factor by which the weight of a word is multiplied with each word that follows. Each word
        is divided among the hidden documents once, when it is read, by the P(d | H) at that point (online EM).
    strength
        If `history` is 0: how many words the priors P(d) count for.
    uninformative
        The prior probability that a word says nothing about the topic, from 0 to below 1.
    """

    history: int = 0
    places: str = "content"
    posterior: str = "mixture"
    fold_in: int = 5
    decay: float = 0.95
    strength: float = 0.5
    uninformative: float = 0.3

    def __post_init__(self) -> None:
        check_choice("places", self.places, PLACES)
        check_choice("posterior", self.posterior, POSTERIORS)
        for name, ok, wanted in (
            ("history", 0 <= self.history <= MOST_HISTORY, f"0 to {MOST_HISTORY:,}"),
            ("fold_in", self.fold_in >= 1, "1 or more"),
            ("decay", 0 < self.decay <= 1, "above 0 and at most 1"),
            ("strength", 0 < self.strength < np.inf, "above 0"),
            ("uninformative", 0 <= self.uninformative < 1, "0 or more and below 1"),
        ):
            if not ok:
                raise UsageError(f"`{name}` must be {wanted}. Got {getattr(self, name)} instead.")
        if self.posterior == "product" and not self.history:
            raise UsageError("`posterior` product needs a `history` of 1 or more words; set the history.")

    @property
    def all_words(self) -> bool:
        """Whether function words take up places in the history."""
        return self.history > 0 and self.places == "all"


class HistoryModel(ABC):
    """Word distributions that depend on the history: hidden documents, or the projections of LSA.

    A history is reduced to a *state*, a few hundred numbers, by a `Tracker`.

    Attributes
    ----------
    numbers
        The number of each row's word in the vocabulary of the whole model (int32, ascending).
    """

    KIND: ClassVar[str]
    ARRAYS: ClassVar[tuple[str, ...]]  # names of the arrays, which are saved
    numbers: NDArray[np.int32]

    @abstractmethod
    def __len__(self) -> int:
        """The length of a state."""

    @abstractmethod
    def tracker(self, options: HistoryOptions) -> Tracker:
        """A tracker at the beginning of a text."""

    @abstractmethod
    def probs(self, rows: NDArray[np.int32], states: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of each word of `rows` with its row of `states`; 0 for row number -1."""

    @abstractmethod
    def distribution(self, state: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(word | H) of all rows."""


class Tracker(ABC):
    """The state of a history along a text, word by word; remembers the words that it has followed."""

    def __init__(self, options: HistoryOptions) -> None:
        self.options = options
        self._recent = np.full(options.history, -1, dtype=np.int32)

    @abstractmethod
    def copy(self) -> Self:
        """An independent copy."""

    @abstractmethod
    def _running(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """The state before each word of `rows`, if `history` is 0."""

    @abstractmethod
    def _windows(self, line: NDArray[np.int32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The state at each of `places` in `line`, from the `history` rows before it."""

    def follow(self, rows: NDArray[np.int32], wanted: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """The state before each word of `rows`, or of its places `wanted`; then add the words to the history."""
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        if not self.options.history:
            states = self._running(rows)
            return states if wanted is None else states[wanted]
        line = np.concatenate([self._recent, rows])
        places = np.arange(len(rows)) if wanted is None else wanted
        found = self._windows(line, places + self.options.history)
        self._recent = line[len(rows) :].copy()
        return found
