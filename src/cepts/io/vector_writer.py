"""Writing word vectors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BOM, PathLike, last_suffix, open_output, output_name
from cepts.io.vector_rows import shown_word
from cepts.io.vectors import word_lists
from cepts.names import WRITABLE_VECTOR_FORMATS

BY_SUFFIX = {".bin": "word2vec-binary", ".npy": "npy"}
BLOCK_NUMBERS = 1 << 18
# What would end a word, or its line, when the file is read again.
SEPARATORS = {"npy": re.compile(rb"[\r\n]")}
SEPARATORS_OF_FIELDS = re.compile(rb"[ \t\r\n]")


def write_vectors(path: PathLike, vectors: Vectors, *, format: str | None = None) -> None:
    """Write words and their vectors so that `read_vectors` gives back the same, to the last bit.

    Parameters
    ----------
    path
        Compressed by its suffix, in place only when it is whole; `-` is standard output.
    vectors
        Finite, at least one. Text and word2vec's binary format hold float32; ``.npy`` keeps the type.
    format
        ``word2vec`` (text with a header), ``glove`` (text without), ``word2vec-binary`` or ``npy`` (an array, with the
        words in ``NAME.vocab.txt`` beside ``NAME.npy``). By default ``.bin`` is word2vec's binary format, ``.npy`` an
        array, and all else ``word2vec``.

    Raises `DataError` where a word could not be read back in this format, or the file cannot be written.
    """
    if format is None:
        format = BY_SUFFIX.get(last_suffix(path), "word2vec")
    check_choice("format", format, WRITABLE_VECTOR_FORMATS)
    if not vectors.matrix.size:
        raise UsageError(f"`vectors` must have at least a word and a dimension. Got {vectors!r} instead.")
    _check_words(path, vectors, format)
    if format == "npy":
        _write_array(path, vectors)
        return
    with open_output(path) as file:
        if format != "glove":
            file.write(b"%d %d\n" % (len(vectors), vectors.width))
        for words, offsets, rows in _blocks(vectors):
            if format == "word2vec-binary":
                _write_binary(file, words, offsets, rows)
            else:
                _write_text(file, words, offsets, rows)


def _check_words(path: PathLike, vectors: Vectors, format: str) -> None:
    buffer = vectors.vocabulary.buffer.tobytes()
    offsets = vectors.vocabulary.offsets
    lengths = np.diff(offsets)
    name = output_name(path)
    if not lengths.all():
        raise DataError(
            f"{name}: word {int(np.argmin(lengths)) + 1:,} is empty, which no format can hold; leave it out."
        )
    found = SEPARATORS.get(format, SEPARATORS_OF_FIELDS).search(buffer, int(offsets[0]), int(offsets[-1]))
    row = -1 if found is None else int(np.searchsorted(offsets, found.start(), side="right")) - 1
    if row < 0 and format in ("glove", "npy") and buffer.startswith(BOM, int(offsets[0])):
        row = 0
    if row >= 0:
        shown = shown_word(buffer[offsets[row] : offsets[row + 1]])
        raise DataError(
            f"{name}: word {row + 1:,}, {shown}, could not be read back from the format {format}, in which blanks, "
            f"line ends or a byte order mark mean something; leave it out{'' if format == 'npy' else ', or write npy'}."
        )


def _blocks(vectors: Vectors) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float32]]]:
    """Runs of rows: the bytes of their words, where each starts, and their numbers as float32."""
    buffer, offsets = vectors.vocabulary.buffer, vectors.vocabulary.offsets
    step = max(1, BLOCK_NUMBERS // vectors.width)
    for start in range(0, len(vectors), step):
        rows = _finite(vectors.matrix[start : start + step])
        bounds = offsets[start : start + step + 1]
        yield buffer[bounds[0] : bounds[-1]], bounds - bounds[0], rows


def _finite(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        # A copy, so that the kernel is compiled for one kind of array.
        found = np.array(rows, dtype=np.float32, order="C")
    if not np.isfinite(found).all():
        raise UsageError("`vectors` must be finite numbers of float32.")
    return found


def _write_text(
    file: BinaryIO, words: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.float32]
) -> None:
    from cepts.kernels.numbers import NUMBER_ROOM, write_rows

    out = np.empty(len(words) + len(rows) + rows.size * NUMBER_ROOM, dtype=np.uint8)
    length = write_rows(words.copy(), offsets, rows, out)
    file.write(out[:length].tobytes())


def _write_binary(
    file: BinaryIO, words: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.float32]
) -> None:
    data, bounds = words.tobytes(), offsets.tolist()
    numbers = rows.astype("<f4", copy=False)
    pieces: list[bytes] = []
    for row, vector in enumerate(numbers):
        pieces += (data[bounds[row] : bounds[row + 1]], b" ", vector.tobytes(), b"\n")
    file.write(b"".join(pieces))


def _write_array(path: PathLike, vectors: Vectors) -> None:
    if path == "-":
        raise UsageError(
            "npy is two files, of numbers and of words, which cannot both go to standard output; name a file."
        )
    if last_suffix(path) != ".npy":
        raise UsageError(
            f"the name of an array must end in .npy, or it is not found again. Got {os.fspath(path)} instead."
        )
    listed = next(iter(word_lists(path)))
    kind = np.float16 if vectors.matrix.dtype == np.float16 else np.float32
    with open_output(path) as file, open_output(listed) as words:
        np.lib.format.write_array_header_1_0(
            file,
            {
                "descr": np.lib.format.dtype_to_descr(np.dtype(kind)),
                "fortran_order": False,
                "shape": vectors.matrix.shape,
            },
        )
        for buffer, offsets, rows in _blocks(vectors):
            file.write(rows.astype(kind).tobytes())
            data, bounds = buffer.tobytes(), offsets.tolist()
            words.write(b"".join(data[bounds[row] : bounds[row + 1]] + b"\n" for row in range(len(rows))))
