"""Association matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import Flat, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Association(Flat):
    """One non-negative I x J matrix for each sentence pair: how strongly source word i goes with target word j.

    Attributes
    ----------
    source_lengths, target_lengths
        I and J of each pair.
    offsets
        Pair `n` occupies `values[offsets[n]:offsets[n + 1]]`, row-major (one row per source word).
    values
        The entries of all matrices (float32).
    source_null, target_null
        Null mass of each source (target) word: how much of it belongs to no word of the other side. One value for each
        word, all pairs one after the other. None if the scorer has no null.
    """

    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    source_null: NDArray[np.float32] | None = None
    target_null: NDArray[np.float32] | None = None

    layout: ClassVar = {
        "source_lengths": (None, np.empty(0, dtype=np.int64)),
        "target_lengths": (None, np.empty(0, dtype=np.int64)),
        "values": ("offsets", np.empty(0, dtype=np.float32)),
        "source_null": ("source_offsets", np.empty(0, dtype=np.float32)),
        "target_null": ("target_offsets", np.empty(0, dtype=np.float32)),
    }

    def __repr__(self) -> str:
        null = " and null" if self.source_null is not None or self.target_null is not None else ""
        return f"Association({len(self):,} matrices{null}, {len(self.values):,} entries)"

    def __getitem__(self, pair: int) -> NDArray[np.float32]:
        values = self.values[self.offsets[pair] : self.offsets[pair + 1]]
        return values.reshape(self.source_lengths[pair], self.target_lengths[pair])

    @property
    def source_offsets(self) -> NDArray[np.int64]:
        """Where the source words of each pair start in `source_null`."""
        return offsets_of(self.source_lengths)

    @property
    def target_offsets(self) -> NDArray[np.int64]:
        """Where the target words of each pair start in `target_null`."""
        return offsets_of(self.target_lengths)

    def line_sums(self, *, by_target: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the sum of each column (`by_target`) or of each row, and for each cell the index of its sum."""
        offsets = self.target_offsets if by_target else self.source_offsets
        sizes = np.diff(self.offsets)
        place = np.arange(int(self.offsets[-1])) - np.repeat(self.offsets[:-1], sizes)
        width = np.repeat(self.target_lengths, sizes)
        word = np.repeat(offsets[:-1], sizes) + (place % width if by_target else place // width)
        sums: NDArray[np.float64] = np.bincount(word, self.values, minlength=int(offsets[-1]))  # type: ignore[assignment]
        return sums, word

    def masses(self) -> list[tuple[str, NDArray[np.float32], NDArray[np.int64]]]:
        """Return (name of the field, values, offsets) of the matrices and of the null masses that are known."""
        nulls = (
            ("source_null", self.source_null, self.source_offsets),
            ("target_null", self.target_null, self.target_offsets),
        )
        present = [(name, null, offsets) for name, null, offsets in nulls if null is not None]
        return [("values", self.values, self.offsets), *present]

    def scaled(self, factor: float | NDArray[np.floating]) -> Association:
        """Multiply all values and null masses by `factor`: one number, or an array with one for each pair."""
        found: dict[str, Any] = {
            name: values * np.float32(factor)
            if np.ndim(factor) == 0
            else (values * np.repeat(factor, np.diff(offsets))).astype(np.float32)
            for name, values, offsets in self.masses()
        }
        return replace(self, **found)


def geometric_mean(forward: Association, reverse: Association) -> Association:
    """Geometric mean of the posteriors of the two directions, which is high only where both are high.

    The null masses are those of the direction that explains the word: `forward` for target words, `reverse` for source
    words.
    """
    if not np.array_equal(forward.offsets, reverse.offsets):
        raise ValueError("forward and reverse must be associations of the same sentence pairs.")
    values = forward.values * reverse.values
    # Rounding may leave a posterior slightly above 1.
    np.minimum(np.sqrt(values, out=values), np.float32(1), out=values)
    return replace(forward, values=values, source_null=reverse.source_null)
