"""Lists of the most probable alignments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import Flat, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class NBest(Flat):
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

    layout: ClassVar = {
        "lengths": (None, np.empty(0, dtype=np.int64)),
        "log_probabilities": ("offsets", np.empty(0)),
        "positions": ("starts", np.empty(0, dtype=np.int32)),
    }

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the positions of each pair's first entry start, and where the last pair's end."""
        return offsets_of(self.lengths * np.diff(self.offsets))

    def __getitem__(self, pair: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log-probabilities of the alignments of one pair, and their positions (one row per alignment)."""
        starts = self.starts
        positions = self.positions[starts[pair] : starts[pair + 1]]
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        return self.log_probabilities[run], positions.reshape(run.stop - run.start, self.lengths[pair])
