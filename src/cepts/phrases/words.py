"""The words of one sentence pair as numbers: what all features are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.inventory import Inventory, chunk_type
from cepts.phrases.synthesis import chunk_spans
from cepts.sentences import Sentence, SentencePair
from cepts.types import offsets_of

__all__ = ["CONTENT", "FUNCTION", "KINDS", "NUMBER", "PUNCTUATION", "PairWords", "SentenceWords"]

CONTENT, FUNCTION, PUNCTUATION, NUMBER = range(4)
KINDS = ("content", "function", "punctuation", "number")

# Tags of closed classes in the Penn and the universal tag sets.
CLOSED = frozenset(
    ["DT", "IN", "TO", "CC", "MD", "PRP", "PRP$", "WDT", "WP", "WP$", "WRB", "EX", "POS", "RP", "PDT"]
    + ["ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"]
)
LONGEST_AUXILIARY = 4


@dataclass(frozen=True, slots=True, eq=False)
class SentenceWords:
    """One sentence; every array has an entry a word.

    Attributes
    ----------
    forms, lower, lemmas
        Numbers of the form, the lower-cased form and the lemma, the same for both sentences of a pair.
    tags, chunks, frequent
        Numbers of the inventory, 0 for what it does not have.
    kinds
        Content word, function word, punctuation or number.
    capital
        Whether the word begins with a capital letter.
    chunk_starts, chunk_stops
        The chunk of each word; a word outside of all chunks is its own.
    characters, character_offsets
        The lower-cased characters of all words, end to end.
    """

    tokens: tuple[str, ...]
    lowered: tuple[str, ...]
    lemma_forms: tuple[str, ...]
    forms: NDArray[np.int32]
    lower: NDArray[np.int32]
    lemmas: NDArray[np.int32]
    tags: NDArray[np.int32]
    chunks: NDArray[np.int32]
    frequent: NDArray[np.int32]
    kinds: NDArray[np.int32]
    capital: NDArray[np.bool_]
    chunk_starts: NDArray[np.int32]
    chunk_stops: NDArray[np.int32]
    characters: NDArray[np.uint32]
    character_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)


class PairWords:
    """Both sentences of a pair, with one numbering of their words."""

    __slots__ = ("source", "target")

    def __init__(self, pair: SentencePair, inventory: Inventory) -> None:
        numbers: dict[str, int] = {}
        self.source = _words(pair.source, inventory, numbers)
        self.target = _words(pair.target, inventory, numbers)


def _words(sentence: Sentence, inventory: Inventory, numbers: dict[str, int]) -> SentenceWords:
    tokens = sentence.tokens
    lowered = tuple(token.lower() for token in tokens)
    lemmas = lowered if sentence.lemma is None else tuple(lemma.lower() for lemma in sentence.lemma)
    found = inventory.numbers
    frequent = _numbered(lowered, found["words"])
    labels = sentence.chunk or ("O",) * len(tokens)
    starts, stops = _chunks(labels)
    return SentenceWords(
        tokens,
        lowered,
        lemmas,
        _shared(tokens, numbers),
        _shared(lowered, numbers),
        _shared(lemmas, numbers),
        _numbered(sentence.pos or ("",) * len(tokens), found["tags"]),
        _numbered([chunk_type(label) for label in labels], found["chunks"]),
        frequent,
        _kinds(tokens, sentence.pos, frequent),
        np.array([token[:1].isupper() for token in tokens], dtype=np.bool_),
        starts,
        stops,
        np.frombuffer("".join(lowered).encode("utf-32-le", "surrogatepass"), dtype=np.uint32),
        offsets_of([len(word) for word in lowered]),
    )


def _shared(words: Iterable[str], numbers: dict[str, int]) -> NDArray[np.int32]:
    return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)


def _numbered(names: Iterable[str], numbers: dict[str, int] | object) -> NDArray[np.int32]:
    get = numbers.get  # type: ignore[attr-defined]
    return np.array([get(name, 0) for name in names], dtype=np.int32)


def _kinds(tokens: Sequence[str], tags: Sequence[str] | None, frequent: NDArray[np.int32]) -> NDArray[np.int32]:
    kinds = np.zeros(len(tokens), dtype=np.int32)
    for place, token in enumerate(tokens):
        if not any(map(str.isalnum, token)):
            kinds[place] = PUNCTUATION
        elif any(map(str.isdigit, token)):
            kinds[place] = NUMBER
        elif tags is None:
            kinds[place] = FUNCTION if frequent[place] else CONTENT
        elif tags[place] in CLOSED or (
            frequent[place] and tags[place].startswith("V") and len(token) <= LONGEST_AUXILIARY
        ):
            kinds[place] = FUNCTION
    return kinds


def _chunks(labels: tuple[str, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the chunk of each word starts and stops; a word outside of all chunks is its own."""
    starts = np.arange(len(labels), dtype=np.int32)
    stops = starts + 1
    for start, stop in chunk_spans(labels):
        starts[start:stop], stops[start:stop] = start, stop
    return starts, stops
