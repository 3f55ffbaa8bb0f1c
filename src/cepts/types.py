"""The data that passes between the rooms: texts, bitexts, association matrices, alignments.

All of them hold many sentence pairs in flat arrays with offsets, which is what kernels read; indexing gives the
view of one pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.vocabulary import Vocabulary

__all__ = ["Alignment", "Alignments", "Association", "Bitext", "Text", "offsets_of"]


def offsets_of(lengths: NDArray[np.integer] | Sequence[int]) -> NDArray[np.int64]:
    """Where each of several runs laid end to end starts, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


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


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """One non-negative I x J matrix for each sentence pair: how much source i and target j belong together.

    Attributes
    ----------
    source_lengths, target_lengths
        I and J of each pair.
    offsets
        Pair `n` occupies `values[offsets[n]:offsets[n + 1]]`, row-major (a row a source word).
    values
        The entries of all matrices (float32).
    source_null, target_null
        Mass of each source (target) word that belongs to no word of the other side; laid end to end as the
        tokens are. None where the scorer has no null.
    """

    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    source_null: NDArray[np.float32] | None = None
    target_null: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, pair: int) -> NDArray[np.float32]:
        values = self.values[self.offsets[pair] : self.offsets[pair + 1]]
        return values.reshape(self.source_lengths[pair], self.target_lengths[pair])


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The links of one sentence pair, by source then target position, both from 0."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.source)

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links as (source, target) pairs."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Alignments:
    """The alignments of many sentence pairs; the links of pair `n` stand at `offsets[n]:offsets[n + 1]`.

    Within a pair, links are sorted by source, then target position, and no link stands twice.
    """

    offsets: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]

    @classmethod
    def from_links(cls, pairs: Iterable[Iterable[tuple[int, int]]]) -> Alignments:
        """Alignments of plain (source, target) links, all sure and of confidence 1."""
        rows = [sorted(set(links)) for links in pairs]
        flat = np.array([link for row in rows for link in row], dtype=np.int32).reshape(-1, 2)
        count = len(flat)
        return cls(
            offsets_of([len(row) for row in rows]),
            np.ascontiguousarray(flat[:, 0]),
            np.ascontiguousarray(flat[:, 1]),
            np.ones(count, dtype=np.float32),
            np.ones(count, dtype=np.bool_),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Alignments]) -> Alignments:
        """Alignments of several runs of pairs, one after the other."""
        return cls(
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]) if parts else []),
            np.concatenate([part.source for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([part.target for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([part.confidence for part in parts] or [np.empty(0, np.float32)]),
            np.concatenate([part.sure for part in parts] or [np.empty(0, np.bool_)]),
        )

    def part(self, start: int, stop: int) -> Alignments:
        """The alignments of pairs `start` to `stop` (exclusive)."""
        offsets = self.offsets[start : stop + 1]
        run = slice(offsets[0], offsets[-1])
        return Alignments(
            offsets - offsets[0], self.source[run], self.target[run], self.confidence[run], self.sure[run]
        )

    def take(self, pairs: NDArray[np.int64]) -> Alignments:
        """The alignments of `pairs`, which may repeat, in their order."""
        counts = np.diff(self.offsets)[pairs]
        offsets = offsets_of(counts)
        links = np.repeat(self.offsets[:-1][pairs] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Alignments(offsets, self.source[links], self.target[links], self.confidence[links], self.sure[links])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, pair: int) -> Alignment:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        return Alignment(self.source[run], self.target[run], self.confidence[run], self.sure[run])

    def __iter__(self) -> Iterator[Alignment]:
        return (self[pair] for pair in range(len(self)))
