"""Feature columns, by family: the values (real numbers) and the categories of items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.errors import DataError

if TYPE_CHECKING:
    from cepts.kernels.phrase_features import FeatureGroup

# Family -> what it looks at (semicrf, section 3.3).
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


class FeatureBlock(NamedTuple):
    """A feature and how many weights it has: one for a value, one per combination for a category."""

    family: str
    name: str
    weights: int


FeatureBlocks = tuple[FeatureBlock, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """The features of many items (cells, spans or words).

    `values` (items x columns, float32) are real numbers; `categories` (items x columns, int32) are places among all
    weights of categories. The score of an item is values @ value weights + sum of the weights of its categories.
    """

    values: NDArray[np.float32]
    categories: NDArray[np.int32]


class FeatureColumns:
    """Those features of a group that a model uses.

    Parameters
    ----------
    group
        The declared features.
    sizes
        The sizes of those attributes whose size depends on the model, by name.
    families
        The families that the model uses.
    """

    def __init__(self, group: FeatureGroup, sizes: Mapping[str, int], families: Collection[str]) -> None:
        self._attributes = [attribute.name for attribute in group.attributes]
        found = [sizes[size] if isinstance(size, str) else size for _, size in group.attributes]
        if max(found, default=0) > np.iinfo(np.int16).max:
            raise DataError(
                f"found {max(found):,} tags, chunk types or frequent words in training, wanted at most "
                f"{np.iinfo(np.int16).max:,}; use fewer."
            )
        self._sizes = np.array(found, dtype=np.int32)
        self._declared_values = len(group.values)
        self._values = [place for place, value in enumerate(group.values) if value.family in families]
        wanted = [category for category in group.categories if category.family in families]
        places = {name: place for place, name in enumerate(self._attributes)}
        parts = [[places[name] for name in category.attributes] for category in wanted]
        weights = [int(np.prod(self._sizes[own])) for own in parts]
        self._parts = np.array([part for own in parts for part in own], dtype=np.int64)
        self._part_offsets = offsets_of([len(own) for own in parts])
        # Combinations of all categories are numbered one after the other.
        self._bases = offsets_of(weights)[:-1].astype(np.int32)
        self.blocks: tuple[FeatureBlocks, FeatureBlocks] = (
            tuple(FeatureBlock(*group.values[place], 1) for place in self._values),
            tuple(FeatureBlock(one.family, one.name, size) for one, size in zip(wanted, weights, strict=True)),
        )

    def table(self, items: int, fill: Callable[[NDArray[np.float32], NDArray[np.int16]], None]) -> FeatureTable:
        """The features of `items`; `fill` fills all values (items x values) and attributes (attributes x items).

        An attribute that is not below its size raises ValueError, because it would be taken for another combination.
        """
        from cepts.kernels.phrase_features import combine

        values = np.zeros((items, self._declared_values), dtype=np.float32)
        attributes = np.zeros((len(self._sizes), items), dtype=np.int16)
        fill(values, attributes)
        if len(self._values) < self._declared_values:
            values = np.ascontiguousarray(values[:, self._values])
        categories = np.empty((items, len(self._bases)), dtype=np.int32)
        numbers = np.empty(items, dtype=np.int32)
        bad = combine(attributes, self._sizes, self._parts, self._part_offsets, self._bases, numbers, categories)
        if bad >= 0:
            raise ValueError(
                f"the attribute {self._attributes[bad]!r} must lie between 0 and {self._sizes[bad] - 1}. "
                f"Got values from {attributes[bad].min()} to {attributes[bad].max()} instead."
            )
        return FeatureTable(values, categories)
