"""Forms and their ever shorter stems: *parliamentary*, *parlia*, *parl*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.words.forms import distinct


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one side at one level.

    `share` is P(word | its coarser word), or the word's share of the text at the coarsest level, where
    `coarse` is empty.
    """

    names: list[str]
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
    source: tuple[Sequence[str], NDArray[np.int64]],
    target: tuple[Sequence[str], NDArray[np.int64]],
    stems: Sequence[int],
) -> list[Level]:
    """Levels of the cells whose source and target words (names, frequencies) are given, finest first.

    `stems` are the numbers of first letters that the coarser words keep, in falling order.
    """
    from cepts.kernels.index import merge_rows, occurrences_by_word

    levels: list[Level] = []
    source_names, source_frequencies = list(source[0]), source[1]
    target_names, target_frequencies = list(target[0]), target[1]
    for letters in stems:
        source_coarse_names, source_coarse = distinct([name[:letters] for name in source_names])
        target_coarse_names, target_coarse = distinct([name[:letters] for name in target_names])
        source_totals = np.bincount(source_coarse, source_frequencies, len(source_coarse_names)).astype(np.int64)
        target_totals = np.bincount(target_coarse, target_frequencies, len(target_coarse_names)).astype(np.int64)
        starts = np.empty(len(source_coarse_names) + 1, dtype=np.int64)
        members = np.empty(len(source_coarse), dtype=np.int64)
        occurrences_by_word(source_coarse, starts, members)
        coarse_of_cell = np.empty(len(targets), dtype=np.int32)
        coarse_targets = np.empty(len(targets), dtype=np.int32)
        coarse_rows = np.empty(len(source_coarse_names) + 1, dtype=np.int64)
        count = merge_rows(
            members,
            starts,
            target_coarse,
            rows,
            targets,
            np.full(len(target_coarse_names), -1, dtype=np.int32),
            np.empty(len(target_coarse_names), dtype=np.int32),
            coarse_of_cell,
            coarse_targets,
            coarse_rows,
        )
        levels.append(
            Level(
                rows,
                targets,
                coarse_of_cell,
                _words(source_names, source_frequencies, source_coarse, source_totals[source_coarse]),
                _words(target_names, target_frequencies, target_coarse, target_totals[target_coarse]),
            )
        )
        rows, targets = coarse_rows, coarse_targets[:count].copy()
        source_names, source_frequencies = source_coarse_names, source_totals
        target_names, target_frequencies = target_coarse_names, target_totals
    none = np.empty(0, dtype=np.int32)
    levels.append(
        Level(
            rows,
            targets,
            none,
            _words(source_names, source_frequencies, none, source_frequencies.sum()),
            _words(target_names, target_frequencies, none, target_frequencies.sum()),
        )
    )
    return levels


def _words(
    names: list[str],
    frequencies: NDArray[np.int64],
    coarse: NDArray[np.int32],
    totals: NDArray[np.int64] | np.int64,
) -> Words:
    # A word of the model that never occurred counts as if it had occurred once.
    share = np.maximum(frequencies, 1) / np.maximum(totals, 1)
    return Words(names, frequencies, coarse, share.astype(np.float32))
