"""The base of all writers: a file that appears only after everything has been written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, Self

from cepts.data import Bitext
from cepts.io.files import PathLike, open_output


class Writer:
    """Writes to `path` inside a ``with`` statement, compressed if the suffix says so; `-` is standard output."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        self._context = self._opened()
        self._context.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)

    @contextmanager
    def _opened(self) -> Iterator[None]:
        with open_output(self.path) as self._file:
            try:
                yield
                self._finish()
            finally:
                self._file = None

    def _finish(self) -> None:
        """Write the end of the file."""

    def _put(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Write bytes to the file, which is open inside the ``with`` statement."""
        if self._file is None:
            raise ValueError(f"{type(self).__name__} can only write inside its with statement.")
        for piece in pieces:
            self._file.write(piece)


class Sentences(Protocol):
    """The sentences of many pairs, such as a `Bitext`, of which a writer takes the next ones."""

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive)."""


class PairWriter(Writer):
    """Writes data of successive sentence pairs; `bitext` has the sentences of all of them, if they are known."""

    def __init__(self, path: PathLike, bitext: Sentences | None) -> None:
        super().__init__(path)
        self.bitext = bitext
        self.next_sentence = 0

    def _sentences(self, pairs: int, bitext_part: Bitext | None) -> Bitext | None:
        """The sentences of the next `pairs`, if they are known: `bitext_part`, or those of the bitext."""
        if bitext_part is None and self.bitext is not None:
            bitext_part = self.bitext.part(self.next_sentence, self.next_sentence + pairs)
        check_pairs(pairs, bitext_part)
        self.next_sentence += pairs
        return bitext_part


def check_pairs(pairs: int, bitext: Bitext | None) -> None:
    """Refuse sentences, if they are known, whose number is not `pairs`."""
    if bitext is not None and len(bitext) != pairs:
        raise ValueError(f"sentences must have the same number of pairs, {pairs:,}. Got {len(bitext):,} instead.")
