"""Reading association matrices that users bring: JSON lines, .npz and .npy."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, offsets_of
from cepts.errors import DataError
from cepts.io.files import InputFile, PathLike, last_suffix
from cepts.io.matrix_records import MatrixRecord, matrix_records, not_a_value

CELLS_AT_A_TIME = 1 << 21
NUMPY_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")  # .npz, an empty one, .npy
UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
NPZ_NAMES = {"values", "source_lengths", "target_lengths", "source_null", "target_null"}
NPZ_LENGTHS = {"values", "source_lengths", "target_lengths"}
MATRIX_NAMES = {"matrix", "source_null", "target_null"}


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """Association matrices of a file, with the words of each sentence and the ids of the pairs, where it has them.

    `name` is the file, which is counted in `unit` (``line`` or ``matrix``); `first` is the place of the first matrix in
    it. `share` is how much of the file has been read, these matrices included; 0 where that is not known.
    """

    association: Association
    source: list[list[str]] | None
    target: list[list[str]] | None
    ids: list[str] | None
    name: str
    unit: str
    first: int = 0
    share: float = 1.0

    def __len__(self) -> int:
        return len(self.association)

    def where(self, pair: int) -> str:
        """The place of a matrix, for messages: ``matrices.jsonl, line 3``."""
        return f"{self.name}, {self.unit} {self.first + pair + 1:,}"

    def part(self, start: int, stop: int) -> Matrices:
        """The matrices of pairs `start` to `stop` (exclusive), still in their place of the file."""
        run = slice(start, stop)
        return replace(
            self,
            association=self.association.part(start, stop),
            source=None if self.source is None else self.source[run],
            target=None if self.target is None else self.target[run],
            ids=None if self.ids is None else self.ids[run],
            first=self.first + start,
        )

    def check_mass(self) -> None:
        """Refuse matrices that are 0 everywhere, null included: they cannot be factorised."""
        positive = np.zeros(len(self), dtype=np.int64)
        for _, values, offsets in self.association.masses():
            positive += np.diff(offsets_of((values > 0).astype(np.int64))[offsets])
        if not positive.all():
            raise DataError(
                f"{self.where(int(np.argmin(positive)))}: found a matrix of zeros only, wanted at least one value "
                f"above 0; leave the pair out, or let it pass with `allow_empty=True`."
            )

    def check_fit(self, source_lengths: NDArray[np.integer], target_lengths: NDArray[np.integer]) -> None:
        """Refuse matrices that are not of sentence pairs of these lengths."""
        if len(self) != len(source_lengths):
            raise DataError(
                f"{self.name} has {len(self):,} matrices but the bitext has {len(source_lengths):,} sentence pairs; "
                f"give one matrix for each pair, in the same order."
            )
        rows, columns = self.association.source_lengths, self.association.target_lengths
        wrong = (rows != source_lengths) | (columns != target_lengths)
        if wrong.any():
            pair = int(np.argmax(wrong))
            raise DataError(
                f"{self.where(pair)}: found a matrix of {rows[pair]} x {columns[pair]}, wanted "
                f"{source_lengths[pair]} x {target_lengths[pair]}, the words of sentence pair "
                f"{self.first + pair + 1:,} of the bitext; check that the matrices belong to these sentences, without "
                f"null among rows and columns."
            )


def read_association(path: PathLike, *, allow_empty: bool = False) -> Matrices:
    """Read all association matrices of a file.

    Parameters
    ----------
    path
        The file; `-` is standard input. Its first bytes say which of these it is:

        - JSON lines, plain or compressed, one sentence pair per line: ``{"matrix": [[...], ...]}``, one row per source
          word, with or without ``"source_null"`` and ``"target_null"`` (a mass for each word), ``"source"`` and
          ``"target"`` (the words) and ``"id"`` (text or a number). What one line has, all must have.
        - ``.npz`` with the arrays ``values`` (all matrices end to end, row by row), ``source_lengths`` and
          ``target_lengths`` (the rows and columns of each) and, if wanted, ``source_null`` and ``target_null`` (the
          masses of all words end to end); or with a single ``matrix`` of two dimensions and its nulls.
        - ``.npy``: a single matrix of two dimensions.
    allow_empty
        Accept matrices without rows or without columns, which are otherwise an error: aligners write them for pairs
        that are empty on one side.
    """
    parts = list(association_blocks(path, allow_empty=allow_empty))
    return parts[0] if len(parts) == 1 else _joined(parts)


def association_blocks(
    path: PathLike, *, allow_empty: bool = False, cells: int = CELLS_AT_A_TIME
) -> Iterator[Matrices]:
    """What `read_association` reads, in runs of some `cells` values: of JSON lines, only one run is in memory."""
    with InputFile(path) as file:
        head = file.read_fully(8)
        file.unread(head)
        if head.startswith(NUMPY_BEGINNINGS):
            yield _numpy(file, allow_empty)
            return
        suffix = last_suffix(file.path)
        if head and suffix in {".npz", ".npy"}:
            raise DataError(
                f"{file.name}: found no NumPy array, wanted {suffix} as its name says; rename or rewrite it."
            )
        records: list[MatrixRecord] = []
        count = first = 0
        for record in matrix_records(file, allow_empty):
            records.append(record)
            count += record.matrix.size
            if count >= cells:
                yield _of_records(records, file, first)
                first += len(records)
                records, count = [], 0
        if records:
            yield _of_records(records, file, first)
        elif not first:
            raise DataError(f"{file.name} is empty; wanted association matrices: JSON lines, .npz or .npy.")


def _of_records(records: Sequence[MatrixRecord], file: InputFile, first: int) -> Matrices:
    rows = np.array([record.matrix.shape[0] for record in records], dtype=np.int64)
    columns = np.array([record.matrix.shape[1] for record in records], dtype=np.int64)

    def given(field: str) -> list[Any] | None:
        # The reader has checked that all records have the keys of the first.
        return None if getattr(records[0], field) is None else [getattr(record, field) for record in records]

    source_null, target_null = given("source_null"), given("target_null")
    association = Association(
        rows,
        columns,
        offsets_of(rows * columns),
        np.concatenate([record.matrix.ravel() for record in records]),
        None if source_null is None else np.concatenate(source_null),
        None if target_null is None else np.concatenate(target_null),
    )
    share = file.disk_position() / file.size if file.size else 0.0
    return Matrices(association, given("source"), given("target"), given("id"), file.name, "line", first, share)


def _joined(parts: Sequence[Matrices]) -> Matrices:
    def lists(field: str) -> Any:
        found = [getattr(part, field) for part in parts]
        return None if found[0] is None else [item for items in found for item in items]

    association = Association.concatenate([part.association for part in parts])
    return Matrices(association, lists("source"), lists("target"), lists("ids"), parts[0].name, parts[0].unit)


# -- NumPy's formats -------------------------------------------------------------------------------------------------


def _numpy(file: InputFile, allow_empty: bool) -> Matrices:
    name = file.name
    try:
        loaded = np.load(io.BytesIO(file.readall() or b""), allow_pickle=False)
        items = loaded.items() if isinstance(loaded, Mapping) else [("matrix", loaded)]
        arrays = {key: np.asarray(array) for key, array in items}
    except UNREADABLE as error:
        reason = (str(error).splitlines() or ["damaged"])[0].rstrip(".")
        raise DataError(f"{name}: not a readable .npz or .npy file of numbers ({reason}); write it again.") from error
    single = "matrix" in arrays
    _check_names(name, set(arrays), MATRIX_NAMES if single else NPZ_NAMES, {"matrix"} if single else NPZ_LENGTHS)
    if single:
        matrix = _numbers(name, "matrix", arrays["matrix"], 2)
        rows, columns = (np.array([count], dtype=np.int64) for count in matrix.shape)
    else:
        rows, columns = (_lengths(name, side, arrays[side]) for side in ("source_lengths", "target_lengths"))
        matrix = _numbers(name, "values", arrays["values"], 1)
        if len(rows) != len(columns):
            raise DataError(
                f"{name}: found {len(rows):,} source_lengths and {len(columns):,} target_lengths, wanted the same "
                f"number of both: the rows and columns of each matrix."
            )
        if int((rows * columns).sum()) != len(matrix):
            raise DataError(
                f"{name}: found {len(matrix):,} values, wanted {int((rows * columns).sum()):,}, the sum of "
                f"source_lengths x target_lengths; write all matrices end to end, row by row."
            )
    offsets = offsets_of(rows * columns)
    nulls: list[NDArray[np.float32] | None] = []
    for side, lengths in (("source_null", rows), ("target_null", columns)):
        null = _numbers(name, side, arrays[side], 1) if side in arrays else None
        if null is not None and len(null) != lengths.sum():
            raise DataError(
                f"{name}: found {len(null):,} values in {side}, wanted {lengths.sum():,}, one for each "
                f"{side.removesuffix('_null')} word."
            )
        nulls.append(null if null is None else _checked(name, side, null, offsets_of(lengths), single))
    values = _checked(name, "matrix", matrix.ravel(), offsets, single)
    association = Association(rows, columns, offsets, values, *nulls)
    matrices = Matrices(association, None, None, None, name, "matrix")
    if not len(rows):
        raise DataError(f"{name} holds no matrices; wanted at least one.")
    empty = (rows == 0) | (columns == 0)
    if empty.any() and not allow_empty:
        pair = int(np.argmax(empty))
        raise DataError(
            f"{matrices.where(pair)}: found a matrix of {rows[pair]} x {columns[pair]}, wanted at least one row and "
            f"one column; leave the pair out, or let it pass with `allow_empty=True`."
        )
    return matrices


def _check_names(name: str, found: set[str], known: set[str], needed: set[str]) -> None:
    if not needed <= found or not found <= known:
        raise DataError(
            f"{name}: found the arrays {', '.join(sorted(found)) or '(none)'}, wanted values, source_lengths and "
            f"target_lengths, or a single matrix; source_null and target_null may be added, and nothing else."
        )


def _numbers(name: str, array: str, values: NDArray, dimensions: int) -> NDArray:
    if values.ndim != dimensions or values.dtype.kind not in "iuf":
        raise DataError(
            f"{name}: found {array} of {values.ndim} dimensions and type {values.dtype}, wanted numbers in "
            f"{dimensions} {'dimensions' if dimensions > 1 else 'dimension'}."
        )
    return values


def _lengths(name: str, side: str, lengths: NDArray) -> NDArray[np.int64]:
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths.size and int(lengths.min()) < 0):
        raise DataError(f"{name}: found {side} of type {lengths.dtype}, wanted a list of whole numbers from 0.")
    if lengths.size and int(lengths.max()) >= 2**31:
        raise DataError(f"{name}: found a length of {int(lengths.max())} in {side}, wanted less than 2,147,483,648.")
    return lengths.astype(np.int64)


def _checked(name: str, array: str, values: NDArray, offsets: NDArray[np.int64], single: bool) -> NDArray[np.float32]:
    """The values as float32; each must be one."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.ascontiguousarray(values, dtype=np.float32)
    wrong = ~((found >= 0) & (found < np.inf))
    if wrong.any():
        place = int(np.argmax(wrong))
        pair = int(np.searchsorted(offsets, place, side="right")) - 1
        where = name if single else f"{name}, matrix {pair + 1:,}"
        raise not_a_value(where, array, float(values[place]))
    return found
