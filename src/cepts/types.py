"""The data that passes between the rooms: texts, bitexts, association matrices, alignments.

All of them hold many sentence pairs in flat arrays with offsets, which is what kernels read; indexing gives the
view of one pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.vocabulary import Vocabulary

__all__ = [
    "Alignment",
    "Alignments",
    "Association",
    "Bitext",
    "Cept",
    "Cepts",
    "NBest",
    "Text",
    "offsets_of",
    "take_runs",
]


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

    @property
    def source_offsets(self) -> NDArray[np.int64]:
        """Where the source words of each pair start in `source_null`."""
        return offsets_of(self.source_lengths)

    @property
    def target_offsets(self) -> NDArray[np.int64]:
        """Where the target words of each pair start in `target_null`."""
        return offsets_of(self.target_lengths)

    def masses(self) -> list[tuple[str, NDArray[np.float32], NDArray[np.int64]]]:
        """Name of the field, its values, and where those of each pair start: the matrices, then null where there is."""
        nulls = (
            ("source_null", self.source_null, self.source_offsets),
            ("target_null", self.target_null, self.target_offsets),
        )
        present = [(name, null, offsets) for name, null, offsets in nulls if null is not None]
        return [("values", self.values, self.offsets), *present]

    def scaled(self, factor: float | NDArray[np.floating]) -> Association:
        """The same with all values, null's too, times `factor`: one for all, or one for each pair."""
        found: dict[str, Any] = {
            name: values * np.float32(factor)
            if np.ndim(factor) == 0
            else (values * np.repeat(factor, np.diff(offsets))).astype(np.float32)
            for name, values, offsets in self.masses()
        }
        return replace(self, **found)

    @classmethod
    def concatenate(cls, parts: Sequence[Association]) -> Association:
        """The matrices of several runs of pairs, one after the other; null masses where all runs have them."""

        def joined(name: str, kind: type[np.generic]) -> NDArray:
            return np.concatenate([np.empty(0, dtype=kind), *(getattr(part, name) for part in parts)], dtype=kind)

        source_lengths, target_lengths = (joined(name, np.int64) for name in ("source_lengths", "target_lengths"))
        nulls = (
            joined(name, np.float32) if parts and all(getattr(part, name) is not None for part in parts) else None
            for name in ("source_null", "target_null")
        )
        offsets = offsets_of(source_lengths * target_lengths)
        return cls(source_lengths, target_lengths, offsets, joined("values", np.float32), *nulls)

    def part(self, start: int, stop: int) -> Association:
        """The matrices of pairs `start` to `stop` (exclusive)."""
        offsets = self.offsets[start : stop + 1]
        source, target = self.source_offsets, self.target_offsets
        return Association(
            self.source_lengths[start:stop],
            self.target_lengths[start:stop],
            offsets - offsets[0],
            self.values[offsets[0] : offsets[-1]],
            None if self.source_null is None else self.source_null[source[start] : source[stop]],
            None if self.target_null is None else self.target_null[target[start] : target[stop]],
        )


@dataclass(frozen=True, slots=True, eq=False)
class NBest:
    """The most probable alignments of many sentence pairs in one direction, the best of each pair first.

    Attributes
    ----------
    lengths
        Words of each pair's explained sentence: J of the forward direction, I of the reverse.
    offsets
        The alignments of pair `n` are entries `offsets[n]:offsets[n + 1]`.
    log_probabilities
        Of each entry: log P(explained sentence, alignment | other sentence).
    positions
        Of each entry, end to end: for every explained word its position in the other sentence, -1 for null (int32).
    """

    lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    log_probabilities: NDArray[np.float64]
    positions: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the positions of each pair's first entry start, and where the last pair's end."""
        return offsets_of(self.lengths * np.diff(self.offsets))

    def __getitem__(self, pair: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log-probabilities of the alignments of one pair, and their positions (a row an alignment)."""
        starts = self.starts
        positions = self.positions[starts[pair] : starts[pair + 1]]
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        return self.log_probabilities[run], positions.reshape(run.stop - run.start, self.lengths[pair])

    @classmethod
    def concatenate(cls, parts: Sequence[NBest]) -> NBest:
        """The lists of several runs of pairs, one after the other."""
        return cls(
            np.concatenate([part.lengths for part in parts] or [np.empty(0, np.int64)]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]) if parts else []),
            np.concatenate([part.log_probabilities for part in parts] or [np.empty(0)]),
            np.concatenate([part.positions for part in parts] or [np.empty(0, np.int32)]),
        )

    def take(self, pairs: NDArray[np.int64]) -> NBest:
        """The lists of `pairs`, which may repeat, in their order."""
        entries, offsets = take_runs(self.offsets, pairs)
        places, _ = take_runs(self.starts, pairs)
        return NBest(self.lengths[pairs], offsets, self.log_probabilities[entries], self.positions[places])


def take_runs(offsets: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The items of the runs at `places`, which may repeat, in their order; and the new offsets."""
    counts = np.diff(offsets)[places]
    taken = offsets_of(counts)
    return np.repeat(offsets[:-1][places] - taken[:-1], counts) + np.arange(taken[-1]), taken


class Cept(NamedTuple):
    """Words of both sides that belong together, as positions from 0; they need not stand side by side."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Cepts:
    """The cept of each word of many sentence pairs: a proper alignment, in which every word has exactly one.

    Attributes
    ----------
    source_offsets, target_offsets
        Where the words of each pair start.
    source, target
        The number of each word's cept, from 0 in each pair; -1 where the word belongs to null (int32).
    source_confidence, target_confidence
        P(cept | word).
    noise
        P(noise) of each pair: the share of its association matrix that no cept explains.
    """

    source_offsets: NDArray[np.int64]
    target_offsets: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    source_confidence: NDArray[np.float32]
    target_confidence: NDArray[np.float32]
    noise: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.source_offsets) - 1

    def __getitem__(self, pair: int) -> list[Cept]:
        """The cepts of one pair, without null, by number."""
        source = self.source[self.source_offsets[pair] : self.source_offsets[pair + 1]]
        target = self.target[self.target_offsets[pair] : self.target_offsets[pair + 1]]
        count = int(max(source.max(initial=-1), target.max(initial=-1))) + 1
        return [
            Cept(np.flatnonzero(source == cept).tolist(), np.flatnonzero(target == cept).tolist())
            for cept in range(count)
        ]

    @classmethod
    def concatenate(cls, parts: Sequence[Cepts]) -> Cepts:
        """The cepts of several runs of pairs, one after the other."""

        def joined(name: str) -> NDArray:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            offsets_of(np.concatenate([np.diff(part.source_offsets) for part in parts])),
            offsets_of(np.concatenate([np.diff(part.target_offsets) for part in parts])),
            *(joined(name) for name in ("source", "target", "source_confidence", "target_confidence", "noise")),
        )

    def take(self, pairs: NDArray[np.int64]) -> Cepts:
        """The cepts of `pairs`, which may repeat, in their order."""
        source, source_offsets = take_runs(self.source_offsets, pairs)
        target, target_offsets = take_runs(self.target_offsets, pairs)
        return Cepts(
            source_offsets,
            target_offsets,
            self.source[source],
            self.target[target],
            self.source_confidence[source],
            self.target_confidence[target],
            self.noise[pairs],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The links of one sentence pair, by source then target position, both from 0; and its cepts, if it has some."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: list[Cept] | None = None

    def __len__(self) -> int:
        return len(self.source)

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links as (source, target) pairs."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Alignments:
    """The alignments of many sentence pairs; the links of pair `n` stand at `offsets[n]:offsets[n + 1]`.

    Within a pair, links are sorted by source, then target position, and no link stands twice. `cepts` are those from
    which the links were made, where they were.
    """

    offsets: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: Cepts | None = None

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
            _all_cepts(parts),
        )

    def part(self, start: int, stop: int) -> Alignments:
        """The alignments of pairs `start` to `stop` (exclusive)."""
        offsets = self.offsets[start : stop + 1]
        run = slice(offsets[0], offsets[-1])
        return Alignments(
            offsets - offsets[0],
            self.source[run],
            self.target[run],
            self.confidence[run],
            self.sure[run],
            None if self.cepts is None else self.cepts.take(np.arange(start, stop)),
        )

    def take(self, pairs: NDArray[np.int64]) -> Alignments:
        """The alignments of `pairs`, which may repeat, in their order."""
        links, offsets = take_runs(self.offsets, pairs)
        return Alignments(
            offsets,
            self.source[links],
            self.target[links],
            self.confidence[links],
            self.sure[links],
            None if self.cepts is None else self.cepts.take(pairs),
        )

    def only(self, links: NDArray[np.bool_]) -> Alignments:
        """The same without the links for which `links` is false, and so without their cepts."""
        before = offsets_of(links.astype(np.int64))
        return Alignments(
            before[self.offsets],
            self.source[links],
            self.target[links],
            self.confidence[links],
            self.sure[links],
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, pair: int) -> Alignment:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        cepts = None if self.cepts is None else self.cepts[pair]
        return Alignment(self.source[run], self.target[run], self.confidence[run], self.sure[run], cepts)

    def __iter__(self) -> Iterator[Alignment]:
        return (self[pair] for pair in range(len(self)))


def _all_cepts(parts: Sequence[Alignments]) -> Cepts | None:
    """The cepts of all `parts`, if every one of them has some."""
    cepts = [part.cepts for part in parts if part.cepts is not None]
    return Cepts.concatenate(cepts) if cepts and len(cepts) == len(parts) else None
