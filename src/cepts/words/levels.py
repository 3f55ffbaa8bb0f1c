"""Forms and their stems, shorter at each level: *parliamentary*, *parlia*, *parl*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.words.forms import distinct

# The arrays of `Words`.
NUMBERS = ("frequencies", "coarse", "share")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one side at one level.

    `coarse` is the number of each word's stem at the next coarser level, and `share` is P(word | stem). At the coarsest
    level `coarse` is empty and `share` is the word's share of the text. `names` may be
    missing while a model is trained.
    """

    names: Sequence[str]
    frequencies: NDArray[np.int64]
    coarse: NDArray[np.int32]
    share: NDArray[np.float32]

    def arrays(self, prefix: str) -> dict[str, NDArray]:
        """The arrays by name, without the names of the words."""
        return {f"{prefix}.{name}": getattr(self, name) for name in NUMBERS}

    @classmethod
    def of(cls, prefix: str, arrays: Mapping[str, NDArray]) -> Words:
        """The words that `arrays` returned."""
        return cls((), *(arrays[f"{prefix}.{name}"] for name in NUMBERS))


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The cells of one level, and for each the cell of the next coarser level (none at the coarsest)."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int32]
    coarse_of_cell: NDArray[np.int32]
    source: Words
    target: Words


def words_by_level(
    names: Sequence[str], frequencies: NDArray[np.int64], stems: Sequence[int], *, total: int | None = None
) -> list[Words]:
    """The words of a side and their stems, finest first.

    `stems` are the numbers of first letters that the coarser words keep, in falling order; `total` is the number of
    words of the text, if `names` are not all of its words.
    """
    found: list[Words] = []
    total = int(frequencies.sum()) if total is None else total
    for letters in stems:
        coarse_names, coarse = distinct([name[:letters] for name in names])
        totals = np.bincount(coarse, frequencies, len(coarse_names)).astype(np.int64)
        found.append(_words(names, frequencies, coarse, totals[coarse]))
        names, frequencies = coarse_names, totals
    return [*found, _words(names, frequencies, np.empty(0, dtype=np.int32), np.array(total))]


def build_levels(
    rows: NDArray[np.int64], targets: NDArray[np.int32], source: Sequence[Words], target: Sequence[Words]
) -> list[Level]:
    """Levels of the cells whose source and target words (see `words_by_level`) are given, finest first."""
    levels: list[Level] = []
    for source_words, target_words in zip(source[:-1], target[:-1], strict=True):
        coarse_of_cell, coarse_rows, coarse_targets = _merged(rows, targets, source_words.coarse, target_words.coarse)
        levels.append(Level(rows, targets, coarse_of_cell, source_words, target_words))
        rows, targets = coarse_rows, coarse_targets
    return [*levels, Level(rows, targets, np.empty(0, dtype=np.int32), source[-1], target[-1])]


def _merged(
    rows: NDArray[np.int64], targets: NDArray[np.int32], source: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """The coarser cell of each cell, and the rows and target words of the coarser cells."""
    from cepts.kernels.index import merge_rows, occurrences_by_word

    source_words, target_words = (int(coarse.max(initial=-1)) + 1 for coarse in (source, target))
    starts, members = np.empty(source_words + 1, dtype=np.int64), np.empty(len(source), dtype=np.int64)
    occurrences_by_word(source, starts, members)
    seen, used = np.full(target_words, -1, dtype=np.int32), np.empty(target_words, dtype=np.int32)
    coarse_of_cell, coarse_targets = np.empty(len(targets), dtype=np.int32), np.empty(len(targets), dtype=np.int32)
    coarse_rows = np.empty(source_words + 1, dtype=np.int64)
    cells = members, starts, target, rows, targets
    count = merge_rows(*cells, seen, used, coarse_of_cell, coarse_targets, coarse_rows)
    return coarse_of_cell, coarse_rows, coarse_targets[:count].copy()


def _words(names: Sequence[str], frequencies: NDArray[np.int64], coarse: NDArray[np.int32], totals: NDArray) -> Words:
    # A word that never occurred counts as if it had occurred once.
    share = np.maximum(frequencies, 1) / np.maximum(totals, 1)
    return Words(names, frequencies, coarse, share.astype(np.float32))
