"""What a link format is: a reader, a writer and how to recognise a file.

`cepts.names.LINK_FORMATS` maps the name of each format to its `LinkFormat`. A new format needs a module with one and a
line in that table; commands, readers and writers then know it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError
from cepts.io.files import InputFile

LINKS_AT_A_TIME = 1 << 18

Columns: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], NDArray[np.bool_]]
Row: TypeAlias = tuple[int, int, int, float, bool, int]  # pair, source, target, confidence, sure, line


COLUMNS: dict[str, type[np.generic]] = {
    "pair": np.int64,
    "source": np.int32,
    "target": np.int32,
    "confidence": np.float32,
    "sure": np.bool_,
    "line": np.int64,
}


@dataclass(slots=True)
class FileLinks:
    """Links in the order of a file, each with its line, of `pairs` sentence pairs; a link may be repeated."""

    pair: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    line: NDArray[np.int64]
    pairs: int = 0

    @classmethod
    def empty(cls, count: int) -> FileLinks:
        """Room for `count` links."""
        columns: dict[str, Any] = {name: np.empty(count, dtype=kind) for name, kind in COLUMNS.items()}
        return cls(**columns)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], pairs: int) -> FileLinks:
        """Links of `rows`, each of which has pair, source, target, confidence, whether it is sure, and line."""
        found = zip(COLUMNS.items(), list(zip(*rows, strict=True)) or [()] * len(COLUMNS), strict=True)
        columns: dict[str, Any] = {name: np.array(column, dtype=kind) for (name, kind), column in found}
        return cls(**columns, pairs=pairs)

    def first(self, count: int) -> FileLinks:
        """Copy of the first `count` links, so that the rest of the room is freed."""
        return FileLinks(**{name: getattr(self, name)[:count].copy() for name in COLUMNS})

    @classmethod
    def concatenate(cls, parts: Sequence[FileLinks], pairs: int) -> FileLinks:
        """Links of several blocks of a file, one after the other."""
        parts = parts or [cls.empty(0)]
        columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
        return cls(**columns, pairs=pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """What a reader or writer is told: the number of a sentence's first word (`base`), for formats that do not fix it.

    A reader is also told how many `sentences` there must be, where it is known; a writer the place (from 0) in the file
    of the `first` pair.
    """

    base: int = 0
    sentences: int | None = None
    first: int = 0

    def __post_init__(self) -> None:
        if self.base not in {0, 1}:
            raise UsageError(f"`base` must be 0 or 1. Got {self.base!r} instead.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFormat:
    """A format of link files.

    Attributes
    ----------
    read
        Reads all links of a file. It checks what can be checked line by line; `read_links` checks the rest.
    write
        The bytes of the alignments of some pairs, in order. The sentences are None where they are not known.
    base
        The number of a sentence's first word; None where it is for the user to say.
    needs_sentences
        Whether links cannot be written without the sentences.
    shows_sentences
        Whether files show the sentences, where they are known.
    suffixes
        Matches the suffixes of a file's name in lower case, as in ``.wa.txt``.
    first_line
        Matches the beginning of the first line that is not blank.
    """

    read: Callable[[InputFile, LinkOptions], FileLinks]
    write: Callable[[Alignments, Bitext | None, LinkOptions], Iterator[bytes | memoryview]]
    base: int | None = None
    needs_sentences: bool = False
    shows_sentences: bool = False
    suffixes: re.Pattern[str] | None = None
    first_line: re.Pattern[bytes] | None = None


def format_runs(
    alignments: Alignments, format_run: Callable[[NDArray, Columns, int, NDArray[np.uint8]], int], *, scores: bool
) -> Iterator[memoryview]:
    """Text of `alignments`, made run by run.

    `format_run` takes the offsets of a run of pairs, the columns of all links (source, target, confidence, whether
    sure), the place of the run's first pair and an array to fill; it returns how many bytes it has filled. With
    `scores`, confidences are written, which must lie between 0 and 1.
    """
    offsets = np.ascontiguousarray(alignments.offsets)
    confidence = np.ascontiguousarray(alignments.confidence, dtype=np.float32)
    if scores and not np.all((confidence >= 0) & (confidence <= 1)):
        raise ValueError("confidences must lie between 0 and 1.")
    columns = (
        np.ascontiguousarray(alignments.source, dtype=np.int32),
        np.ascontiguousarray(alignments.target, dtype=np.int32),
        confidence,
        np.ascontiguousarray(alignments.sure, dtype=np.bool_),
    )
    start = 0
    while start < len(alignments):
        # At least one pair, and as many as fit: an alignment is never cut.
        stop = int(np.searchsorted(offsets, offsets[start] + LINKS_AT_A_TIME, side="right")) - 1
        stop = min(max(stop, start + 1), start + LINKS_AT_A_TIME, len(alignments))
        run = offsets[start : stop + 1]
        out = np.empty(50 * int(run[-1] - run[0]) + len(run), dtype=np.uint8)
        length = format_run(run, columns, start, out)
        yield out[:length].data
        start = stop
