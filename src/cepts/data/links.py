"""Links, and the cepts that they may be made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import Flat, offsets_of

if TYPE_CHECKING:
    from cepts.data.sentences import Segment, Segments


class Cept(NamedTuple):
    """Source and target words that belong together, as positions from 0; they need not be adjacent."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Cepts(Flat):
    """The cepts of many sentence pairs: proper alignments, in which every word is in exactly one cept, or in null.

    Attributes
    ----------
    source_offsets, target_offsets
        Where the words of each pair start in the arrays of words.
    source, target
        Number of each word's cept, from 0 in each pair; -1 if the word belongs to null (int32).
    source_confidence, target_confidence
        P(cept | word) of each word.
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
        """The cepts of one pair in order of their numbers, without null."""
        source = self.source[self.source_offsets[pair] : self.source_offsets[pair + 1]]
        target = self.target[self.target_offsets[pair] : self.target_offsets[pair + 1]]
        count = int(max(source.max(initial=-1), target.max(initial=-1))) + 1
        return [
            Cept(np.flatnonzero(source == cept).tolist(), np.flatnonzero(target == cept).tolist())
            for cept in range(count)
        ]


class NullLink(NamedTuple):
    """A link of one word to null; `side` is 0 for a source word, 1 for a target word."""

    side: int
    position: int
    confidence: float
    sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class NullLinks(Flat):
    """The links of words to null that a file states, as some gold files do; an index gives those of one pair.

    Within a pair, they are sorted by side and then by position, and no link is repeated.

    Attributes
    ----------
    offsets
        The null links of pair `n` are entries `offsets[n]:offsets[n + 1]` of the other arrays.
    side
        0 if the word is a source word, 1 if it is a target word (int32).
    position
        Position of the word, from 0.
    confidence, sure
        Confidence of each link, and whether it is sure; the others are possible links.
    """

    offsets: NDArray[np.int64]
    side: NDArray[np.int32]
    position: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]

    layout: ClassVar = {
        "side": ("offsets", np.empty(0, dtype=np.int32)),
        "position": ("offsets", np.empty(0, dtype=np.int32)),
        "confidence": ("offsets", np.empty(0, dtype=np.float32)),
        "sure": ("offsets", np.empty(0, dtype=np.bool_)),
    }

    def __getitem__(self, pair: int) -> list[NullLink]:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        columns = self.side, self.position, self.confidence, self.sure
        return [NullLink(*row) for row in zip(*(column[run].tolist() for column in columns), strict=True)]

    @property
    def pair(self) -> NDArray[np.int64]:
        """The index of each link's sentence pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The links of one sentence pair, sorted by source position and then by target position.

    Attributes
    ----------
    source, target
        Position of each link's source word and target word, from 0.
    confidence
        Confidence of each link, usually its probability.
    sure
        Whether each link is sure; the others are possible links.
    cepts
        The cepts of the pair, if the links were made from cepts.
    segments
        The phrases of the pair, if the scorer aligns phrases.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: list[Cept] | None = None
    segments: list[Segment] | None = None

    def __repr__(self) -> str:
        marks = ["-" if sure else "?" for sure in self.sure.tolist()]
        return f"Alignment({' '.join(f'{i}{mark}{j}' for (i, j), mark in zip(self.links, marks, strict=True))})"

    def __len__(self) -> int:
        return len(self.source)

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links as (source position, target position) pairs."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Alignments(Flat):
    """The links of many sentence pairs; an index gives the `Alignment` of one pair.

    Within a pair, links are sorted by source position and then by target position, and no link is repeated.

    Attributes
    ----------
    offsets
        The links of pair `n` are entries `offsets[n]:offsets[n + 1]` of the next four arrays.
    source, target
        Position of each link's source word and target word, from 0.
    confidence
        Confidence of each link, usually its probability.
    sure
        Whether each link is sure; the others are possible links.
    cepts
        The cepts from which the links were made, if they were made from cepts.
    segments
        The phrases that the links form, if the scorer aligns phrases.
    nulls
        Links of words to null, if the links were read from a file that states some. A word without any link need not
        have one.
    """

    offsets: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    cepts: Cepts | None = None
    segments: Segments | None = None
    nulls: NullLinks | None = None

    layout: ClassVar = {
        "source": ("offsets", np.empty(0, dtype=np.int32)),
        "target": ("offsets", np.empty(0, dtype=np.int32)),
        "confidence": ("offsets", np.empty(0, dtype=np.float32)),
        "sure": ("offsets", np.empty(0, dtype=np.bool_)),
    }

    def __repr__(self) -> str:
        return f"Alignments({len(self):,} pairs, {len(self.source):,} links)"

    @classmethod
    def from_links(cls, pairs: Iterable[Iterable[tuple[int, int]]]) -> Alignments:
        """Alignments with the given (source, target) links of each pair, all sure and with confidence 1."""
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
        """Alignments of `pairs` sentence pairs from arrays with one entry for each link, in any order.

        `pair` is the index of the link's sentence pair. A repeated link is kept once: it is sure if any of its copies
        is, and has the highest confidence among them. A link to null has the position -1 on the other side.
        """
        null = (source < 0) | (target < 0)
        if null.any():
            word = np.where(source < 0, target, source)[null]
            found = cls.from_columns(
                pairs, pair[null], (source < 0)[null].astype(np.int32), word, confidence[null], sure[null]
            )
            nulls = NullLinks(found.offsets, found.source, found.target, found.confidence, found.sure)
            others: list[NDArray[Any]] = [column[~null] for column in (pair, source, target, confidence, sure)]
            return replace(cls.from_columns(pairs, *others), nulls=nulls)
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

    @property
    def pair(self) -> NDArray[np.int64]:
        """The index of each link's sentence pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def columns(self) -> list[NDArray[Any]]:
        """Pair, source, target, confidence and tier of all links and null links, as `from_columns` takes them."""
        own: list[NDArray[Any]] = [self.pair, self.source, self.target, self.confidence, self.sure]
        nulls = self.nulls
        if nulls is None:
            return own
        positions = [np.where(nulls.side == side, nulls.position, np.int32(-1)) for side in (0, 1)]
        others = [nulls.pair, *positions, nulls.confidence, nulls.sure]
        return [np.concatenate(both) for both in zip(own, others, strict=True)]

    def only_sure(self) -> Alignments:
        """Keep only the sure links and sure null links, without cepts and segments."""
        columns = self.columns()
        return Alignments.from_columns(len(self), *(column[columns[-1]] for column in columns))

    def only(self, links: NDArray[np.bool_]) -> Alignments:
        """Keep only the links for which `links` is true, without cepts, segments and null links."""
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
    """The most probable alignments of many sentence pairs in one direction, the best alignment of each pair first.

    The forward direction explains the target sentence by the source sentence, the reverse direction the source by the
    target.

    Attributes
    ----------
    lengths
        Number of words in the explained sentence of each pair: J in the forward direction, I in the reverse direction.
    offsets
        The alignments of pair `n` are entries `offsets[n]:offsets[n + 1]`.
    log_probabilities
        log P(explained sentence, alignment | other sentence) of each entry.
    positions
        For each entry, the position in the other sentence of every explained word, -1 for null; all entries one after
        the other (int32).
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
        """Where the positions of each pair's entries start, and where those of the last pair end."""
        return offsets_of(self.lengths * np.diff(self.offsets))

    def __getitem__(self, pair: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log-probabilities of the alignments of one pair, and their positions (one row per alignment)."""
        return next(iter(self.part(pair, pair + 1)))

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int32]]]:
        starts = self.starts
        for pair, length in enumerate(self.lengths.tolist()):
            logs = self.log_probabilities[self.offsets[pair] : self.offsets[pair + 1]]
            yield logs, self.positions[starts[pair] : starts[pair + 1]].reshape(len(logs), length)
