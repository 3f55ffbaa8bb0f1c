"""Ranges of the lexicon: groups of source words that no task needs to see beyond.

Words with the same coarsest stem are in the same range, so that all levels of a back-off are within it. What joins the
ranges are only sums: the totals of target words, and samples by which the strengths of the back-off are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import lazy_property
from cepts.words.forms import distinct
from cepts.words.index import Sizes
from cepts.words.levels import Level, Words
from cepts.words.lexicon import Side

# A word that stands opposite x target tokens in all has about FACTOR x^POWER cells, in English with French or German.
FACTOR, POWER = 2.0, 0.75


@dataclass(frozen=True, eq=False)
class Ranges:
    """How source words are cut into ranges.

    Attributes
    ----------
    ranks
        The place of each source word among the rows of the index. With one range, it is the word's number.
    bounds
        Range r has the ranks `bounds[r]:bounds[r + 1]`.
    """

    ranks: NDArray[np.int32]
    bounds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @lazy_property
    def _words(self) -> NDArray[np.int64]:
        """The source words by rank."""
        return np.argsort(self.ranks, kind="stable")

    def words_of(self, number: int) -> NDArray[np.int64]:
        """The source words of a range, by rank; they are in ascending order."""
        return self._words[self.bounds[number] : self.bounds[number + 1]]


def expected_cells(frequencies: NDArray[np.int64], opposite: float, target_words: int) -> NDArray[np.float64]:
    """About how many cells source words will have, which is not known before a text is indexed.

    `opposite` is how many target tokens stand opposite a source token on average, and `target_words` how many target
    words there are.
    """
    tokens = frequencies * opposite
    return np.minimum(np.minimum(tokens, FACTOR * tokens**POWER), target_words)


def cut_ranges(source: Side, target: Side, letters: int | None, sizes: Sizes, opposite: float) -> Ranges:
    """Cut source words into ranges of the size in `sizes`, each of all words with the same first `letters` letters.

    `opposite` is that of `expected_cells`.
    """
    expected = expected_cells(source.frequencies, opposite, len(target))
    total = float(expected.sum())
    cells = sizes.range_of(total)
    if total <= cells:
        return Ranges(np.arange(len(source), dtype=np.int32), np.array([0, len(source)], dtype=np.int64))
    group = np.arange(len(source)) if letters is None else _stems(source, letters)
    of_group = np.bincount(group, expected)
    ranges = -int(-total // cells)
    before = np.cumsum(of_group) - of_group
    range_of = np.minimum(before * ranges / total, ranges - 1).astype(np.int64)[group]
    order = np.argsort(range_of, kind="stable")
    ranks = np.empty(len(source), dtype=np.int32)
    ranks[order] = np.arange(len(source))
    _, words = np.unique(range_of, return_counts=True)
    return Ranges(ranks, np.concatenate([[0], np.cumsum(words)]).astype(np.int64))


def _stems(source: Side, letters: int) -> NDArray[np.int32]:
    _, group = distinct([name[:letters] for name in source.vocabulary.words])
    return group


def level_arrays(levels: Sequence[Level]) -> dict[str, NDArray]:
    """The arrays of the levels of a range, without its target words, which all ranges share."""
    found: dict[str, NDArray] = {}
    for depth, level in enumerate(levels):
        found |= {f"{depth}.{name}": getattr(level, name) for name in ("rows", "targets", "coarse_of_cell")}
        found |= level.source.arrays(f"{depth}.source")
    return found


def levels_of(arrays: Mapping[str, NDArray], target: Sequence[Words]) -> list[Level]:
    """The levels that `level_arrays` returned."""
    return [
        Level(
            arrays[f"{depth}.rows"],
            arrays[f"{depth}.targets"],
            arrays[f"{depth}.coarse_of_cell"],
            Words.of(f"{depth}.source", arrays),
            words,
        )
        for depth, words in enumerate(target)
    ]
