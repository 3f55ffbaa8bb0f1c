"""Annotated sentences, pairs of them, and the segments that align them.

Bitexts are large and hold only words, so they are stored in flat arrays. The sentence pairs of monolingual alignment
have annotation (tags, chunks, lemmas) and gold links, and are few enough to be separate objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data.links import Alignments
from cepts.data.offsets import Flat, offsets_of

Link = tuple[int, int]
Span = tuple[int, int]

# What may be known about each token besides its form.
COLUMNS = ("pos", "chunk", "lemma")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of a sentence and, if known, their annotation.

    Attributes
    ----------
    tokens
        The tokens.
    pos
        Part-of-speech tag of each token.
    chunk
        Chunk label of each token, such as B-NP, I-NP or O.
    lemma
        Lemma (dictionary form) of each token.
    running
        Whether the tokens are plain text that was split only at blanks, which a tokeniser may split further.
    """

    tokens: tuple[str, ...]
    pos: tuple[str, ...] | None = None
    chunk: tuple[str, ...] | None = None
    lemma: tuple[str, ...] | None = None
    running: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in COLUMNS:
            column = getattr(self, name)
            if column is not None and len(column) != len(self.tokens):
                raise ValueError(
                    f"`{name}` must have one entry for each of {len(self.tokens)} tokens. Got {len(column)} instead."
                )

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence and its paraphrase, with the judgements of annotators if there are any.

    Attributes
    ----------
    source, target
        The two sentences.
    id
        Identifier of the pair in its file.
    sure, possible
        Gold links as (source position, target position), sorted; no link is in both. None if the pair is not annotated.
    label
        Judgement of the whole pair: 1 for entailed, paraphrase or answer, 0 for not; None if there is no judgement.
    group
        Pairs of the same group are ranked against each other; for answer sentences, the group is the question.
    """

    source: Sentence
    target: Sentence
    id: str = ""
    sure: tuple[Link, ...] | None = None
    possible: tuple[Link, ...] | None = None
    label: float | None = None
    group: str = ""


class Segment(NamedTuple):
    """A source span aligned as a whole with a target span; spans are (start, stop), where stop is not included."""

    source: Span
    target: Span
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Segments(Flat):
    """The segments of many sentence pairs; an index gives the list of segments of one pair.

    Attributes
    ----------
    offsets
        The segments of pair `n` are entries `offsets[n]:offsets[n + 1]` of `spans` and `confidence`.
    spans
        Source start, source stop, target start and target stop of each segment, where stops are not included (int32).
        The segments of a pair are sorted by these.
    confidence
        Confidence of each segment.
    scores
        The model's score of each pair, over all its segments and null words.
    path_words
        Number of words along which the path of each pair runs: those of its segments, and null words.
    """

    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]
    confidence: NDArray[np.float32]
    scores: NDArray[np.float64]
    path_words: NDArray[np.int64]

    layout: ClassVar = {
        "spans": ("offsets", np.empty((0, 4), dtype=np.int32)),
        "confidence": ("offsets", np.empty(0, dtype=np.float32)),
        "scores": (None, np.empty(0)),
        "path_words": (None, np.empty(0, dtype=np.int64)),
    }

    def __getitem__(self, pair: int) -> list[Segment]:
        run = slice(self.offsets[pair], self.offsets[pair + 1])
        rows = zip(self.spans[run].tolist(), self.confidence[run].tolist(), strict=True)
        return [Segment((a, b), (c, d), confidence) for (a, b, c, d), confidence in rows]

    def __iter__(self) -> Iterator[list[Segment]]:
        return (self[pair] for pair in range(len(self)))

    @property
    def normalised_scores(self) -> NDArray[np.float64]:
        """The normalised decoding score of each pair, which is its score divided by the number of words of its path.

        Yao et al. (2013), section 5, do not say what they divide by. If it were the states, a path with long spans of
        null would have few states, and a high score for leaving most words unlinked.
        """
        return self.scores / np.maximum(self.path_words, 1)

    def alignments(self) -> Alignments:
        """The links that the segments stand for: every word of the source span with every word of the target span.

        A link that lies in several segments has the highest confidence among them.
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
    """The gold links of `pairs`, sure and possible; a pair that nobody has linked has none."""
    tiers = [{**dict.fromkeys(pair.possible or (), False), **dict.fromkeys(pair.sure or (), True)} for pair in pairs]
    sure = np.array([tier[link] for tier in tiers for link in sorted(tier)], dtype=np.bool_)
    return replace(Alignments.from_links(tiers), sure=sure)
