"""Words and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import offsets_of, take_runs


class Vocabulary:
    """Distinct words, numbered from 0 in the order in which a text first uses them.

    The words are stored as one buffer of UTF-8 bytes with offsets, as the tokenising kernel makes them and as model
    files store them. Python strings are made only when they are needed.

    Parameters
    ----------
    buffer
        The UTF-8 bytes of all words, one after the other (uint8).
    offsets
        Word `w` is `buffer[offsets[w]:offsets[w + 1]]` (int64, one more than there are words).
    """

    def __init__(self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.buffer = buffer
        self.offsets = offsets

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Vocabulary:
        """Vocabulary of `words`, which must be distinct."""
        words = list(words)
        encoded = [word.encode("utf-8", "surrogateescape") for word in words]
        offsets = offsets_of([len(word) for word in encoded])
        vocabulary = cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)
        vocabulary.words = words
        return vocabulary

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, word_id: int) -> str:
        return self.words[word_id]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} words)"

    def take(self, numbers: NDArray[np.integer]) -> Vocabulary:
        """The words with these numbers, in this order."""
        places, offsets = take_runs(self.offsets, np.asarray(numbers, dtype=np.int64))
        return Vocabulary(self.buffer[places], offsets)

    @cached_property
    def words(self) -> list[str]:
        """The words as strings, in order of their numbers."""
        return self.decoded()

    def decoded(self) -> list[str]:
        """What `words` is, but not kept: the strings of a large vocabulary need much more memory than its bytes."""
        data = self.buffer.tobytes()
        bounds = self.offsets.tolist()
        return [data[start:end].decode("utf-8", "surrogateescape") for start, end in pairwise(bounds)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def number(self, word: str) -> int:
        """Number of `word`, or -1 if the vocabulary does not have it."""
        return self._numbers.get(word, -1)

    def numbers(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Numbers of `words`; -1 for words that the vocabulary does not have."""
        get = self._numbers.get
        return np.array([get(word, -1) for word in words], dtype=np.int32)

    def find(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Numbers of `words`, looked up as they are and then in lower case; -1 for words that are in neither form."""
        get = self._numbers.get
        return np.array([get(word, get(word.lower(), -1)) for word in words], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class WordBound:
    """How many words of a text are held while it is read.

    Attributes
    ----------
    most
        So many words are held at most, unless a single sentence has more.
    shrink
        Given these words and how often each has occurred, a smaller vocabulary and the number of each word in it. Words
        that get the same number are one word from then on. The vocabulary must be in order of first use.
    """

    most: int
    shrink: Callable[[Vocabulary, NDArray[np.int64]], tuple[Vocabulary, NDArray[np.int32]]]
