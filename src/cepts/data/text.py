"""Texts and bitexts as word numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import offsets_of
from cepts.data.sentences import Sentence, SentencePair
from cepts.data.vocabulary import Vocabulary

WORD = re.compile(r"[^ \t\n\v\f\r]+")

SentenceLike: TypeAlias = str | Sequence[str] | Sentence


def words_of(text: str) -> list[str]:
    """Split `text` into tokens at ASCII white space."""
    return WORD.findall(text)


def runs_right_to_left(tokens: Iterable[str]) -> bool:
    """Whether most letters of a sentence are of a right-to-left script, such as Arabic or Hebrew."""
    kinds = [unicodedata.bidirectional(letter) for token in tokens for letter in token]
    return sum(kind in {"R", "AL"} for kind in kinds) > kinds.count("L")


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Sentences of one language, stored as numbers of words.

    Sentence `n` is `ids[offsets[n]:offsets[n + 1]]`, where `ids` are numbers of words in `vocabulary` (int32 ids, int64
    offsets).
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary

    @classmethod
    def from_tokens(cls, sentences: Iterable[SentenceLike]) -> Text:
        """Make a text of sentences, each a sequence of tokens or a string, which is split at ASCII white space.

        Raises `TypeError` if `sentences` is a string, or if a sentence or a token has the wrong type.

        Examples
        --------
        >>> text = Text.from_tokens(["the house", ["the", "blue house"]])
        >>> text[1], text.lengths.tolist()
        (['the', 'blue house'], [2, 2])
        """
        if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
            raise TypeError(
                f"sentences must be a sequence of sentences. Got {_shown(sentences)} instead; put one sentence into a "
                f"list, or split a text into lines."
            )
        numbers: dict[str, int] = {}
        ids: list[int] = []
        lengths: list[int] = []
        for sentence in sentences:
            tokens = _tokens(sentence)
            lengths.append(len(tokens))
            ids.extend(numbers.setdefault(token, len(numbers)) for token in tokens)
        return cls(np.array(ids, dtype=np.int32), offsets_of(lengths), Vocabulary.from_words(numbers))

    @classmethod
    def joined(cls, texts: Sequence[Text]) -> Text:
        """The sentences of several texts, one after the other, with a vocabulary of the words that they use.

        Words are numbered in the order of first use, as if the sentences had been read as one text.
        """
        numbers: dict[str, int] = {}
        ids = []
        for text in texts:
            # The last of several values for one index stays, which is the first use if the text is read backwards.
            first = np.full(len(text.vocabulary), -1, dtype=np.int64)
            first[text.ids[::-1]] = np.arange(len(text.ids) - 1, -1, -1)
            used = np.flatnonzero(first >= 0)
            used = used[np.argsort(first[used])]
            number_of = np.empty(len(first), dtype=np.int32)
            number_of[used] = [numbers.setdefault(word, len(numbers)) for word in text.vocabulary.take(used).decoded()]
            ids.append(number_of[text.ids])
        lengths = np.concatenate([np.empty(0, dtype=np.int64), *(text.lengths for text in texts)])
        return cls(
            np.concatenate([np.empty(0, dtype=np.int32), *ids]), offsets_of(lengths), Vocabulary.from_words(numbers)
        )

    def __repr__(self) -> str:
        return f"Text({len(self):,} sentences, {len(self.ids):,} words)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> list[str]:
        words = self.vocabulary.words
        return [words[i] for i in self.ids[self.offsets[sentence] : self.offsets[sentence + 1]]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each sentence."""
        return np.diff(self.offsets)

    def only(self, sentences: NDArray[np.bool_]) -> Text:
        """The same sentences, without the words of those that are not among `sentences`."""
        offsets = offsets_of(np.where(sentences, self.lengths, 0))
        return Text(self.ids[np.repeat(sentences, self.lengths)], offsets, self.vocabulary)

    def part(self, start: int, stop: int) -> Text:
        """Sentences `start` to `stop` (exclusive), with the same vocabulary."""
        offsets = self.offsets[start : stop + 1]
        return Text(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocabulary)

    def lowercased(self) -> Text:
        """The same text in lower case; words that become equal get the same number."""
        numbers: dict[str, int] = {}
        number_of = [numbers.setdefault(word.lower(), len(numbers)) for word in self.vocabulary.words]
        return Text(np.array(number_of, dtype=np.int32)[self.ids], self.offsets, Vocabulary.from_words(numbers))


@dataclass(frozen=True, slots=True, eq=False)
class Bitext:
    """Sentence pairs: the same number of source and target sentences, in the same order."""

    source: Text
    target: Text

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise ValueError(
                f"source and target must have the same number of sentences. Got {len(self.source):,} and "
                f"{len(self.target):,} instead."
            )

    def __repr__(self) -> str:
        return f"Bitext({len(self):,} pairs, {len(self.source.ids):,} + {len(self.target.ids):,} words)"

    @classmethod
    def from_tokens(cls, pairs: Iterable[tuple[SentenceLike, SentenceLike] | SentencePair]) -> Bitext:
        """Make a bitext of pairs of sentences, each a list of tokens or a string, which is split at ASCII white space.

        Raises `TypeError` if `pairs` is a string, a pair does not have two sentences, or a token is not a string.

        Examples
        --------
        >>> Bitext.from_tokens([("the house", ["la", "maison"])])[0]
        (['the', 'house'], ['la', 'maison'])
        """
        if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
            raise TypeError(
                f"pairs must be a sequence of (source, target) pairs. Got {_shown(pairs)} instead; put one pair into a "
                f"list, or read files with read_bitext."
            )
        sides: tuple[list[SentenceLike], list[SentenceLike]] = [], []
        for pair in pairs:
            found = (pair.source, pair.target) if isinstance(pair, SentencePair) else pair
            if isinstance(found, str | bytes) or not isinstance(found, Sequence) or len(found) != 2:
                raise TypeError(
                    f"a pair must be a source and a target sentence. Got {_shown(pair)} instead; give pairs such as "
                    f"('the house', 'la maison'), in a list."
                )
            for side, sentence in zip(sides, found, strict=True):
                side.append(sentence)
        return cls(Text.from_tokens(sides[0]), Text.from_tokens(sides[1]))

    @classmethod
    def joined(cls, parts: Sequence[Bitext]) -> Bitext:
        """The pairs of several bitexts, one after the other; see `Text.joined`."""
        return cls(Text.joined([part.source for part in parts]), Text.joined([part.target for part in parts]))

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, pair: int) -> tuple[list[str], list[str]]:
        return self.source[pair], self.target[pair]

    def limited(self, max_length: int) -> Bitext:
        """The same pairs, without the words of those that are empty on one side or have a longer sentence."""
        lengths = self.source.lengths, self.target.lengths
        keep = (np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= max_length)
        if keep.all():
            return self
        return Bitext(*(side.only(keep) for side in (self.source, self.target)))

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive)."""
        return Bitext(self.source.part(start, stop), self.target.part(start, stop))


TextLike: TypeAlias = Text | Iterable[SentenceLike]
BitextLike: TypeAlias = Bitext | Iterable[tuple[SentenceLike, SentenceLike] | SentencePair]


def as_text(sentences: TextLike) -> Text:
    """Return `sentences` as a `Text`: a `Text` as it is, anything else by `Text.from_tokens`."""
    return sentences if isinstance(sentences, Text) else Text.from_tokens(sentences)


def as_bitext(pairs: BitextLike) -> Bitext:
    """Return `pairs` as a `Bitext`: a `Bitext` as it is, anything else by `Bitext.from_tokens`."""
    return pairs if isinstance(pairs, Bitext) else Bitext.from_tokens(pairs)


def as_sentence_pairs(pairs: BitextLike) -> list[SentencePair]:
    """Return `pairs` as a list of `SentencePair`; anything else that `as_bitext` accepts becomes unannotated pairs."""
    pairs = pairs if isinstance(pairs, Bitext) else list(pairs)
    if not isinstance(pairs, Bitext):
        annotated = [pair for pair in pairs if isinstance(pair, SentencePair)]
        if len(annotated) == len(pairs):
            return annotated
    bitext = as_bitext(pairs)
    sides = (bitext[n] for n in range(len(bitext)))
    return [SentencePair(Sentence(tuple(source)), Sentence(tuple(target))) for source, target in sides]


def _tokens(sentence: SentenceLike) -> Sequence[str]:
    if isinstance(sentence, str):
        return words_of(sentence)
    tokens = sentence.tokens if isinstance(sentence, Sentence) else sentence
    # A NumPy array is not a Sequence, but its words are strings.
    if not isinstance(tokens, Sequence | np.ndarray):
        raise TypeError(f"a sentence must be a string or a sequence of tokens. Got {_shown(sentence)} instead.")
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string. Got {_shown(token)} instead.")
    return tokens


def _shown(value: object) -> str:
    """A short form of `value`, and its type."""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:60] + '…'} ({type(value).__name__})"
