"""Pharaoh links, one pair per line: ``0-0 1?2``, or with confidences ``0-0:0.9731 1?2:0.4100``.

Also read are possible links as ``1p2``, which is how awesome-align and SimAlign mark them in gold files, confidences
after a hyphen, and fast_align's scores after ``|||``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import shown
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions, format_runs, parse_blocks

LINK = re.compile(rb"([0-9]+)([-?p])([0-9]+)(?:[:-](.*))?", re.DOTALL)
NUMBER = re.compile(rb"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def _read(file: InputFile, options: LinkOptions) -> FileLinks:
    from cepts.kernels.links import parse_pharaoh

    def parse(block: NDArray[np.uint8], part: FileLinks, counts: NDArray[np.int64]) -> int:
        ends = np.empty(int(np.count_nonzero(block == ord("\n"))) + 1, dtype=np.int64)
        failed = parse_pharaoh(block, options.base, ends, part.source, part.target, part.confidence, part.sure, counts)
        if failed < 0:
            if block[-1] != ord("\n"):
                ends[counts[1]] = counts[0]
                counts[1] += 1
            part.line[: counts[0]] = np.repeat(np.arange(counts[1]), np.diff(ends[: counts[1]], prepend=0))
        return int(failed)

    found = parse_blocks(file, parse, partial(_error, base=options.base))
    found.pair = found.line - 1
    return found


def _error(where: str, rest: bytes, *, base: int) -> DataError:
    token = rest.split()[0]
    where = f"{where}: found {shown(token.decode('utf-8', 'replace'))}"
    match = LINK.fullmatch(token)
    if match and match[4] is not None and not (NUMBER.fullmatch(match[4]) and float(match[4]) <= 1):
        return DataError(f"{where}, wanted a confidence between 0 and 1 after the link, as in 0-1:0.87.")
    if match and base == 1 and 0 in (int(match[1]), int(match[3])):
        return DataError(f"{where}, wanted word numbers from 1; read a file that counts from 0 with base 0.")
    if match:
        return DataError(f"{where}, wanted word numbers below 2,147,483,648.")
    return DataError(f"{where}, wanted a link such as 0-1 (sure), 0?1 (possible) or 0-1:0.87 (scored).")


def _write(
    alignments: Alignments, bitext: Bitext | None, options: LinkOptions, *, scored: bool
) -> Iterator[memoryview]:
    from cepts.kernels.links import format_pharaoh

    return format_runs(
        alignments,
        lambda run, columns, start, out: format_pharaoh(run, *columns, options.base, scored, out),
        scores=scored,
    )


PHARAOH = LinkFormat(read=_read, write=partial(_write, scored=False))
SCORED = LinkFormat(read=_read, write=partial(_write, scored=True))
