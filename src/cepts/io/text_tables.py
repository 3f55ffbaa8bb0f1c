"""Reading sentence pairs from JSON lines and from CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.io.columns import NAMED, TRANSLATION, SideColumns, choose_columns, is_language
from cepts.io.files import InputFile
from cepts.io.lines import check_characters, json_objects, located_lines, shown, shown_json

AN_OBJECT = 'an object such as {"translation": {"en": "a house", "fr": "une maison"}} or {"en": ..., "fr": ...}'
DELIMITERS = (",", ";", "\t")
# Names of columns: a few words, without punctuation that ends a sentence.
NAME = re.compile(r"\w[\w()/#-]*([ .][\w()/#-]+){0,3}")

Sides = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def table_sides(
    file: InputFile,
    format: str,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None = None,
    *,
    errors: str,
) -> Iterator[Sides]:
    """Yield both sides of the rows of a ``jsonl`` or ``csv`` file in blocks with a newline after each sentence.

    `choose_columns` chooses the two columns. In JSON lines, these are keys of the first object; if a later object lacks
    one, or has null there, the sentence is empty. In CSV, the first row names them. Cells are separated by commas,
    semicolons or tabs, whichever occur most often in the first line; a cell in double quotes may contain the separator
    and newlines.
    """
    rows = _json_rows if format == "jsonl" else _csv_rows
    return _blocks(file, rows(file, columns, languages, notices, errors))


def is_csv_header(line: bytes) -> bool:
    """Whether the first line of a file looks like a CSV header: it names source and target, or languages."""
    text = line.decode("utf-8", "replace")
    names = [cell.strip().strip('"') for cell in text.split(_delimiter(text))]
    return any(set(pair) <= set(names) for pair in NAMED) or sum(map(is_language, names)) >= 2


def _blocks(file: InputFile, rows: Iterable[tuple[str, str]]) -> Iterator[Sides]:
    sides: tuple[list[str], list[str]] = ([], [])
    characters = 0
    for row in rows:
        for sentences, text in zip(sides, row, strict=True):
            sentences.append(text.replace("\n", " "))
            characters += len(text)
        if characters >= file.block_bytes:
            yield sentence_block(sides[0]), sentence_block(sides[1])
            characters = 0
    if sides[0]:
        yield sentence_block(sides[0]), sentence_block(sides[1])


def sentence_block(sentences: list[str]) -> NDArray[np.uint8]:
    """The bytes of sentences, with a newline after each; empties the list."""
    data = bytearray("\n".join(sentences) + "\n", "utf-8")
    sentences.clear()
    return np.frombuffer(data, dtype=np.uint8)


def _json_rows(
    file: InputFile,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None,
    errors: str,
) -> Iterator[tuple[str, str]]:
    chosen: SideColumns | None = None
    for _, where, record in json_objects(file, AN_OBJECT, errors=errors):
        if chosen is None:
            found = f"{where} has the keys {', '.join(record) or 'none'}"
            nested = record.get(TRANSLATION)
            fields = _text_keys(nested) if isinstance(nested, dict) else None
            chosen = choose_columns(file.name, found, _text_keys(record), fields, columns, languages, notices)
        texts = record.get(TRANSLATION) if chosen.nested else record
        if texts is None:
            texts = {}
        if not isinstance(texts, dict):
            raise DataError(f"{where}: found {shown_json(texts)} as `{TRANSLATION}`, wanted texts by language.")
        yield _json_text(where, texts, chosen.source), _json_text(where, texts, chosen.target)


def _text_keys(record: dict[str, Any]) -> list[str]:
    return [key for key, value in record.items() if isinstance(value, str | None)]


def _json_text(where: str, texts: dict[str, Any], key: str) -> str:
    text = texts.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise DataError(f"{where}: found {shown_json(text)} as `{key}`, wanted a text.")
    check_characters(where, text)
    return text


def _csv_rows(
    file: InputFile,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None,
    errors: str,
) -> Iterator[tuple[str, str]]:
    first = file.first_line().decode("utf-8", "replace")
    rows = csv.reader(
        (f"{line}\n" for _, _, line in located_lines(file, errors)), delimiter=_delimiter(first), strict=True
    )
    places: tuple[int, int] | None = None
    width = 0
    while True:
        where = f"{file.name}, line {rows.line_num + 1:,}"
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DataError(
                f"{where}: found a row that is not CSV ({error}); write quotes inside a quoted cell twice, and close "
                f"each quoted cell."
            ) from error
        if row is None:
            return
        if places is None:
            names = [name.strip() for name in row]
            if columns is None:
                _check_names(where, names)
            chosen = choose_columns(
                file.name, f"{where} has the columns {', '.join(names)}", names, None, columns, languages, notices
            )
            places, width = (names.index(chosen.source), names.index(chosen.target)), len(names)
            continue
        if len(row) != width:
            raise DataError(
                f"{where}: found {len(row)} cell{'s' * (len(row) != 1)}, wanted {width} as in the first row; put a "
                f"cell that holds the separator or a newline in double quotes."
            )
        yield row[places[0]], row[places[1]]


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def _check_names(where: str, names: Sequence[str]) -> None:
    """Refuse a first row that looks like sentences: read as column names, it would silently be lost."""
    wrong = next((name for name in names if not NAME.fullmatch(name)), None)
    if wrong is not None or len(set(names)) < len(names):
        found = shown(wrong) if wrong is not None else "the same name twice"
        raise DataError(
            f"{where}: found {found} in the first row, wanted column names; put a line such as source,target "
            f"before the rows, or name two of the columns."
        )
