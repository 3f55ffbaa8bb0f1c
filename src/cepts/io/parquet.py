"""Reading Parquet tables of sentence pairs, a batch of rows at a time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import CeptsError, DataError, UsageError, listed, reason_of
from cepts.io.columns import TRANSLATION, choose_columns
from cepts.io.files import COMPRESSED, InputFile

BATCH_ROWS = 1 << 14


def parquet_sides(
    file: InputFile,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None = None,
    *,
    replace: bool,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Yield both sides of the rows in blocks with a newline after each sentence; null is an empty sentence.

    `choose_columns` chooses the columns of the two sides.
    """
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UsageError("reading Parquet needs pyarrow; install it with: pip install pyarrow") from error

    # A table is read from its end, so a stream that cannot seek has to be in memory.
    in_place = file.size and not file.path.lower().endswith(tuple(COMPRESSED))
    try:
        table = pq.ParquetFile(file.path if in_place else io.BytesIO(file.readall() or b""))
        names, take = _choose_columns(table.schema_arrow, file.name, columns, languages, notices)
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=names):
            source, target = take(batch)
            yield _joined(source, replace), _joined(target, replace)
    except CeptsError:
        raise
    except Exception as error:  # from Arrow, or from Python if names or texts of a damaged file are not UTF-8
        raise DataError(f"{file.name}: not a readable Parquet file ({reason_of(error)}); write it again.") from error


def _choose_columns(
    schema: Any,
    name: str,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None,
) -> tuple[list[str], Callable[[Any], tuple[Any, Any]]]:
    """Names of the columns to read, and the function that takes both sides from a batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = f"{name} has the columns {listed(f'{field.name} ({field.type})' for field in schema)}"
    texts = [field.name for field in schema if _is_text(field.type)]
    fields = None
    if TRANSLATION in schema.names and pa.types.is_struct(schema.field(TRANSLATION).type):
        struct = schema.field(TRANSLATION).type
        fields = [struct.field(k).name for k in range(struct.num_fields) if _is_text(struct.field(k).type)]
    source, target, nested = choose_columns(name, found, texts, fields, columns, languages, notices)
    if nested:
        return [TRANSLATION], lambda batch: (
            pc.struct_field(batch.column(TRANSLATION), source),
            pc.struct_field(batch.column(TRANSLATION), target),
        )
    # A column may serve both sides.
    return list(dict.fromkeys((source, target))), lambda batch: (batch.column(source), batch.column(target))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    view = getattr(pa.types, "is_string_view", lambda kind: False)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or view(kind))


def _joined(column: Any, replace: bool) -> NDArray[np.uint8]:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    # As bytes: Arrow does not promise that its strings are UTF-8, and the tokeniser checks anyway.
    rows = column.cast(pa.binary()).to_pylist()
    sentences = [b"" if row is None else row.replace(b"\n", b" ") for row in rows]
    if replace:
        sentences = [sentence.decode("utf-8", "replace").encode() for sentence in sentences]
    return np.frombuffer(bytearray(b"\n".join(sentences) + b"\n"), dtype=np.uint8)
