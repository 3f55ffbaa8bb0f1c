"""How closely words belong to the word before and to the word after them, in a text of one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import Pulls
from cepts.words.adjacent import AdjacentWords

if TYPE_CHECKING:
    from cepts.kernels.classes import Bigrams

# Pseudo-count of any two adjacent words.
SMOOTHING = 0.5
# A word is as likely to stand alone as to belong to a neighbour that is next to it this many times more often than
# chance predicts. Set on the trial sentences of the Hansards (benchmarks/onmf.py), as is the strength of spreading.
STAY = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Cohesion:
    """Counts of words and of pairs of adjacent words.

    Attributes
    ----------
    counts
        How often each word occurs.
    followers, offsets
        The words that follow word w, in ascending order, are `followers[offsets[w]:offsets[w + 1]]`.
    times
        How often each of them follows w.
    """

    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    followers: NDArray[np.int32]
    times: NDArray[np.int32]

    @classmethod
    def of(cls, adjacent: AdjacentWords) -> Cohesion:
        """Counts of a text, of which the boundaries of sentences do not matter here."""
        inside = adjacent.inside()
        starts = np.searchsorted(inside.first, np.arange(inside.words + 1)).astype(np.int64)
        return cls(inside.counts, starts, inside.second, inside.times.astype(np.int32))

    def pulls(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> Pulls:
        """For each token: P(belongs to the word before) and P(belongs to the word after); the rest is P(neither).

        They are proportional to how much more often than by chance the two words are adjacent: `besoin de` is such a
        pair, so `de` goes with `besoin` rather than with the noun after it. An unknown word (-1) has never been seen
        next to another word.
        """
        from cepts.kernels.cohesion import pulls

        left, right = np.empty(len(ids), dtype=np.float32), np.empty(len(ids), dtype=np.float32)
        counts = self.counts, max(int(self.counts.sum()), 1), self._bigrams()
        pulls(*_text(ids, offsets), *counts, SMOOTHING, STAY, left, right)
        return Pulls(left, right)

    def seen(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each sentence may be one of the text: each word of it occurs there after the word before it.

        This holds for all sentences of the text that was counted, and for some other ones, which are short or have only
        frequent words.
        """
        from cepts.kernels.cohesion import seen_sentences

        seen = np.empty(len(offsets) - 1, dtype=np.bool_)
        seen_sentences(*_text(ids, offsets), self._bigrams(), seen)
        return seen

    def _bigrams(self) -> Bigrams:
        from cepts.kernels.classes import Bigrams

        return Bigrams(self.offsets, self.followers, self.times)


def _text(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    return np.ascontiguousarray(ids, dtype=np.int32), np.ascontiguousarray(offsets, dtype=np.int64)
