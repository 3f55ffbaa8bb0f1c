"""Feature columns: real values and categories, gathered by family into the arrays that a CRF scores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "Block", "Columns", "Table"]

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


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The columns of many items (cells, spans or words).

    `values` (items x columns, float32) and `categories` (items x columns, int32: numbers among all weights of
    categories). An item's score is values @ value weights + sum of the weights of its categories.
    """

    values: NDArray[np.float32]
    categories: NDArray[np.int32]


class Columns:
    """Gathers columns over items of one shape."""

    def __init__(self, families: Collection[str]) -> None:
        self._families = families
        self._values: list[NDArray] = []
        self._categories: list[NDArray] = []
        self.value_blocks: list[Block] = []
        self.category_blocks: list[Block] = []
        self._base = 0

    def wants(self, family: str) -> bool:
        """Whether columns of this family are gathered."""
        return family in self._families

    def value(self, family: str, name: str, values: NDArray) -> None:
        """Add a column of values, one weight for all."""
        if self.wants(family):
            self._values.append(values)
            self.value_blocks.append(Block(family, name, 1))

    def category(self, family: str, name: str, categories: NDArray[np.integer], count: int) -> None:
        """Add a column of categories 0 to `count` (exclusive), each with a weight of its own."""
        if self.wants(family):
            self._categories.append(categories.astype(np.int64) + self._base)
            self.category_blocks.append(Block(family, name, count))
            self._base += count

    def table(self, shape: tuple[int, ...]) -> Table:
        """All columns of items of `shape`, flat."""
        items = int(np.prod(shape))
        values = np.empty((items, len(self._values)), dtype=np.float32)
        for place, column in enumerate(self._values):
            values[:, place] = np.broadcast_to(column, shape).reshape(-1)
        categories = np.empty((items, len(self._categories)), dtype=np.int32)
        for place, column in enumerate(self._categories):
            categories[:, place] = np.broadcast_to(column, shape).reshape(-1)
        return Table(values, categories)
