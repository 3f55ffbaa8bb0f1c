"""Texts and bitexts as word numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data.runs import offsets_of
from cepts.data.vocabulary import Vocabulary

__all__ = ["Bitext", "Text"]


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Sentences of one language as word numbers.

    Sentence `n` is `ids[offsets[n]:offsets[n + 1]]` (int32 ids, int64 offsets).
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary

    @classmethod
    def from_tokens(cls, sentences: Iterable[Sequence[str]]) -> Text:
        """Text of sentences that are already cut into tokens."""
        numbers: dict[str, int] = {}
        ids: list[int] = []
        lengths: list[int] = []
        for sentence in sentences:
            lengths.append(len(sentence))
            ids.extend(numbers.setdefault(token, len(numbers)) for token in sentence)
        return cls(np.array(ids, dtype=np.int32), offsets_of(lengths), Vocabulary.from_words(numbers))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> list[str]:
        words = self.vocabulary.words
        return [words[i] for i in self.ids[self.offsets[sentence] : self.offsets[sentence + 1]]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each sentence."""
        return np.diff(self.offsets)

    def part(self, start: int, stop: int) -> Text:
        """Sentences `start` to `stop` (exclusive), sharing the vocabulary."""
        offsets = self.offsets[start : stop + 1]
        return Text(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocabulary)


@dataclass(frozen=True, slots=True, eq=False)
class Bitext:
    """Sentence pairs: as many source as target sentences, in the same order."""

    source: Text
    target: Text

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise ValueError(
                f"source and target must have as many sentences. Got {len(self.source)} and {len(self.target)} instead."
            )

    @classmethod
    def from_tokens(cls, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Bitext:
        """Bitext of pairs of tokenised sentences."""
        pairs = list(pairs)
        return cls(Text.from_tokens(s for s, _ in pairs), Text.from_tokens(t for _, t in pairs))

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, pair: int) -> tuple[list[str], list[str]]:
        return self.source[pair], self.target[pair]

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive)."""
        return Bitext(self.source.part(start, stop), self.target.part(start, stop))
