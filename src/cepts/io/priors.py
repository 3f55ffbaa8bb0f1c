"""Files of priors, as eflomal 2 reads and writes them, and tables of `cepts lexicon`.

A line has columns that are separated by tabs:

    LEX   source-word  target-word  count       links between two words; either word may be <NULL>
    HMMF  jump  count                           jumps in the source, from the link of a target word to that of the next
    HMMR  jump  count                           jumps in the target, the other way round
    FERF  source-word  fertility  count         how often a source word is linked to so many target words
    FERR  target-word  fertility  count         the other way round

or, as `cepts lexicon` writes them, five columns: source word, target word, two probabilities and a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cepts.data import PriorEntries
from cepts.errors import DataError
from cepts.io.files import InputFile, PathLike, open_output
from cepts.io.lines import finite_number, lines_of, shown
from cepts.names import DIRECTIONS

LINES_IN_BLOCK = 1 << 16
FARTHEST_JUMP = 1 << 20
MOST_WORDS = 1 << 20
JUMPS = {"HMMF": 0, "HMMR": 1}
FERTILITIES = {"FERF": 0, "FERR": 1}
LAYOUTS = {
    "LEX": "LEX, source word, target word, count",
    **{name: f"{name}, jump, count" for name in JUMPS},
    **{name: f"{name}, word, fertility, count" for name in FERTILITIES},
}
TABLE_COLUMNS = 5


@dataclass(eq=False)
class _Block:
    """The lines that have been read since the last block."""

    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    jumps: list[tuple[int, int, float]] = field(default_factory=list)
    fertilities: list[tuple[int, str, int, float]] = field(default_factory=list)

    def entries(self) -> PriorEntries:
        counts = np.array(self.counts, dtype=np.float64)
        return PriorEntries(self.source, self.target, counts, self.jumps, self.fertilities)


def read_priors(path: PathLike) -> Iterator[PriorEntries]:
    """Yield the priors of a file, block by block.

    Parameters
    ----------
    path
        A file, plain or compressed; `-` is standard input.
    """
    with InputFile(path) as file:
        block, lines = _Block(), 0
        for number, line in enumerate(lines_of(file), start=1):
            _read_line(file.name, number, line, block)
            lines += 1
            if lines == LINES_IN_BLOCK:
                yield block.entries()
                block, lines = _Block(), 0
        yield block.entries()


def _read_line(name: str, number: int, line: bytes, block: _Block) -> None:
    columns = line.decode("utf-8", "surrogateescape").removesuffix("\r").split("\t")
    kind = columns[0]
    if len(columns) == TABLE_COLUMNS:
        _add_pair(name, number, (columns[0], columns[1], columns[4]), block)
    elif kind == "LEX" and len(columns) == 4:
        _add_pair(name, number, columns[1:], block)
    elif kind in JUMPS and len(columns) == 3:
        jump = _whole(name, number, "jump", columns[1], -FARTHEST_JUMP, FARTHEST_JUMP)
        block.jumps.append((JUMPS[kind], jump, _count(name, number, columns[2])))
    elif kind in FERTILITIES and len(columns) == 4:
        _check_word(name, number, columns[1])
        fertility = _whole(name, number, "fertility", columns[2], 0, MOST_WORDS)
        block.fertilities.append((FERTILITIES[kind], columns[1], fertility, _count(name, number, columns[3])))
    else:
        raise _wrong_line(name, number, columns)


def _add_pair(name: str, number: int, columns: Sequence[str], block: _Block) -> None:
    source, target, count = columns
    _check_word(name, number, source)
    _check_word(name, number, target)
    block.counts.append(_count(name, number, count))
    block.source.append(source)
    block.target.append(target)


def _check_word(name: str, number: int, word: str) -> None:
    if not word or word != word.strip(" ") or " " in word:
        raise DataError(
            f"{name}, line {number:,}: found {shown(word)} as a word, wanted one token without blanks; separate the "
            f"columns by single tabs."
        )


def _count(name: str, number: int, text: str) -> float:
    count = finite_number(text)
    if count is None or count < 0:
        raise DataError(
            f"{name}, line {number:,}: found {shown(text)} as a count, wanted a number of 0 or more; write it in the "
            f"last column."
        )
    return count


def _whole(name: str, number: int, what: str, text: str, least: int, most: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = most + 1
    if not least <= value <= most:
        raise DataError(
            f"{name}, line {number:,}: found {shown(text)} as a {what}, wanted a whole number from {least:,} to "
            f"{most:,}."
        )
    return value


def _wrong_line(name: str, number: int, columns: list[str]) -> DataError:
    where = f"{name}, line {number:,}"
    if columns[0] in LAYOUTS:
        return DataError(
            f"{where}: found {len(columns)} column{'s' * (len(columns) != 1)}, wanted {LAYOUTS[columns[0]]}; separate "
            f"them by tabs."
        )
    return DataError(
        f"{where}: found {shown(columns[0])} in the first of {len(columns)} columns, wanted {', '.join(LAYOUTS)}, or "
        f"the five columns of `cepts lexicon`; separate columns by tabs."
    )


def write_priors(
    output: PathLike,
    links: Iterable[tuple[str, str, float]],
    jumps: Mapping[str, Mapping[int, float]],
    fertilities: Mapping[str, Iterable[tuple[str, int, float]]],
) -> None:
    """Write priors in the format of eflomal.

    Parameters
    ----------
    output
        The file, compressed if its name says so; `-` is standard output.
    links
        Source word, target word and count.
    jumps, fertilities
        Of each direction, ``forward`` and ``reverse``: jumps with their counts; words, fertilities and counts.
    """
    with open_output(output) as file:
        for source, target, count in links:
            _write_line(file, "LEX", source, target, count)
        for name, direction in zip(FERTILITIES, DIRECTIONS, strict=True):
            for word, fertility, count in fertilities.get(direction, ()):
                _write_line(file, name, word, fertility, count)
        for name, direction in zip(JUMPS, DIRECTIONS, strict=True):
            for jump, count in sorted(jumps.get(direction, {}).items()):
                _write_line(file, name, jump, count)


def _write_line(file: Any, *columns: str | float) -> None:
    *first, count = columns
    line = "\t".join([*map(str, first), f"{count:g}"])
    file.write(f"{line}\n".encode("utf-8", "surrogateescape"))
