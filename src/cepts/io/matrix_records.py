"""Association matrices as JSON lines, read and checked one record at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, listed
from cepts.io.files import InputFile
from cepts.io.lines import check_characters, json_objects, plain_json, shown

OPTIONAL = ("source_null", "target_null", "source", "target", "id")
AN_OBJECT = 'an object such as {"matrix": [[1]]}'
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, eq=False)
class MatrixRecord:
    """One sentence pair of a file."""

    matrix: NDArray[np.float32]
    source_null: NDArray[np.float32] | None
    target_null: NDArray[np.float32] | None
    source: list[str] | None
    target: list[str] | None
    id: str | None


def matrix_records(file: InputFile, allow_empty: bool) -> Iterator[MatrixRecord]:
    """The records of `file`; all must have the keys of the first."""
    keys: set[str] | None = None
    lines_of_ids: dict[str, int] = {}
    for line, where, found in json_objects(file, AN_OBJECT):
        if "matrix" not in found:
            raise DataError(f"{where}: found the keys {listed(map(repr, found))}, wanted {AN_OBJECT}.")
        for key in found:
            if key not in ("matrix", *OPTIONAL):
                raise DataError(
                    f"{where}: found the key {shown(key)}, wanted matrix and optionally {', '.join(OPTIONAL)}; "
                    f"correct or remove it."
                )
        keys = set(found) if keys is None else keys
        for key in OPTIONAL:
            if (key in found) != (key in keys):
                here, there = ("", "no ") if key in found else ("no ", "")
                raise DataError(
                    f"{where}: found {here}{key}, but line 1 has {there}{key}; give it for all matrices or for none."
                )
        record = _record(where, found, allow_empty)
        if record.id is not None:
            before = lines_of_ids.setdefault(record.id, line)
            if before != line:
                raise DataError(
                    f"{where}: found the id {shown(record.id)}, which line {before:,} already has; give each pair "
                    f"its own."
                )
        yield record


def _record(where: str, found: dict[str, Any], allow_empty: bool) -> MatrixRecord:
    matrix = _matrix(where, found["matrix"], allow_empty)
    if not len(matrix):  # without rows, only the target words show how many columns there are
        columns = next((len(found[key]) for key in ("target", "target_null") if isinstance(found.get(key), list)), 0)
        matrix = matrix.reshape(0, columns)
    sides: dict[str, Any] = {}
    for side, length, line in zip(("source", "target"), matrix.shape, ("row", "column"), strict=True):
        for key, what in ((f"{side}_null", "values"), (side, "words")):
            values: Any = None
            if key in found:
                values = _list(where, key, found[key])
                values = _words(where, key, values) if key == side else _floats(where, key, values)
                if len(values) != length:
                    raise DataError(
                        f"{where}: found {len(values)} {what} in {key}, wanted {length}, one for each {side} word "
                        f"({line} of the matrix)."
                    )
            sides[key] = values
    name = found.get("id")
    if "id" in found and type(name) not in {str, int}:
        raise DataError(f"{where}: found the id {plain_json(name)}, wanted text or a whole number.")
    return MatrixRecord(matrix, **sides, id=None if name is None else str(name))


def _words(where: str, side: str, words: list[Any]) -> list[str]:
    if not all(isinstance(word, str) for word in words):
        raise DataError(f"{where}: found {side} with something other than text, wanted a list of words.")
    for word in words:
        check_characters(where, word)
    return words


def _matrix(where: str, rows: Any, allow_empty: bool) -> NDArray[np.float32]:
    rows = _list(where, "matrix", rows)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list):
            raise DataError(
                f"{where}: found {plain_json(row)} as row {number} of the matrix, wanted a list of numbers: one row "
                f"for each source word."
            )
        if len(row) != len(rows[0]):
            raise DataError(
                f"{where}: found {len(row)} values in row {number} of the matrix but {len(rows[0])} in row 1; wanted "
                f"the same number in each row, one for each target word."
            )
    if not rows or not rows[0]:
        if not allow_empty:
            raise empty_error(where, len(rows), 0)
        return np.empty((len(rows), 0), dtype=np.float32)
    return _floats(where, "matrix", [value for row in rows for value in row]).reshape(len(rows), len(rows[0]))


def _floats(where: str, name: str, values: list[Any]) -> NDArray[np.float32]:
    if not set(map(type, values)) <= {int, float}:
        wrong = next(value for value in values if type(value) not in {int, float})
        raise DataError(f"{where}: found {plain_json(wrong)} in {name}, wanted numbers of 0 or more.")
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        huge = next(value for value in values if isinstance(value, int) and value.bit_length() > 1023)
        raise not_a_value(where, name, huge) from None
    # Numbers a little above the largest float32 still round to it.
    with np.errstate(over="ignore", under="ignore"):
        found = numbers.astype(np.float32)
    wrong = ~((found >= 0) & (found < np.inf))
    if wrong.any():
        raise not_a_value(where, name, values[int(np.argmax(wrong))])
    return found


def empty_error(where: str, rows: int, columns: int) -> DataError:
    """The error for a matrix without rows or without columns."""
    return DataError(
        f"{where}: found a matrix of {rows} x {columns}, wanted at least one row and one column; leave the pair out, "
        f"or accept it with `allow_empty=True`."
    )


def not_a_value(where: str, name: str, value: float) -> DataError:
    """The error for a value of a matrix or of null that is negative, too large or not finite."""
    found = f"{where}: found {plain_json(value)} in {name}, wanted"
    if value < 0:
        return DataError(f"{found} numbers of 0 or more; shift or clip the values.")
    if value > LARGEST:
        return DataError(f"{found} numbers up to {LARGEST:.2g}; scale the matrix down.")
    return DataError(f"{found} numbers of 0 or more; give 0 where nothing is known.")


def _list(where: str, name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{where}: found {plain_json(value)} as {name}, wanted a list.")
    return value
