"""Words with their vectors, and dictionaries: the data of word-vector spaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data.vocabulary import Vocabulary
from cepts.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorReading:
    """How vectors were read from a file, so that they can be read in the same way again.

    Attributes
    ----------
    lowercase
        Whether the words were lower-cased.
    max_vocabulary
        How many words were kept at most, from the start of the file; None is all of them.
    """

    lowercase: bool = False
    max_vocabulary: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The words of one language, usually the most frequent first, with a vector for each: one view of a space.

    Attributes
    ----------
    vocabulary
        The words, all distinct.
    matrix
        Row `w` is the vector of word `w`: float32 or float16, in memory or mapped from a file.
    name
        What messages and tables call the view: a language or a file.
    reading
        How the words were read; `lowercased` and `first` update it.
    """

    vocabulary: Vocabulary
    matrix: NDArray[np.floating]
    name: str = ""
    reading: VectorReading = VectorReading()

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.vocabulary):
            raise UsageError(
                f"`matrix` must have a row for each of the {len(self.vocabulary):,} words. "
                f"Got an array of shape {self.matrix.shape} instead."
            )

    @classmethod
    def from_words(cls, words: Iterable[str], matrix: NDArray[np.floating], name: str = "") -> Vectors:
        """Vectors from `words`, which must be distinct, and a matrix with a row for each."""
        return cls(Vocabulary.from_words(words), np.asarray(matrix), name)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __repr__(self) -> str:
        return f"Vectors({self.name + ': ' if self.name else ''}{len(self):,} words of width {self.width})"

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return int(self.matrix.shape[1])

    @property
    def words(self) -> list[str]:
        """The words, in the order of the rows."""
        return self.vocabulary.words

    def first(self, count: int) -> Vectors:
        """The first `count` words."""
        if count >= len(self):
            return self
        offsets = self.vocabulary.offsets[: count + 1]
        vocabulary = Vocabulary(self.vocabulary.buffer[: offsets[-1]], offsets)
        return Vectors(vocabulary, self.matrix[:count], self.name, replace(self.reading, max_vocabulary=count))

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Vectors:
        """The words of `rows`, in that order."""
        vocabulary = Vocabulary.from_words(map(self.words.__getitem__, rows))
        return replace(self, vocabulary=vocabulary, matrix=self.matrix[np.asarray(rows, dtype=np.int64)])

    def lowercased(self) -> Vectors:
        """The vectors of the lower-cased words.

        Among words that become equal, the one that was in lower case already is kept, or else the first one.
        """
        first: dict[str, int] = {}
        for row, word in enumerate(self.words):
            lower = word.lower()
            if lower == word:
                first[word] = row
            else:
                first.setdefault(lower, row)
        rows = np.fromiter(first.values(), dtype=np.int64, count=len(first))
        limit = None if self.reading.max_vocabulary is None else min(self.reading.max_vocabulary, len(first))
        return Vectors(
            Vocabulary.from_words(first),
            self.matrix if len(rows) == len(self) else self.matrix[rows],
            self.name,
            VectorReading(lowercase=True, max_vocabulary=limit),
        )

    def moved(self, matrix: NDArray[np.floating]) -> Vectors:
        """The same words with the vectors of `matrix`, such as those in a shared space."""
        return replace(self, matrix=matrix)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dictionary: words of two or more languages that are translations of each other.

    Attributes
    ----------
    languages
        Names of the languages.
    entries
        Each entry has a word for each language, or None if that language has no word for it.
    name
        What messages call the dictionary, usually the file.
    """

    languages: tuple[str, ...]
    entries: tuple[tuple[str | None, ...], ...]
    name: str = ""

    def __post_init__(self) -> None:
        for entry in self.entries:
            if len(entry) != len(self.languages):
                raise UsageError(f"each of the `entries` must have {len(self.languages)} words. Got {entry} instead.")

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        return iter(self.entries)

    def swapped(self) -> Dictionary:
        """The same entries with the languages in reverse order."""
        return Dictionary(self.languages[::-1], tuple(entry[::-1] for entry in self.entries), self.name)

    def rows(self, views: Sequence[Vectors]) -> NDArray[np.int64]:
        """For each entry, the rows of its words in `views` (entries x views).

        -1 stands for a word that the entry or the view does not have.
        """
        if len(views) != len(self.languages):
            raise UsageError(
                f"`views` must have one view for each language ({', '.join(self.languages)}). Got {len(views)} instead."
            )
        rows = np.empty((len(self), len(views)), dtype=np.int64)
        for column, view in enumerate(views):
            number = view.vocabulary.number
            words = [entry[column] for entry in self.entries]
            rows[:, column] = [-1 if word is None else number(word) for word in words]
        return rows
