"""Links, and the cepts from which they may be made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import Flat, offsets_of

if TYPE_CHECKING:
    from cepts.data.sentences import Segment, Segments


class Cept(NamedTuple):
    """Words of both sides that belong together, as positions from 0; they need not stand side by side."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Cepts(Flat):
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

    pairs: ClassVar = "source_offsets"
    layout: ClassVar = {
        "source": ("source_offsets", np.empty(0, dtype=np.int32)),
        "target": ("target_offsets", np.empty(0, dtype=np.int32)),
        "source_confidence": ("source_offsets", np.empty(0, dtype=np.float32)),
        "target_confidence": ("target_offsets", np.empty(0, dtype=np.float32)),
        "noise": (None, np.empty(0, dtype=np.float32)),
    }

    def __getitem__(self, pair: int) -> list[Cept]:
        """The cepts of one pair, without null, by number."""
        source = self.source[self.source_offsets[pair] : self.source_offsets[pair + 1]]
        target = self.target[self.target_offsets[pair] : self.target_offsets[pair + 1]]
        count = int(max(source.max(initial=-1), target.max(initial=-1))) + 1
        return [
            Cept(np.flatnonzero(source == cept).tolist(), np.flatnonzero(target == cept).tolist())
            for cept in range(count)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The links of one sentence pair, by source then target position, both from 0.

    `cepts` and `segments` are those of the pair, where the alignment was made of cepts, or by a scorer of phrases.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: list[Cept] | None = None
    segments: list[Segment] | None = None

    def __len__(self) -> int:
        return len(self.source)

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links as (source, target) pairs."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Alignments(Flat):
    """The alignments of many sentence pairs; the links of pair `n` stand at `offsets[n]:offsets[n + 1]`.

    Within a pair, links are sorted by source, then target position, and no link is repeated. `cepts` are those from
    which the links were made, if they were; `segments` the phrases that the links form, if the scorer knows phrases.
    """

    offsets: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: Cepts | None = None
    segments: Segments | None = None

    layout: ClassVar = {
        "source": ("offsets", np.empty(0, dtype=np.int32)),
        "target": ("offsets", np.empty(0, dtype=np.int32)),
        "confidence": ("offsets", np.empty(0, dtype=np.float32)),
        "sure": ("offsets", np.empty(0, dtype=np.bool_)),
    }

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
    def from_columns(
        cls,
        pairs: int,
        pair: NDArray[np.integer],
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        confidence: NDArray[np.float32],
        sure: NDArray[np.bool_],
    ) -> Alignments:
        """Alignments of links in any order, each of a `pair` below `pairs`.

        A repeated link is sure if any of its copies is, with the highest confidence.
        """
        pair = pair.astype(np.int64)
        rows, columns = int(source.max(initial=0)) + 1, int(target.max(initial=0)) + 1
        order: NDArray[np.int64] | slice = slice(None)
        if pairs * rows * columns < 2**63:
            # One number for each link, in the order wanted: faster to sort than three columns.
            key = (pair * rows + source) * columns + target
            if np.any(key[1:] < key[:-1]):
                order = np.argsort(key, kind="stable")
                key = key[order]
            same = key[1:] == key[:-1]
        else:
            order = np.lexsort((target, source, pair))
            key = np.stack([pair, source, target])[:, order]
            same = (key[:, 1:] == key[:, :-1]).all(axis=0)
        pair, source, target = pair[order], source[order], target[order]
        confidence, sure = confidence[order], sure[order]
        if same.any():
            starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
            pair, source, target = pair[starts], source[starts], target[starts]
            confidence = np.maximum.reduceat(confidence, starts)
            sure = np.logical_or.reduceat(sure, starts)
        return cls(offsets_of(np.bincount(pair, minlength=pairs)), source, target, confidence, sure)

    def only(self, links: NDArray[np.bool_]) -> Alignments:
        """The same without the links for which `links` is false, and so without cepts and segments."""
        before = offsets_of(links.astype(np.int64))
        return Alignments(
            before[self.offsets],
            self.source[links],
            self.target[links],
            self.confidence[links],
            self.sure[links],
        )

    def __getitem__(self, pair: int) -> Alignment:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        return Alignment(
            self.source[run],
            self.target[run],
            self.confidence[run],
            self.sure[run],
            None if self.cepts is None else self.cepts[pair],
            None if self.segments is None else self.segments[pair],
        )

    def __iter__(self) -> Iterator[Alignment]:
        return (self[pair] for pair in range(len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class NBest(Flat):
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

    layout: ClassVar = {
        "lengths": (None, np.empty(0, dtype=np.int64)),
        "log_probabilities": ("offsets", np.empty(0)),
        "positions": ("starts", np.empty(0, dtype=np.int32)),
    }

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the positions of each pair's first entry start, and where the last pair's end."""
        return offsets_of(self.lengths * np.diff(self.offsets))

    def __getitem__(self, pair: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log-probabilities of the alignments of one pair, and their positions (one row per alignment)."""
        return next(iter(self.part(pair, pair + 1)))

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int32]]]:
        starts = self.starts
        for pair, length in enumerate(self.lengths.tolist()):
            logs = self.log_probabilities[self.offsets[pair] : self.offsets[pair + 1]]
            yield logs, self.positions[starts[pair] : starts[pair + 1]].reshape(len(logs), length)
