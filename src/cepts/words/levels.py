"""Forms and their stems, shorter at each level: *parliamentary*, *parlia*, *parl*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.words.forms import distinct

# Words and how often each occurs.
Named = tuple[Sequence[str], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one side at one level.

    `coarse` is the number of each word's stem at the next coarser level, and `share` is P(word | stem). At the coarsest
    level `coarse` is empty and `share` is the word's share of the text.
    """

    names: Sequence[str]
    frequencies: NDArray[np.int64]
    coarse: NDArray[np.int32]
    share: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The cells of one level, and for each the cell of the next coarser level (none at the coarsest)."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int32]
    coarse_of_cell: NDArray[np.int32]
    source: Words
    target: Words


def build_levels(
    rows: NDArray[np.int64],
    targets: NDArray[np.int32],
    source: Named,
    target: Named,
    stems: Sequence[int],
) -> list[Level]:
    """Levels of the cells whose source and target words (names, frequencies) are given, finest first.

    `stems` are the numbers of first letters that the coarser words keep, in falling order.
    """
    levels: list[Level] = []
    for letters in stems:
        (source_words, source), (target_words, target) = (_stemmed(side, letters) for side in (source, target))
        coarse_of_cell, coarse_rows, coarse_targets = _merged(rows, targets, source_words.coarse, target_words.coarse)
        levels.append(Level(rows, targets, coarse_of_cell, source_words, target_words))
        rows, targets = coarse_rows, coarse_targets
    none = np.empty(0, dtype=np.int32)
    coarsest = (_words(*side, none, side[1].sum()) for side in (source, target))
    return [*levels, Level(rows, targets, none, *coarsest)]


def _stemmed(side: Named, letters: int) -> tuple[Words, Named]:
    """The words of a side, and their stems of `letters` letters with the frequencies of these."""
    names, frequencies = side
    coarse_names, coarse = distinct([name[:letters] for name in names])
    totals = np.bincount(coarse, frequencies, len(coarse_names)).astype(np.int64)
    return _words(names, frequencies, coarse, totals[coarse]), (coarse_names, totals)


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
