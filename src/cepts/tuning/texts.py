"""What features need to know of the words of a text: spelling, kind, and which words are the same."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Text, offsets_of

LETTERS, DIGITS, SIGNS = range(3)


def plain(word: str) -> str:
    """The word in lower case and without combining marks."""
    return "".join(letter for letter in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(letter))


def kind(word: str) -> int:
    """Whether a word has letters, digits without letters, or neither."""
    if any(letter.isalpha() for letter in word):
        return LETTERS
    return DIGITS if any(letter.isdigit() for letter in word) else SIGNS


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one side of a bitext.

    Attributes
    ----------
    lowered
        Each word of the vocabulary in lower case.
    letters, offsets
        Code points of the words without case and marks; word `w` is `letters[offsets[w]:offsets[w + 1]]`.
    kinds
        `LETTERS`, `DIGITS` or `SIGNS`.
    """

    lowered: list[str]
    letters: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    kinds: NDArray[np.int8]

    @classmethod
    def of(cls, text: Text) -> Words:
        """The words of a text."""
        words = text.vocabulary.words
        bare = [plain(word) for word in words]
        letters = np.frombuffer("".join(bare).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        return cls(
            [word.lower() for word in words],
            letters,
            offsets_of([len(word) for word in bare]),
            np.array([kind(word) for word in words], dtype=np.int8),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of letters of each word."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class TextFacts:
    """A bitext with what is known of its words, computed once for all of its runs."""

    bitext: Bitext
    source: Words
    target: Words

    @classmethod
    def of(cls, bitext: Bitext) -> TextFacts:
        """The facts of a bitext."""
        return cls(bitext, Words.of(bitext.source), Words.of(bitext.target))


def repeated(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which tokens occur more than once in their sentence."""
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((ids, sentence))
    same = (np.diff(sentence[order]) == 0) & (np.diff(ids[order]) == 0)
    found = np.zeros(len(ids), dtype=np.bool_)
    found[order[1:][same]] = True
    found[order[:-1][same]] = True
    return found
