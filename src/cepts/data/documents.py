"""Documents: a text whose sentences belong together in runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data.runs import offsets_of
from cepts.data.text import Text

__all__ = ["Documents"]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Documents in their order; document `n` has the sentences `offsets[n]` to `offsets[n + 1]` of `text`.

    Attributes
    ----------
    text
        All sentences, as word numbers.
    offsets
        Where each document starts, in sentences, and where the last one ends (int64).
    names
        What names each document in messages and tables.
    """

    text: Text
    offsets: NDArray[np.int64]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.offsets) - 1:
            raise ValueError(f"names must be as many as documents, {len(self)}. Got {len(self.names)} instead.")

    @classmethod
    def from_tokens(cls, documents: Iterable[Sequence[Sequence[str]]], names: Sequence[str] | None = None) -> Documents:
        """Documents of sentences that are already cut into tokens; their names are numbers from 1 if none are given."""
        documents = [list(document) for document in documents]
        text = Text.from_tokens(sentence for document in documents for sentence in document)
        named = tuple(names) if names is not None else tuple(str(n + 1) for n in range(len(documents)))
        return cls(text, offsets_of([len(document) for document in documents]), named)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def word_offsets(self) -> NDArray[np.int64]:
        """Where each document starts in `text.ids`, and where the last one ends."""
        return self.text.offsets[self.offsets]

    def chosen(self, wanted: NDArray[np.bool_]) -> Documents:
        """The documents where `wanted` is true, sharing the vocabulary."""
        lengths = np.diff(self.offsets)
        sentences = np.repeat(wanted, lengths)
        sentence_lengths = self.text.lengths
        words = np.repeat(sentences, sentence_lengths)
        text = Text(self.text.ids[words], offsets_of(sentence_lengths[sentences]), self.text.vocabulary)
        names = tuple(name for name, keep in zip(self.names, wanted.tolist(), strict=True) if keep)
        return Documents(text, offsets_of(lengths[wanted]), names)
