"""What a model knows by name: tags, chunk types, frequent words and pairs of words that people have linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cepts.sentences import SentencePair

__all__ = ["Inventory", "chunk_type"]

FREQUENT_WORDS = 150
MINIMUM_COUNT = 5
MINIMUM_LINKS = 2


def chunk_type(label: str) -> str:
    """`np` of B-NP and I-NP; nothing of O."""
    return label.partition("-")[2].lower()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Names that have a feature of their own, in the order of their numbers from 1; 0 is any other.

    Attributes
    ----------
    tags, chunks
        The part-of-speech tags and the chunk types of the training sentences.
    words
        The most frequent words, lower-cased.
    linked
        Pairs of different words, lower-cased, that are linked more than once in training.
    """

    tags: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    linked: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, Mapping[Any, int]] = field(init=False, repr=False, compare=False)
    linked_sources: frozenset[str] = field(init=False, repr=False, compare=False)
    linked_targets: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = ("tags", "chunks", "words", "linked")
        object.__setattr__(
            self, "numbers", {name: {item: n for n, item in enumerate(getattr(self, name), 1)} for name in names}
        )
        object.__setattr__(self, "linked_sources", frozenset(source for source, _ in self.linked))
        object.__setattr__(self, "linked_targets", frozenset(target for _, target in self.linked))

    @classmethod
    def of_pairs(cls, pairs: Sequence[SentencePair]) -> Inventory:
        """The inventory of training pairs."""
        sentences = [sentence for pair in pairs for sentence in (pair.source, pair.target)]
        words = Counter(token.lower() for sentence in sentences for token in sentence.tokens)
        linked: Counter[tuple[str, str]] = Counter()
        for pair in pairs:
            for i, j in pair.sure or ():
                both = pair.source.tokens[i].lower(), pair.target.tokens[j].lower()
                if both[0] != both[1]:
                    linked[both] += 1
        return cls(
            _names(tag for sentence in sentences for tag in sentence.pos or ()),
            _names(chunk_type(label) for sentence in sentences for label in sentence.chunk or () if label != "O"),
            tuple(sorted(word for word, count in words.most_common(FREQUENT_WORDS) if count >= MINIMUM_COUNT)),
            tuple(sorted(both for both, count in linked.items() if count >= MINIMUM_LINKS)),
        )

    def columns(self) -> dict[str, list[Any]]:
        """The names as JSON holds them."""
        return {
            "tags": list(self.tags),
            "chunks": list(self.chunks),
            "words": list(self.words),
            "linked": [list(both) for both in self.linked],
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Inventory:
        """The inventory of `columns()`."""
        return cls(
            tuple(columns["tags"]),
            tuple(columns["chunks"]),
            tuple(columns["words"]),
            tuple((first, second) for first, second in columns["linked"]),
        )


def _names(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name, count in Counter(items).items() if count >= MINIMUM_COUNT))
