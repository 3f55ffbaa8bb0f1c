"""The lines of small tables: dictionaries, judgements, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cepts.io.files import InputFile
from cepts.io.link_records import _lines

__all__ = ["columns_of", "filled_lines", "short_name", "shown"]

BLANKS = re.compile(r"[ \t]+")


def filled_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """The lines of `file` that are not blank, with their numbers from 1; bytes that are not UTF-8 are kept."""
    for number, line in enumerate(_lines(file), start=1):
        text = line.removesuffix(b"\r")
        if text.strip(b" "):
            yield number, text.decode("utf-8", "surrogateescape")


def columns_of(line: str) -> list[str]:
    """Between tabs where `line` has one, else between runs of ASCII blanks; without blanks around them."""
    if "\t" in line:
        return [column.strip(" ") for column in line.split("\t")]
    return BLANKS.split(line.strip(" "))


def shown(text: str) -> str:
    """`text` for a message: quoted, on one line and short."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def short_name(file: InputFile) -> str:
    """Name of `file` without its directories."""
    return file.name if file.path == "-" else Path(file.path).name
