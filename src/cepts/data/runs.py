"""Runs of items laid end to end, with offsets: how all data of many sentence pairs is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["offsets_of", "take_runs"]


def offsets_of(lengths: NDArray[np.integer] | Sequence[int]) -> NDArray[np.int64]:
    """Where each of several runs laid end to end starts, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def take_runs(offsets: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The items of the runs at `places`, which may repeat, in their order; and the new offsets."""
    counts = np.diff(offsets)[places]
    taken = offsets_of(counts)
    return np.repeat(offsets[:-1][places] - taken[:-1], counts) + np.arange(taken[-1]), taken
