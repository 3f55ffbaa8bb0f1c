"""JSON lines: one object on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import lines_of, shown, utf8_text

__all__ = ["json_line", "json_objects"]


def json_objects(
    file: InputFile, wanted: str, *, errors: str = "strict", skip_blank: bool = False
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The object on each line of `file`, with the line's number and its place for messages.

    Parameters
    ----------
    file
        The file.
    wanted
        What a line should hold, for messages: ``an object such as {"links": []}``.
    errors
        ``strict`` refuses bytes that are not UTF-8; any other value is one of Python's ways to decode them.
    skip_blank
        Pass over blank lines, which are otherwise an error.

    Raises
    ------
    DataError
        For a line that holds anything but an object.
    """
    for number, line in enumerate(lines_of(file), start=1):
        where = f"{file.name}, line {number:,}"
        text = utf8_text(where, line) if errors == "strict" else line.decode("utf-8", errors)
        if skip_blank and not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{where}: found no JSON ({reason}), wanted {wanted}.") from error
        if not isinstance(record, dict):
            raise DataError(f"{where}: found {shown(text)}, wanted {wanted}.")
        yield number, where, record


def json_line(record: Mapping[str, object]) -> bytes:
    """`record` as a line; bytes that were not UTF-8 when they were read are written as they were."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
