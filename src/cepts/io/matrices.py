"""Reading and writing association matrices: JSON lines, .npz and .npy."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, offsets_of
from cepts.errors import DataError, listed
from cepts.io.arrays import read_archive
from cepts.io.files import InputFile, PathLike, check_count, last_suffix
from cepts.io.matrix_records import MatrixRecord, empty_error, matrix_records, not_a_value
from cepts.io.writer import Writer, check_pairs

CELLS_AT_A_TIME = 1 << 21
NUMPY_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")  # .npz, an empty one, .npy


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """Association matrices from a file, with the words and ids of the sentence pairs if the file has them.

    Attributes
    ----------
    association
        The matrices.
    source, target
        The words of each sentence, or None.
    ids
        The id of each pair, or None.
    name, unit
        The name of the file, and the unit in which it is counted for messages (``line`` or ``matrix``).
    first
        The place of the first of these matrices in the file, from 0.
    share
        How much of the file has been read so far, including these matrices, from 0 to 1; 0 if that is not known.
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
        """The matrices of pairs `start` to `stop` (exclusive); they remember their place in the file."""
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
        """Raise `DataError` for a matrix that is 0 everywhere, including null: it cannot be factorised."""
        positive = np.zeros(len(self), dtype=np.int64)
        for _, values, offsets in self.association.masses():
            positive += np.diff(offsets_of((values > 0).astype(np.int64))[offsets])
        if not positive.all():
            raise DataError(
                f"{self.where(int(np.argmin(positive)))}: found a matrix of zeros only, wanted at least one value "
                f"above 0; leave the pair out, or accept it with `allow_empty=True`."
            )

    def check_fit(self, source_lengths: NDArray[np.integer], target_lengths: NDArray[np.integer]) -> None:
        """Raise `DataError` unless the matrices fit sentence pairs of these lengths."""
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
                f"{self.first + pair + 1:,} of the bitext; check that the matrices belong to these sentences, and that "
                f"null is not among their rows and columns."
            )


def read_association(path: PathLike, *, allow_empty: bool = False) -> Matrices:
    """Read all association matrices of a file.

    Parameters
    ----------
    path
        The file; `-` is standard input. Its format is recognised by its first bytes:

        - JSON lines, plain or compressed, one sentence pair per line: ``{"matrix": [[...], ...]}``, one row per source
          word. Optional keys are ``"source_null"`` and ``"target_null"`` (the weight of null for each word),
          ``"source"`` and ``"target"`` (the words) and ``"id"`` (text or a number). All lines must have the same keys.
        - ``.npz`` with the arrays ``values`` (all matrices end to end, row by row), ``source_lengths`` and
          ``target_lengths`` (the rows and columns of each matrix) and optionally ``source_null`` and ``target_null``
          (the weights of null for all words end to end); or with a single two-dimensional ``matrix`` and optionally its
          nulls.
        - ``.npy``: a single two-dimensional matrix.
    allow_empty
        Accept matrices without rows or without columns, which are otherwise an error. Aligners write them for pairs
        that are empty on one side.
    """
    (whole,) = association_blocks(path, allow_empty=allow_empty, cells=sys.maxsize)
    return whole


def association_blocks(
    path: PathLike, *, allow_empty: bool = False, cells: int = CELLS_AT_A_TIME
) -> Iterator[Matrices]:
    """Read the matrices of `read_association` in runs of about `cells` values.

    Of JSON lines, only one run is in memory at a time; NumPy files are read at once.
    """
    with InputFile(path) as file:
        head = file.peek(8)
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


# -- NumPy's formats -------------------------------------------------------------------------------------------------


def _numpy(file: InputFile, allow_empty: bool) -> Matrices:
    name = file.name
    arrays = read_archive(file)
    single = "matrix" in arrays
    needed = {"matrix"} if single else {"values", "source_lengths", "target_lengths"}
    if not needed <= set(arrays) <= {*needed, "source_null", "target_null"}:
        raise DataError(
            f"{name}: found the arrays {listed(sorted(arrays)) or '(none)'}, wanted values, source_lengths and "
            f"target_lengths, or a single matrix, and at most source_null and target_null besides."
        )
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
        # First with floats: the sum of damaged lengths may not fit into 64 bits.
        cells = rows.astype(np.float64) @ columns
        if cells > 2 * len(matrix) or int((rows * columns).sum()) != len(matrix):
            raise DataError(
                f"{name}: found {len(matrix):,} values, wanted {cells:,.0f}, the sum of "
                f"source_lengths x target_lengths; write all matrices end to end, row by row."
            )
        # A matrix that is empty on one side has no values that confirm the number of words on the other.
        for side, lengths, others in (("source_lengths", rows, columns), ("target_lengths", columns, rows)):
            check_count(file, float(lengths[others == 0].sum(dtype=np.float64)), f"words in {side}")
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
        raise empty_error(matrices.where(pair), rows[pair], columns[pair])
    return matrices


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
    """The values as float32; each must be finite and at least 0."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.ascontiguousarray(values, dtype=np.float32)
    wrong = ~((found >= 0) & (found < np.inf))
    if wrong.any():
        place = int(np.argmax(wrong))
        pair = int(np.searchsorted(offsets, place, side="right")) - 1
        where = name if single else f"{name}, matrix {pair + 1:,}"
        raise not_a_value(where, array, float(values[place]))
    return found


class AssociationWriter(Writer):
    """Writes the association matrices of successive sentence pairs to one file, which `read_association` reads.

    Each value is written with as many digits as its float32 needs, so reading gives back the same values to the last
    bit.

    Parameters
    ----------
    path
        If the name ends in ``.npz``, a NumPy archive is written, which is built in memory; otherwise JSON lines,
        compressed if the suffix says so. `-` is standard output.
    """

    def __init__(self, path: PathLike) -> None:
        super().__init__(path)
        self.archive = last_suffix(path) == ".npz"
        self._parts: list[Association] = []

    def _finish(self) -> None:
        if self.archive:
            self._put([_archived(self._parts)])

    def write(self, association: Association, bitext_part: Bitext | None = None) -> None:
        """Write the next matrices; JSON lines also show the sentences if `bitext_part` is given."""
        _check_values(association, bitext_part)
        self._put([] if self.archive else _json_lines(association, bitext_part))
        if self.archive:
            first = self._parts[0] if self._parts else association
            if [name for name, _, _ in first.masses()] != [name for name, _, _ in association.masses()]:
                raise ValueError("all matrices of a file must have null weights for the same sides.")
            self._parts.append(association)


def write_association(path: PathLike, association: Association, *, bitext: Bitext | None = None) -> None:
    """Write association matrices to `path`, as `AssociationWriter` does; JSON lines also show the sentences."""
    with AssociationWriter(path) as writer:
        writer.write(association, bitext)


def _check_values(association: Association, bitext: Bitext | None) -> None:
    for _, values, _ in association.masses():
        if not np.all((values >= 0) & (values < np.inf)):
            raise ValueError("the values of an association must be finite numbers of 0 or more.")
    check_pairs(len(association), bitext)
    if bitext is None:
        return
    full = np.diff(association.offsets) > 0
    for lengths, text in (
        (association.source_lengths, bitext.source),
        (association.target_lengths, bitext.target),
    ):
        if np.any((lengths != text.lengths)[full]):
            raise ValueError("a matrix must have as many rows and columns as its sentences have words.")


def _json_lines(association: Association, bitext: Bitext | None) -> Iterator[bytes]:
    sides = association.masses()[1:]
    for pair in range(len(association)):
        matrix = association[pair]
        fields = []
        if bitext is not None:
            # A pair that was skipped (too long, or empty on one side) has no words here either.
            words = bitext[pair] if matrix.size else ([], [])
            fields += [
                f'"{side}": {json.dumps(tokens, ensure_ascii=False)}'
                for side, tokens in zip(("source", "target"), words, strict=True)
            ]
        fields.append(f'"matrix": [{", ".join(map(_json_numbers, matrix))}]')
        fields += [f'"{name}": {_json_numbers(null[at[pair] : at[pair + 1]])}' for name, null, at in sides]
        yield ("{" + ", ".join(fields) + "}\n").encode("utf-8", "surrogateescape")


def _json_numbers(values: NDArray[np.float32]) -> str:
    """A JSON list; NumPy writes the fewest digits that give the same float32 again."""
    return f"[{', '.join(values.astype(np.float32).astype(np.str_).tolist())}]"


def _archived(parts: list[Association]) -> bytes:
    whole = Association.concatenate(parts)
    arrays = {
        "values": whole.values,
        "source_lengths": whole.source_lengths,
        "target_lengths": whole.target_lengths,
        **{name: null for name, null, _ in whole.masses()[1:]},
    }
    buffer = io.BytesIO()
    # NumPy gives all members one date, so the bytes depend on the arrays alone.
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
