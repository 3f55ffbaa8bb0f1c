"""What the readers of word vectors share: distinct words with their rows, and notices about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, offsets_of
from cepts.errors import DataError
from cepts.io.lines import shown

FIRST_ROWS_BYTES = 1 << 24
GROWTH = 1.25


@dataclass(slots=True)
class Request:
    """What a caller of `read_vectors` wants: at most `most` words; notes for the user are appended to `notices`."""

    most: int
    lowercase: bool
    notices: list[str]


def shown_word(word: bytes) -> str:
    """`word` for a message: quoted, on one line and short."""
    return shown(word[:240].decode("utf-8", "backslashreplace"))


class WordTally:
    """The distinct words of a file in its order; of equal words, the first is kept.

    With `lowercase`, of words that differ only in case, the one written in lower case is kept, or otherwise the first.
    `name` and `unit` are the name of the file and the unit in which it is counted (``line`` or ``word``), for messages.
    """

    def __init__(self, name: str, unit: str, request: Request) -> None:
        self.name = name
        self.unit = unit
        self.request = request
        self.words: dict[bytes, int] = {}  # with their places in the file
        self._numbers: dict[bytes, int] = {}  # of words in lower case
        self._forms: set[bytes] = set()  # before they were put in lower case
        self._repeated = 0
        self._first_repeated = ""

    @property
    def full(self) -> bool:
        """Whether no more words are wanted."""
        return len(self.words) >= self.request.most

    def add(self, words: Iterable[bytes], places: Iterable[int]) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
        """Take the next `words`, which are at `places` in the file, as long as more words are wanted.

        Returns the indices of those that are new, and for each better form of a known word (the one in lower case) the
        number of the known word and the index of the better form.
        """
        new, better = [], []
        lowercase = self.request.lowercase
        for row, (word, place) in enumerate(zip(words, places, strict=True)):
            if self.full:
                break
            form = _lower(word) if lowercase else word
            if form not in self.words:
                new.append(row)
                self.words[form] = place
                if lowercase:
                    self._numbers[form] = len(self.words) - 1
            elif lowercase and word not in self._forms:
                if word == form:
                    better.append((self._numbers[form], row))
                    self.words[form] = place
            else:
                self._repeated += 1
                self._first_repeated = self._first_repeated or (
                    f"{shown_word(form)} ({self.unit} {self.words[form]:,}, again in {self.unit} {place:,})"
                )
            if lowercase:
                self._forms.add(word)
        return np.array(new, dtype=np.int64), better

    def finish(self, matrix: NDArray[np.floating]) -> Vocabulary:
        """The words, whose vectors are the rows of `matrix`; adds to `request.notices`."""
        self.request.notices += self._notices(matrix)
        offsets = offsets_of(list(map(len, self.words)))
        return Vocabulary(np.frombuffer(b"".join(self.words), dtype=np.uint8), offsets)

    def _notices(self, matrix: NDArray[np.floating]) -> Iterator[str]:
        if self._repeated:
            words = "1 word is" if self._repeated == 1 else f"{self._repeated:,} words are"
            yield f"{self.name}: {words} repeated, first {self._first_repeated}; the first vector of each is kept."
        merged = max(0, len(self._forms) - len(self.words))
        if merged:
            words = "1 word is" if merged == 1 else f"{merged:,} words are"
            yield (
                f"{self.name}: {words} the same as another in lower case; the one that is written in lower case is "
                f"kept, or otherwise the first."
            )
        candidates = np.flatnonzero(matrix[:, 0] == 0)
        zeros = candidates[~matrix[candidates].any(axis=1)]
        if len(zeros):
            words = "1 word has" if len(zeros) == 1 else f"{len(zeros):,} words have"
            word, place = next(islice(self.words.items(), int(zeros[0]), None))
            yield (
                f"{self.name}: {words} a vector of zeros, first {shown_word(word)} ({self.unit} {place:,}); such a "
                f"vector has no neighbours."
            )


class RowCollector:
    """Distinct words and a growing matrix of their vectors.

    Get free rows with `free`, fill some, and pass their words to `add`. `rows` is the number of rows of the file, or
    None if it is not known before reading.
    """

    def __init__(self, tally: WordTally, width: int, rows: int | None) -> None:
        self.tally = tally
        self.count = 0
        room = max(1, FIRST_ROWS_BYTES // (4 * width)) if rows is None else rows
        try:
            self._matrix = np.empty((min(room, tally.request.most), width), dtype=np.float32)
        except (MemoryError, ValueError) as error:
            raise DataError(
                f"{tally.name}: found a width of {width:,}, wanted vectors that fit into memory; check the file."
            ) from error

    def free(self) -> NDArray[np.float32]:
        """The rows to fill next, at least one."""
        room, width = self._matrix.shape
        if self.count == room:
            # In place: the system moves large arrays without copying them, so memory does not double.
            self._matrix.resize((int(room * GROWTH) + 1, width), refcheck=False)
        return self._matrix[self.count :]

    def add(self, words: list[bytes], places: list[int]) -> None:
        """Keep those of the rows just filled whose `words`, at `places` in the file, are new."""
        filled = self._matrix[self.count : self.count + len(words)]
        finite = np.isfinite(filled)
        if not finite.all():
            row, column = divmod(int(np.argmin(finite)), filled.shape[1])
            raise not_finite(f"{self.tally.name}, {self.tally.unit} {places[row]:,}", words[row], filled[row, column])
        new, better = self.tally.add(words, places)
        better_rows = filled[[row for _, row in better]]
        if len(new) < len(words):
            filled[: len(new)] = filled[new]
        self._matrix[[number for number, _ in better]] = better_rows
        self.count += len(new)

    def finish(self) -> tuple[Vocabulary, NDArray[np.float32]]:
        """The words and their matrix."""
        self._matrix.resize((self.count, self._matrix.shape[1]), refcheck=False)
        return self.tally.finish(self._matrix), self._matrix


def not_finite(where: str, word: bytes, value: float) -> DataError:
    """The error for a vector that contains NaN or infinity."""
    return DataError(
        f"{where}: found {float(value)} in the vector of {shown_word(word)}, wanted finite numbers; leave the word "
        f"out, or train the vectors again."
    )


def _lower(word: bytes) -> bytes:
    return word.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")
