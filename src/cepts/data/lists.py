"""Lists of the most probable alignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import offsets_of, take_runs

__all__ = ["NBest"]


@dataclass(frozen=True, slots=True, eq=False)
class NBest:
    """The most probable alignments of many sentence pairs in one direction, the best of each pair first.

    Attributes
    ----------
    lengths
        Words of each pair's explained sentence: J of the forward direction, I of the reverse.
    offsets
        The alignments of pair `n` are entries `offsets[n]:offsets[n + 1]`.
    log_probabilities
        Of each entry: log P(explained sentence, alignment | other sentence).
    positions
        Of each entry, end to end: for every explained word its position in the other sentence, -1 for null (int32).
    """

    lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    log_probabilities: NDArray[np.float64]
    positions: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the positions of each pair's first entry start, and where the last pair's end."""
        return offsets_of(self.lengths * np.diff(self.offsets))

    def __getitem__(self, pair: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log-probabilities of the alignments of one pair, and their positions (a row an alignment)."""
        starts = self.starts
        positions = self.positions[starts[pair] : starts[pair + 1]]
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        return self.log_probabilities[run], positions.reshape(run.stop - run.start, self.lengths[pair])

    @classmethod
    def concatenate(cls, parts: Sequence[NBest]) -> NBest:
        """The lists of several runs of pairs, one after the other."""
        return cls(
            np.concatenate([part.lengths for part in parts] or [np.empty(0, np.int64)]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]) if parts else []),
            np.concatenate([part.log_probabilities for part in parts] or [np.empty(0)]),
            np.concatenate([part.positions for part in parts] or [np.empty(0, np.int32)]),
        )

    def take(self, pairs: NDArray[np.int64]) -> NBest:
        """The lists of `pairs`, which may repeat, in their order."""
        entries, offsets = take_runs(self.offsets, pairs)
        places, _ = take_runs(self.starts, pairs)
        return NBest(self.lengths[pairs], offsets, self.log_probabilities[entries], self.positions[places])
