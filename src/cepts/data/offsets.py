"""Runs of items in one flat array with offsets: how the data of many sentence pairs is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Lengths: TypeAlias = NDArray[np.integer] | Sequence[int]


def offsets_of(lengths: Lengths) -> NDArray[np.int64]:
    """Offsets of consecutive runs of the given lengths: where each run starts, and where the last one ends.

    Examples
    --------
    >>> offsets_of([2, 3]).tolist()
    [0, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def reach_of(offsets: NDArray[np.int64], positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """For each run of `positions`, one more than the largest position in it; 0 if the run is empty."""
    filled = np.diff(offsets) > 0
    reach = np.zeros(len(filled), dtype=np.int64)
    if filled.any():
        reach[filled] = np.maximum.reduceat(positions, offsets[:-1][filled]) + 1
    return reach


def take_runs(
    offsets: NDArray[np.int64], places: NDArray[np.int64] | slice
) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64]]:
    """Indices of the items of the runs at `places`, in that order, and the new offsets; places may repeat."""
    if isinstance(places, slice):
        bounds = offsets[places.start : places.stop + 1]
        return slice(bounds[0], bounds[-1]), bounds - bounds[0]
    counts = np.diff(offsets)[places]
    taken = offsets_of(counts)
    return np.repeat(offsets[:-1][places] - taken[:-1], counts) + np.arange(taken[-1]), taken


class Flat:
    """Base class of dataclasses that store the items of many sentence pairs one after the other.

    Fields whose names end in `offsets` say where the items of each pair start. `layout` has an entry for every other
    array: the offsets that the array follows (a field or a property; None if it has one item for each pair), and an
    empty array of its type. The remaining fields are `Flat` dataclasses too. A field whose default is None may be
    missing.
    """

    __slots__ = ()

    layout: ClassVar[Mapping[str, tuple[str | None, NDArray[Any]]]]
    # The offsets that count the pairs.
    pairs: ClassVar[str] = "offsets"

    def __len__(self) -> int:
        return len(getattr(self, self.pairs)) - 1

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join several parts, one after the other; a field that one of them lacks is missing in the result."""
        joined: list[Any] = []
        for field in fields(cls):  # type: ignore[arg-type]
            found = [getattr(part, field.name) for part in parts]
            if any(item is None for item in found) or not (found or field.default is MISSING):
                joined.append(None)
            elif field.name in cls.layout:
                empty = cls.layout[field.name][1]
                joined.append(np.concatenate([empty, *found], dtype=empty.dtype))
            elif field.name.endswith("offsets"):
                joined.append(offsets_of(np.concatenate([np.empty(0, dtype=np.int64), *map(np.diff, found)])))
            else:
                joined.append(type(found[0]).concatenate(found))
        return cls(*joined)

    def part(self, start: int, stop: int) -> Self:
        """Pairs `start` to `stop` (exclusive), without copying the items."""
        return self._chosen(slice(start, stop))

    def take(self, pairs: NDArray[np.int64]) -> Self:
        """The pairs with the given indices, in that order; an index may repeat."""
        return self._chosen(pairs)

    def _chosen(self, pairs: NDArray[np.int64] | slice) -> Self:
        runs: dict[str, tuple[NDArray[np.int64] | slice, NDArray[np.int64]]] = {}
        chosen: list[Any] = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            follows, _ = self.layout.get(field.name, ("", None))
            if isinstance(value, Flat):
                value = value._chosen(pairs)
            elif value is not None and follows is None:
                value = value[pairs]
            elif value is not None:
                name = follows or field.name
                if name not in runs:
                    runs[name] = take_runs(getattr(self, name), pairs)
                value = value[runs[name][0]] if follows else runs[name][1]
            chosen.append(value)
        return type(self)(*chosen)
