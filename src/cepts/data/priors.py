"""Counts of links, jumps and fertilities that come from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Stands for the null word in tables of counts.
NULL_WORD = "<NULL>"


@dataclass(frozen=True, slots=True, eq=False)
class PriorEntries:
    """Some lines of a table of counts.

    Attributes
    ----------
    source, target, counts
        Pairs of words, either of which may be `NULL_WORD`, and the count of each.
    jumps
        Forward (0) or reverse (1), the jump, and its count.
    fertilities
        Forward (0) or reverse (1), the word, its fertility and the count.
    """

    source: Sequence[str]
    target: Sequence[str]
    counts: NDArray[np.float64]
    jumps: Sequence[tuple[int, int, float]] = ()
    fertilities: Sequence[tuple[int, str, int, float]] = ()
