"""What a link format is: a reader, a writer, and a way to recognise its files.

`cepts.names.LINK_FORMATS` maps the name of each format to its `LinkFormat`. A new format needs a module with one and a
line in that table; commands, readers and writers then know it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import DataError, UsageError
from cepts.io.files import InputFile, read_blocks

LINKS_AT_A_TIME = 1 << 18
SHORTEST_LINK = 4  # bytes, including the separator before the next link

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
    """The links of `pairs` sentence pairs in the order of a file, each with its line; a link may be repeated."""

    pair: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    line: NDArray[np.int64]
    pairs: int = field(default=0, kw_only=True)

    @classmethod
    def empty(cls, count: int) -> FileLinks:
        """Room for `count` links."""
        return cls(*(np.empty(count, dtype=kind) for kind in COLUMNS.values()))

    @classmethod
    def from_rows(cls, rows: Iterable[Row], pairs: int) -> FileLinks:
        """Links from `rows` of pair, source, target, confidence, whether the link is sure, and line."""
        found = zip(COLUMNS.values(), list(zip(*rows, strict=True)) or [()] * len(COLUMNS), strict=True)
        return cls(*(np.array(column, dtype=kind) for kind, column in found), pairs=pairs)

    def first(self, count: int) -> FileLinks:
        """A copy of the first `count` links, so that the memory for the rest is freed."""
        return FileLinks(**{name: getattr(self, name)[:count].copy() for name in COLUMNS})

    @classmethod
    def concatenate(cls, parts: Sequence[FileLinks], pairs: int) -> FileLinks:
        """Links of several blocks of a file, one after the other."""
        parts = parts or [cls.empty(0)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS), pairs=pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """Options of a reader or writer: the number of a sentence's first word (`base`), for formats that do not fix it.

    For a reader, `sentences` is how many sentence pairs there must be, if that is known. For a writer, `first` is the
    place in the file (from 0) of the first pair that it is given.
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
        Function that reads all links of a file. It checks what can be checked line by line; `read_links` checks the
        rest.
    write
        Function that yields the bytes of the alignments of some pairs, in order. The sentences are None if they are not
        known.
    base
        The number of a sentence's first word; None if the user chooses it.
    needs_sentences
        Whether links cannot be written without the sentences.
    shows_sentences
        Whether files contain the sentences, if these are known.
    suffixes
        Matches the suffixes of a file's name in lower case, such as ``.wa.txt``.
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


def parse_blocks(
    file: InputFile,
    parse: Callable[[NDArray[np.uint8], FileLinks, NDArray[np.int64]], int],
    error: Callable[[str, bytes], DataError],
) -> FileLinks:
    """The links of a file of lines, read block by block; `pairs` is the number of lines.

    `parse` puts the links of a block and their lines (from 0) into columns, and the numbers of links and lines into the
    counts; it returns the position of an error in the block, or -1. `error` makes the exception from the name of the
    line and the bytes at that position.
    """
    parts = []
    before = 0
    counts = np.zeros(2, dtype=np.int64)
    file.skip_bom()
    for block in read_blocks(file):
        part = FileLinks.empty(len(block) // SHORTEST_LINK + 1)
        failed = parse(block, part, counts)
        links, lines = counts.tolist()
        if failed >= 0:
            raise error(f"{file.name}, line {before + lines + 1:,}", block[failed : failed + 200].tobytes())
        part.line += before + 1
        parts.append(part.first(links))
        before += lines
    return FileLinks.concatenate(parts, before)


def format_runs(
    alignments: Alignments, format_run: Callable[[NDArray, Columns, int, NDArray[np.uint8]], int], *, scores: bool
) -> Iterator[memoryview]:
    """The text of `alignments`, made run by run.

    `format_run` takes the offsets of a run of pairs, the columns of all links (source, target, confidence, whether
    sure), the place of the run's first pair and an array to fill; it returns how many bytes it has filled. With
    `scores`, confidences are written; they must lie between 0 and 1.
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
