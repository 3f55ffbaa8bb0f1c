"""Everything that has its own feature: tags, chunk types, frequent words, and pairs of words that annotators linked."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cepts.data import Sentence, SentencePair
from cepts.phrases.emoji import plain_forms

FREQUENT_WORDS = 150
MINIMUM_COUNT = 5
# Edges of bins. Of the sentence pairs with both words: the share in which they are linked, and the number of these.
RATE_EDGES = (0.1, 0.3, 0.6)
COUNT_EDGES = (2, 3, 6)
LINKED_CATEGORIES = 1 + (len(COUNT_EDGES) + 1) * (len(RATE_EDGES) + 1)


class LinkedWords(NamedTuple):
    """Two different lower-cased words that training links, in `linked` of the `together` pairs that have both."""

    source: str
    target: str
    linked: int
    together: int


def chunk_type(label: str) -> str:
    """The type of a chunk label: `np` for B-NP and I-NP, the empty string for O."""
    return label.partition("-")[2].lower()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Names that have their own feature. They are numbered from 1, in order; 0 stands for any other name.

    Attributes
    ----------
    tags, chunks
        The part-of-speech tags and the chunk types of the training sentences.
    words
        The most frequent words, lower-cased.
    linked
        Pairs of different words that are linked in training, sorted. `partners` has the target words of each source
        word.
    """

    tags: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    linked: tuple[LinkedWords, ...] = ()
    numbers: Mapping[str, Mapping[str, int]] = field(init=False, repr=False, compare=False)
    _counts: Mapping[tuple[str, str], tuple[int, int]] = field(init=False, repr=False, compare=False)
    partners: Mapping[str, set[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = ("tags", "chunks", "words")
        object.__setattr__(
            self, "numbers", {name: {item: n for n, item in enumerate(getattr(self, name), 1)} for name in names}
        )
        object.__setattr__(self, "_counts", {(one.source, one.target): one[2:] for one in self.linked})
        partners: dict[str, set[str]] = {}
        for one in self.linked:
            partners.setdefault(one.source, set()).add(one.target)
        object.__setattr__(self, "partners", partners)

    def linked_category(self, source: str, target: str, own: Collection[tuple[str, str]] | None = None) -> int:
        """The category for how often training links two lower-cased words: 0 is never, others go by count and share.

        For a training pair, `own` are the words that it links itself. The pair is then not counted; otherwise the model
        would learn that linked words have always been linked before.
        """
        linked, together = self._counts.get((source, target), (0, 0))
        if own is not None:
            linked, together = linked - ((source, target) in own), together - 1
        if linked < 1:
            return 0
        count, rate = bisect_right(COUNT_EDGES, linked), bisect_right(RATE_EDGES, linked / max(together, 1))
        return 1 + count * (len(RATE_EDGES) + 1) + rate

    @classmethod
    def of_pairs(cls, pairs: Sequence[SentencePair]) -> Inventory:
        """Make the inventory of training pairs."""
        sentences = [sentence for pair in pairs for sentence in (pair.source, pair.target)]
        words = Counter(word for sentence in sentences for word in lowered(sentence))
        linked = Counter(both for pair in pairs for both in linked_words(pair))
        partners: dict[str, set[str]] = {}
        for source, target in linked:
            partners.setdefault(source, set()).add(target)
        together: Counter[tuple[str, str]] = Counter()
        for pair in pairs:
            targets = set(lowered(pair.target))
            for source in set(lowered(pair.source)):
                together.update((source, target) for target in partners.get(source, set()) & targets)
        return cls(
            _names(tag for sentence in sentences for tag in sentence.pos or ()),
            _names(chunk_type(label) for sentence in sentences for label in sentence.chunk or () if label != "O"),
            tuple(sorted(word for word, count in words.most_common(FREQUENT_WORDS) if count >= MINIMUM_COUNT)),
            tuple(LinkedWords(*both, count, together[both]) for both, count in sorted(linked.items())),
        )

    def columns(self) -> dict[str, list[Any]]:
        """The names, in a form that JSON can hold."""
        return {
            "tags": list(self.tags),
            "chunks": list(self.chunks),
            "words": list(self.words),
            "linked": [list(one) for one in self.linked],
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Inventory:
        """The inverse of `columns`."""
        return cls(
            tuple(columns["tags"]),
            tuple(columns["chunks"]),
            tuple(columns["words"]),
            tuple(LinkedWords(*one) for one in columns["linked"]),
        )


def lowered(sentence: Sentence) -> list[str]:
    """The words of a sentence in plain form and lower case."""
    return [token.lower() for token in plain_forms(sentence.tokens)]


def linked_words(pair: SentencePair) -> set[tuple[str, str]]:
    """The pairs of different lower-cased words that the sure links of a sentence pair join."""
    sides = lowered(pair.source), lowered(pair.target)
    joined = ((sides[0][i], sides[1][j]) for i, j in pair.sure or ())
    return {both for both in joined if both[0] != both[1]}


def _names(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name, count in Counter(items).items() if count >= MINIMUM_COUNT))
