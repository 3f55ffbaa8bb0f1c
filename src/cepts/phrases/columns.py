"""Feature columns: real values and categories of items, by family."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "Block", "Blocks", "Selection", "Table"]

# Family -> what it looks at (section 3.3 of semicrf).
FAMILIES = {
    "string": "spelling: identical, Jaro-Winkler, n-grams, prefix and suffix",
    "pos": "part-of-speech tags and their pairs",
    "position": "where the words stand in their sentences",
    "wordnet": "relations in WordNet",
    "distortion": "how far the next segment lies from the last",
    "context": "how alike the neighbours are",
    "chunk": "chunks: types, pairs of types, whether a span is one",
    "paraphrase": "paraphrase tables",
    "relatedness": "word vectors",
    "name": "names: edit distance learnt from nicknames",
    "lexical": "frequent words, and pairs of words that training links",
}


class Block(NamedTuple):
    """A column and its weights: one for a value, one for each category."""

    family: str
    name: str
    weights: int


Blocks = tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The columns of many items (cells, spans or words).

    `values` (items x columns, float32) and `categories` (items x columns, int32: numbers among all weights of
    categories). An item's score is values @ value weights + sum of the weights of its categories.
    """

    values: NDArray[np.float32]
    categories: NDArray[np.int32]


class Selection:
    """The columns of a table that the families of a model want."""

    def __init__(self, values: Sequence[Block], categories: Sequence[Block], families: Collection[str]) -> None:
        self._columns = len(values), len(categories)
        self._values = [place for place, block in enumerate(values) if block.family in families]
        self._categories = [place for place, block in enumerate(categories) if block.family in families]
        self.blocks: tuple[Blocks, Blocks] = (
            tuple(values[place] for place in self._values),
            tuple(categories[place] for place in self._categories),
        )
        # Categories of all columns are numbered one after the other.
        counts = [block.weights for block in self.blocks[1]]
        self._bases = np.cumsum([0, *counts], dtype=np.int32)[:-1]

    def table(self, items: int, fill: Callable[[NDArray[np.float32], NDArray[np.int32]], None]) -> Table:
        """The table of `items` rows for which `fill` fills all columns."""
        values = np.empty((items, self._columns[0]), dtype=np.float32)
        categories = np.empty((items, self._columns[1]), dtype=np.int32)
        fill(values, categories)
        if len(self._values) < self._columns[0]:
            values = np.ascontiguousarray(values[:, self._values])
        if len(self._categories) < self._columns[1]:
            categories = np.ascontiguousarray(categories[:, self._categories])
        categories += self._bases
        return Table(values, categories)
