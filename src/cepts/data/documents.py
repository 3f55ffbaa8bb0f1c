"""Documents: a text whose sentences are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import offsets_of
from cepts.data.text import Text


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
        Names of the documents for messages and tables.
    lowercase
        Whether the words were put in lower case.
    boundaries
        What separates documents: ``file`` (each file is one), ``blank`` (blank lines), ``jsonl`` (one object per line),
        or several of them, joined by ``+``; ``given`` where the documents come from no file.
    sources
        The files that were read.
    """

    text: Text
    offsets: NDArray[np.int64]
    names: tuple[str, ...]
    lowercase: bool = False
    boundaries: str = "given"
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) != len(self.offsets) - 1:
            raise ValueError(f"`names` must be one for each of {len(self)} documents. Got {len(self.names)} instead.")

    @classmethod
    def from_tokens(cls, documents: Iterable[Sequence[Sequence[str]]], names: Sequence[str] | None = None) -> Documents:
        """Documents of tokenised sentences; without `names` they are numbered from 1."""
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
        return replace(self, text=text, offsets=offsets_of(lengths[wanted]), names=names)

    def lowercased(self) -> Documents:
        """The same in lower case."""
        return replace(self, text=self.text.lowercased(), lowercase=True)
