"""Lines of files; the words, columns and JSON objects in them; and messages about what is wrong with them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import words_of
from cepts.errors import LONGEST_QUOTE, DataError, clipped, reason_of, shown
from cepts.io.files import InputFile, PathLike, read_blocks
from cepts.progress import Progress, Step, silent

BLANKS = re.compile(r"[ \t]+")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # the escape of half a character; the other half may be missing


def lines_of(file: InputFile) -> Iterator[bytes]:
    """The lines of `file` without their newlines and without a byte-order mark."""
    file.skip_bom()
    for block in read_blocks(file):
        lines = block.tobytes().split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield from lines


def located_lines(file: InputFile, errors: str = "strict") -> Iterator[tuple[int, str, str]]:
    """The number, the place for messages, and the text of each line of `file`.

    `errors` is ``strict``, which refuses bytes that are not UTF-8, or another of Python's error handlers.
    """
    for number, line in enumerate(lines_of(file), start=1):
        where = f"{file.name}, line {number:,}"
        yield number, where, utf8_text(where, line) if errors == "strict" else line.decode("utf-8", errors)


def line_at(block: NDArray[np.uint8], start: int) -> bytes:
    """The line of `block` at `start`, without its newline."""
    reach = 1 << 10
    while b"\n" not in (part := block[start : start + reach].tobytes()) and start + reach < len(block):
        reach *= 8
    return part.partition(b"\n")[0]


def filled_lines(file: InputFile) -> Iterator[tuple[int, str, str]]:
    """`located_lines` without blank lines; bytes that are not UTF-8 are kept."""
    for number, where, line in located_lines(file, "surrogateescape"):
        if line.removesuffix("\r").strip(" "):
            yield number, where, line.removesuffix("\r")


def read_lines(path: PathLike) -> list[str]:
    """All lines of a file, including blank ones; bytes that are not UTF-8 are kept."""
    with InputFile(path) as file:
        return [line.removesuffix("\r") for _, _, line in located_lines(file, "surrogateescape")]


def columns_of(line: str) -> list[str]:
    """Split `line` at its tabs or, if it has none, at runs of ASCII blanks; columns have no blanks around them."""
    if "\t" in line:
        return [column.strip(" ") for column in line.split("\t")]
    return BLANKS.split(line.strip(" "))


def finite_number(text: str | bytes | float) -> float | None:
    """The number that `text` represents; None if it is not a finite number."""
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def utf8_text(where: str, data: bytes) -> str:
    """`data` decoded as UTF-8; `where` is its place for messages."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start)
        place = f", line {line + 1:,}" if line else ""
        byte = error.start - data.rfind(b"\n", 0, error.start)
        raise DataError(f"{where}{place}: byte {byte:,} is not valid UTF-8; convert the file to UTF-8.") from error


def check_characters(where: str, text: str, errors: str = "strict") -> None:
    """Refuse half of a surrogate pair, which JSON can escape but no file can hold.

    With ``surrogateescape`` for `errors`, `text` may contain bytes that are not UTF-8, in the form in which
    `located_lines` keeps them.
    """
    if text.isascii():
        return
    try:
        text.encode("utf-8", "surrogateescape" if errors == "surrogateescape" else "strict")
    except UnicodeEncodeError as error:
        near = text[max(error.start - LONGEST_QUOTE // 4, 0) : error.start + LONGEST_QUOTE // 4]
        raise DataError(
            f"{where}: found \\u{ord(text[error.start]):04x} in {shown(near)}, which is half a character; write both "
            f"halves, or the character itself."
        ) from error


def short_name(file: InputFile) -> str:
    """Name of `file` without its directories."""
    return file.name if file.path == "-" else Path(file.path).name


def separator_of(line: bytes) -> str | None:
    """How the two sentences on a line are separated: ``pipes`` or ``tsv``; None if they are not."""
    return "pipes" if b"|||" in line.split() else "tsv" if line.count(b"\t") == 1 else None


def separator_error(name: str, format: str, line: bytes, number: int) -> DataError:
    """The error for a `line` that is not two sentences with one separator between them."""
    where = f"{name}, line {number:,}"
    if format == "tsv":
        found = line.count(b"\t") + 1
        return DataError(
            f"{where}: found {found} column{'s' * (found > 1)}, wanted 2 (source, one tab, target); "
            f"keep two columns, for example with `cut -f 1,2`."
        )
    found = line.split().count(b"|||")
    return DataError(
        f"{where}: found {found or 'no'} separator{'s' * (found != 1)} ` ||| `, wanted 1; "
        f"write each pair as `source ||| target`."
    )


def uneven_error(source: str, source_lines: int, target: str, target_lines: int) -> DataError:
    """The error for two files of a bitext with different numbers of lines."""
    return DataError(
        f"{source} has {source_lines:,} lines but {target} has {target_lines:,}; a bitext needs one target line for "
        f"each source line. The first line without a partner is {min(source_lines, target_lines) + 1:,}."
    )


def check_even(source: PathLike, target: PathLike, *, progress: Progress | None = None) -> None:
    """Refuse two files with different numbers of lines, without reading what is in the lines.

    This is much faster than finding it out when one of the files ends. What cannot be read twice is not checked.
    """
    if not (Path(source).is_file() and Path(target).is_file()):
        return
    report = progress or silent

    def counting(step: Step) -> None:
        report(replace(step, stage="counting lines"))

    with InputFile(source, progress=counting) as first, InputFile(target, progress=counting) as second:
        first.after, second.before = second.size, first.size
        source_lines, target_lines = _count_lines(first), _count_lines(second)
        if source_lines != target_lines:
            raise uneven_error(first.name, source_lines, second.name, target_lines)


def _count_lines(file: InputFile) -> int:
    lines, last = 0, b"\n"
    for block in read_blocks(file):
        data = block.tobytes()
        lines, last = lines + data.count(b"\n"), data[-1:]
        file.report()
    return lines + (last != b"\n")


def json_objects(
    file: InputFile, wanted: str, *, errors: str = "strict", skip_blank: bool = False
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The object on each line of `file`, with the line's number and its place for messages.

    `wanted` says, for messages, what a line should contain. `errors` is as in `located_lines`. Blank lines are an error
    unless they are skipped.
    """
    for number, where, text in located_lines(file, errors):
        if skip_blank and not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: found invalid JSON ({reason_of(error)}), wanted {wanted}.") from error
        if not isinstance(record, dict):
            raise DataError(f"{where}: found {shown(text)}, wanted {wanted}.")
        if SURROGATE.search(text):
            # Bytes that are not UTF-8 may be kept as surrogates, but then the line itself contains them.
            for part in _texts_in(record):
                check_characters(where, part, "strict" if text.isascii() else errors)
        yield number, where, record


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value:
            yield from _texts_in(part)
        if isinstance(value, dict):
            yield from _texts_in(list(value.values()))


def shown_json(value: object) -> str:
    """`value` for a message: as JSON, quoted, on one line and short."""
    return shown(json.dumps(value, ensure_ascii=False))


def plain_json(value: object) -> str:
    """`value` for a message: as JSON, on one line and short."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    return clipped(json.dumps(value, ensure_ascii=False))


def words_in(found: Any) -> tuple[str, ...] | None:
    """The tokens of a text or of a list of texts; None if `found` is neither."""
    if isinstance(found, str):
        return tuple(words_of(found))
    return tuple(found) if isinstance(found, list) and all(type(word) is str for word in found) else None


def json_line(record: Mapping[str, object]) -> bytes:
    """`record` as a line; bytes that were not UTF-8 when they were read are written as they were."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
