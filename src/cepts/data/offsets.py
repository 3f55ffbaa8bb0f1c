"""Runs of items in one flat array with offsets: how all data of many sentence pairs is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lengths", "offsets_of", "take_runs"]

Lengths: TypeAlias = NDArray[np.integer] | Sequence[int]


def offsets_of(lengths: Lengths) -> NDArray[np.int64]:
    """Where each of several consecutive runs starts, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def take_runs(offsets: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The items of the runs at `places`, which may repeat, in their order; and the new offsets."""
    counts = np.diff(offsets)[places]
    taken = offsets_of(counts)
    return np.repeat(offsets[:-1][places] - taken[:-1], counts) + np.arange(taken[-1]), taken
