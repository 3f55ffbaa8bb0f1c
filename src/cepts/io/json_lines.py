"""JSON lines: one object on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cepts.data import words_of
from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import located_lines, shown


def json_objects(
    file: InputFile, wanted: str, *, errors: str = "strict", skip_blank: bool = False
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The object on each line of `file`, with the line's number and its place for messages.

    `wanted` is what messages say that a line should hold. `errors` is as in `located_lines`. Blank lines are an error
    unless they are skipped.
    """
    for number, where, text in located_lines(file, errors):
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


def shown_json(value: object) -> str:
    """`value` for a message: as JSON, quoted, on one line and short."""
    return shown(json.dumps(value, ensure_ascii=False))


def words_in(found: Any) -> tuple[str, ...] | None:
    """The tokens of a text or of a list of texts; None where `found` is neither."""
    if isinstance(found, str):
        return tuple(words_of(found))
    return tuple(found) if isinstance(found, list) and all(type(word) is str for word in found) else None


def json_line(record: Mapping[str, object]) -> bytes:
    """`record` as a line; bytes that were not UTF-8 when they were read are written as they were."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
