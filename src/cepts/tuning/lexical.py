"""Features of the words themselves: how annotators link a word or a pair of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary
from cepts.tuning.cells import Column
from cepts.tuning.texts import TextFacts, Words

# A word, or a pair of words, has weights if it is in this many cells of the gold pairs.
LEAST_CELLS = 2
# A word has a weight for all of its cells, one for those that the untuned aligner links, and one for the others.
WEIGHTS_OF_WORD = 3


@dataclass(frozen=True, slots=True, eq=False)
class Lexical:
    """Words and pairs of words, in lower case, whose links are learnt.

    Attributes
    ----------
    source, target
        The words.
    pairs
        Sorted keys of the pairs: number of the source word x number of target words + number of the target word.
    """

    source: Vocabulary
    target: Vocabulary
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, source: list[str], target: list[str]) -> Self:
        """The words and pairs that occur often enough in cells with these source words and target words."""
        sides, numbers = [], []
        for words in (source, target):
            distinct, places, counts = np.unique(np.array(words, dtype=object), return_inverse=True, return_counts=True)
            often = counts >= LEAST_CELLS
            sides.append(Vocabulary.from_words(distinct[often].tolist()))
            numbers.append(np.where(often, np.cumsum(often) - 1, -1)[places])
        known = (numbers[0] >= 0) & (numbers[1] >= 0)
        keys, counts = np.unique((numbers[0] * max(len(sides[1]), 1) + numbers[1])[known], return_counts=True)
        return cls(sides[0], sides[1], keys[counts >= LEAST_CELLS].astype(np.int64))

    def __len__(self) -> int:
        """Number of weights."""
        return WEIGHTS_OF_WORD * (len(self.source) + len(self.target)) + len(self.pairs)

    def places(self, text: TextFacts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each word of the vocabularies of a text, its number here; -1 if it has no weights."""
        sides: tuple[tuple[Vocabulary, Words], ...] = (self.source, text.source), (self.target, text.target)
        source, target = (known.numbers(words.lowered).astype(np.int64) for known, words in sides)
        return source, target

    def categories(self, source: NDArray[np.int64], target: NDArray[np.int64], offset: Column) -> NDArray[np.int64]:
        """Indices of the weights of each cell; the number of weights stands for none.

        Parameters
        ----------
        source, target
            The numbers here of the words of each cell.
        offset
            The log-odds of each cell without tuning.
        """
        absent, after = len(self), WEIGHTS_OF_WORD * len(self.source)
        likely = np.where(offset > 0, 1, 2)
        columns = []
        for numbers, start in ((source, 0), (target, after)):
            first = start + WEIGHTS_OF_WORD * numbers
            columns += [np.where(numbers >= 0, first, absent), np.where(numbers >= 0, first + likely, absent)]
        key = np.where((source >= 0) & (target >= 0), source * max(len(self.target), 1) + target, -1)
        place = np.searchsorted(self.pairs, key)
        known = np.zeros(len(key), dtype=np.bool_)
        inside = place < len(self.pairs)
        known[inside] = self.pairs[place[inside]] == key[inside]
        columns.append(np.where(known, after + WEIGHTS_OF_WORD * len(self.target) + place, absent))
        return np.column_stack(columns).astype(np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The words and pairs as arrays, for saving."""
        return {
            "source.words": self.source.buffer,
            "source.offsets": self.source.offsets,
            "target.words": self.target.buffer,
            "target.offsets": self.target.offsets,
            "pairs": self.pairs,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """What `arrays` returned."""
        source, target = (
            Vocabulary(arrays[f"{side}.words"], arrays[f"{side}.offsets"]) for side in ("source", "target")
        )
        return cls(source, target, arrays["pairs"])
