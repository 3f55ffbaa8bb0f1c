"""The base of all writers: a file that appears, complete, only after a clean end."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import BinaryIO, Self

from cepts.data import Bitext
from cepts.io.files import PathLike, open_output


class Writer:
    """Writes to `path` inside a ``with`` statement."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self._output: AbstractContextManager[BinaryIO] | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        self._output = open_output(self.path)
        self._file = self._output.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output is None or self._file is None:
            return
        output, file = self._output, self._file
        self._output = self._file = None
        if kind is None:
            try:
                self._finish(file)
            except BaseException:
                output.__exit__(*sys.exc_info())
                raise
        output.__exit__(kind, error, trace)

    def _finish(self, file: BinaryIO) -> None:
        """Write what comes last."""

    def _open(self) -> BinaryIO:
        """The file, which is open inside the ``with`` statement."""
        if self._file is None:
            raise ValueError(f"{type(self).__name__} writes inside its with statement only.")
        return self._file


class PairWriter(Writer):
    """Writes what belongs to successive sentence pairs.

    The sentences are those of `bitext`, unless each call of `write` is given its own.
    """

    def __init__(self, path: PathLike, bitext: Bitext | None) -> None:
        super().__init__(path)
        self.bitext = bitext
        self.next_sentence = 0

    def _sentences(self, pairs: int, bitext_part: Bitext | None) -> Bitext | None:
        """The sentences of the next `pairs`, where they are known."""
        if bitext_part is None and self.bitext is not None:
            bitext_part = self.bitext.part(self.next_sentence, self.next_sentence + pairs)
        check_pairs(pairs, bitext_part)
        self.next_sentence += pairs
        return bitext_part


def check_pairs(pairs: int, bitext: Bitext | None) -> None:
    """Refuse sentences, where they are known, that are not those of `pairs` pairs."""
    if bitext is not None and len(bitext) != pairs:
        raise ValueError(f"sentences must have the same number of pairs, {pairs:,}. Got {len(bitext):,} instead.")
