"""NAACL links, one link per line: ``sentence source target [S|P] [confidence]``, all numbered from 1; 0 is null."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import DataError
from cepts.io.files import PLAUSIBLE, InputFile
from cepts.io.lines import shown
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions, format_runs, parse_blocks


def _read(file: InputFile, options: LinkOptions) -> FileLinks:
    from cepts.kernels.links import parse_naacl

    def parse(block: NDArray[np.uint8], part: FileLinks, counts: NDArray[np.int64]) -> int:
        return parse_naacl(block, part.line, part.pair, part.source, part.target, part.confidence, part.sure, counts)

    found = parse_blocks(file, parse, _error)
    sentences = options.sentences
    if sentences is not None and found.pair.max(initial=-1) >= sentences:
        link = int(np.argmax(found.pair >= sentences))
        raise DataError(
            f"{file.name}, line {found.line[link]:,}: found a link of sentence {found.pair[link] + 1:,}, "
            f"but there are only {sentences:,} sentences; give the links of the same sentences."
        )
    found.pairs = sentences if sentences is not None else int(found.pair.max(initial=-1)) + 1
    if sentences is None and found.pairs > max(PLAUSIBLE, file.taken):
        link = int(np.argmax(found.pair))
        raise DataError(
            f"{file.name}, line {found.line[link]:,}: found a link of sentence {found.pairs:,} in a file of "
            f"{file.taken:,} bytes, wanted sentence numbers that fit its size; correct the number, or give the "
            f"sentences too."
        )
    return found


def _error(where: str, rest: bytes) -> DataError:
    text, _, _ = rest.partition(b"\n")
    fields = text.split()
    where = f"{where}: found {shown(text.strip().decode('utf-8', 'replace'))}"
    if len(fields) >= 3 and all(re.fullmatch(rb"[0-9]{1,9}", field) for field in fields[:3]) and not int(fields[0]):
        return DataError(f"{where}, wanted sentence numbers from 1, because NAACL files count from 1.")
    return DataError(f"{where}, wanted `sentence source target [S|P] [confidence between 0 and 1]`, as in 1 4 5 S.")


def _write(alignments: Alignments, bitext: Bitext | None, options: LinkOptions) -> Iterator[memoryview]:
    from cepts.kernels.links import format_naacl

    return format_runs(
        alignments if alignments.nulls is None else _with_null(alignments),
        lambda run, columns, start, out: format_naacl(run, *columns, options.first + start + 1, out),
        scores=True,
    )


def _with_null(alignments: Alignments) -> Alignments:
    """The links and null links together, sorted, with the position -1 for null."""
    pair, source, target, *rest = alignments.columns()
    shifted: list[NDArray[Any]] = [positions.astype(np.int64) + 1 for positions in (source, target)]
    found = Alignments.from_columns(len(alignments), pair, *shifted, *rest)
    return replace(found, source=found.source - 1, target=found.target - 1)


NAACL = LinkFormat(
    read=_read,
    write=_write,
    base=1,
    suffixes=re.compile(r"\.wa(\.|$)"),
    first_line=re.compile(rb"[0-9]+\s+[0-9]+\s+[0-9]+(\s|$)"),
)
