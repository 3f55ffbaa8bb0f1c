"""Sentences with what is known about their words, pairs of them, and the segments that align them.

Where bitexts are large and hold words alone, the pairs of monolingual alignment carry columns (tags, chunks, lemmas)
and gold links, and are few enough to be objects of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data.links import Alignments
from cepts.data.offsets import Flat, offsets_of

Link = tuple[int, int]
Span = tuple[int, int]

# What may be known about each word besides its form.
COLUMNS = ("pos", "chunk", "lemma")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of a sentence and, where they are known, a column for each property of its words.

    `pos` is a part-of-speech tag, `chunk` a label such as B-NP, I-NP or O, `lemma` the dictionary form.
    """

    tokens: tuple[str, ...]
    pos: tuple[str, ...] | None = None
    chunk: tuple[str, ...] | None = None
    lemma: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in COLUMNS:
            column = getattr(self, name)
            if column is not None and len(column) != len(self.tokens):
                raise ValueError(
                    f"{name} must have one entry per token, {len(self.tokens)}. Got {len(column)} instead."
                )

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence and its paraphrase, with the judgements of annotators on the two.

    Attributes
    ----------
    source, target
        The sentences.
    id
        What names the pair in its file.
    sure, possible
        Gold links (source position, target position), sorted, no link in both; None where nobody has linked the pair.
    label
        A judgement of the whole pair: 1 for entailed, paraphrase or answer, 0 for not; None where there is none.
    group
        Pairs of one group are ranked against each other: the question of an answer sentence.
    """

    source: Sentence
    target: Sentence
    id: str = ""
    sure: tuple[Link, ...] | None = None
    possible: tuple[Link, ...] | None = None
    label: float | None = None
    group: str = ""


class Segment(NamedTuple):
    """A source span aligned as a whole with a target span, both half-open."""

    source: Span
    target: Span
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Segments(Flat):
    """The segments of many sentence pairs; those of pair `n` stand at `offsets[n]:offsets[n + 1]`.

    `spans` has four columns: source start and stop, target start and stop (half-open, int32). Segments of a pair are
    sorted by these. `scores` are the model's scores of each pair, segments and null words together; `states` counts
    both, and the ratio of the two is the normalised decoding score.
    """

    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]
    confidence: NDArray[np.float32]
    scores: NDArray[np.float64]
    states: NDArray[np.int64]

    layout: ClassVar = {
        "spans": ("offsets", np.empty((0, 4), dtype=np.int32)),
        "confidence": ("offsets", np.empty(0, dtype=np.float32)),
        "scores": (None, np.empty(0)),
        "states": (None, np.empty(0, dtype=np.int64)),
    }

    def __getitem__(self, pair: int) -> list[Segment]:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        rows = zip(self.spans[run].tolist(), self.confidence[run].tolist(), strict=True)
        return [Segment((a, b), (c, d), confidence) for (a, b, c, d), confidence in rows]

    def __iter__(self) -> Iterator[list[Segment]]:
        return (self[pair] for pair in range(len(self)))

    @property
    def normalised_scores(self) -> NDArray[np.float64]:
        """Score per state of each pair."""
        return self.scores / np.maximum(self.states, 1)

    def alignments(self) -> Alignments:
        """The links that the segments stand for: every word of the one span with every word of the other.

        A link that lies in several segments takes the highest confidence.
        """
        lengths = self.spans[:, 1::2] - self.spans[:, ::2]
        cells = lengths[:, 0].astype(np.int64) * lengths[:, 1]
        segment = np.repeat(np.arange(len(cells)), cells)
        place = np.arange(len(segment)) - np.repeat(offsets_of(cells)[:-1], cells)
        width = lengths[segment, 1]
        source = self.spans[segment, 0] + (place // np.maximum(width, 1)).astype(np.int32)
        target = self.spans[segment, 2] + (place % np.maximum(width, 1)).astype(np.int32)
        pair = np.repeat(np.arange(len(self)), np.diff(self.offsets))[segment]
        sure = np.ones(len(pair), dtype=np.bool_)
        return Alignments.from_columns(len(self), pair, source, target, self.confidence[segment], sure)


def gold_alignments(pairs: Sequence[SentencePair]) -> Alignments:
    """The gold links of `pairs`, sure and possible; none where nobody has linked a pair."""
    tiers = [{**dict.fromkeys(pair.possible or (), False), **dict.fromkeys(pair.sure or (), True)} for pair in pairs]
    sure = np.array([tier[link] for tier in tiers for link in sorted(tier)], dtype=np.bool_)
    return replace(Alignments.from_links(tiers), sure=sure)
