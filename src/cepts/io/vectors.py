"""Reading and writing word vectors: which format a file is in, and NumPy arrays with a list of words."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import VectorReading, Vectors, Vocabulary
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.arrays import read_array
from cepts.io.fasttext import FASTTEXT_MAGIC, read_fasttext_vectors
from cepts.io.files import BLOCK_BYTES, BOM, COMPRESSED, InputFile, PathLike, last_suffix, name_of, open_output
from cepts.io.lines import lines_of
from cepts.io.vector_rows import Request, WordTally, not_finite, shown_word
from cepts.io.word2vec import header_of, numbers_at_end, read_binary_vectors, read_text_vectors
from cepts.names import VECTOR_FORMATS, WRITABLE_VECTOR_FORMATS
from cepts.progress import Progress, Step

HEAD_BYTES = 1 << 16
ROWS_AT_A_TIME = 1 << 14
NUMPY_MAGIC = b"\x93NUMPY"
TEXT_CONTROLS = frozenset(b"\t\n\v\f\r")


def read_vectors(
    path: PathLike,
    *,
    name: str | None = None,
    format: str | None = None,
    max_vocabulary: int | None = None,
    lowercase: bool = False,
    words: PathLike | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Vectors:
    """Read words and their vectors.

    Parameters
    ----------
    path
        A file, plain or compressed (.gz .bz2 .xz .zst), or a directory that contains one ``.npy`` file and its word
        list; `-` is standard input.
    name
        What messages and tables call the vectors; by default the name of the file.
    format
        ``word2vec`` (text with a header, such as fastText's ``.vec``), ``glove`` (text without a header),
        ``word2vec-binary``, ``fasttext`` (a model, not quantised) or ``npy`` (an array with a word list; float16 and
        float32 stay mapped from the file, float64 becomes float32). By default it is detected from the first bytes.
    max_vocabulary
        Keep at most this many words, the first of the file; in most formats no more are read.
    lowercase
        Put words in lower case. Of words that become the same, the one written in lower case is kept, or otherwise the
        first.
    words
        The word list of an ``.npy`` file, one word per line in the order of the rows. By default it is looked for next
        to ``NAME.npy``: ``NAME.vocab.txt``, ``NAME.vocab``, ``NAME.txt``, ``vocab.txt``, ``words.txt``.
    notices
        A list to which notes for the user are appended, for example about repeated words.
    progress
        Called after each block with a `Step` that counts bytes on disk, or words.
    block_bytes
        How many bytes to read at a time; affects only the speed.
    """
    if format is not None:
        check_choice("format", format, VECTOR_FORMATS)
    if max_vocabulary is not None and max_vocabulary < 1:
        raise UsageError(f"`max_vocabulary` must be at least 1. Got {max_vocabulary} instead.")
    most = sys.maxsize if max_vocabulary is None else max_vocabulary
    request = Request(most, lowercase, [] if notices is None else notices)
    given = path
    if path != "-" and Path(path).is_dir():
        path = _array_in(Path(path))
    matrix: NDArray[np.floating]
    with InputFile(path, progress=progress, block_bytes=block_bytes) as file:
        if not file.peek(1):
            raise DataError(f"{file.name} is empty; wanted words and their vectors.")
        found = format or _guess_format(file)
        if words is not None and found != "npy":
            raise UsageError(f"`words` must come with an .npy array. Got {file.name} in the format {found} instead.")
        if found == "npy":
            vocabulary, matrix = _read_array(file, words, request)
        elif found == "fasttext":
            vocabulary, matrix = read_fasttext_vectors(file, request)
        elif found == "word2vec-binary":
            vocabulary, matrix = read_binary_vectors(file, request)
        else:
            vocabulary, matrix = read_text_vectors(file, found == "word2vec", request)
        default = file.name if file.path == "-" else Path(os.path.abspath(given)).name  # noqa: PTH100
    reading = VectorReading(lowercase=lowercase, max_vocabulary=max_vocabulary)
    return Vectors(vocabulary, matrix, default if name is None else name, reading)


def _guess_format(file: InputFile) -> str:
    head = file.peek(HEAD_BYTES)
    if head.startswith(NUMPY_MAGIC):
        return "npy"
    if head.startswith(FASTTEXT_MAGIC):
        return "fasttext"
    suffix = last_suffix(file.path)
    first, _, rest = head.removeprefix(BOM).lstrip(b" \t\r\n").partition(b"\n")
    header = header_of(first)
    if header is None:
        if suffix == ".npy" or (b"\0" in head and not numbers_at_end(first)):
            raise DataError(
                f"{file.name}, byte 1: found no known format of vectors, wanted one of {', '.join(VECTOR_FORMATS)}; "
                f"check the file, or name its format."
            )
        return "glove"
    second, newline, _ = rest.lstrip(b" \t\r\n").partition(b"\n")
    if not newline and len(head) == HEAD_BYTES:
        second = second.rpartition(b" ")[0]  # the last number may be incomplete
    if numbers_at_end(second) >= (header[1] if newline else min(header[1], second.count(b" "))):
        return "word2vec"
    if suffix == ".bin" or any(byte < 32 and byte not in TEXT_CONTROLS for byte in second):
        return "word2vec-binary"
    return "word2vec"


# -- NumPy arrays ------------------------------------------------------------------------------------------------------


def word_lists(array: PathLike) -> Iterator[Path]:
    """Where the words of an ``.npy`` are looked for: files with its own name, then ``vocab.txt`` and ``words.txt``."""
    path = Path(array)
    stem = path.name
    for suffix in (*COMPRESSED, ".npy"):
        if Path(stem).suffix.lower() == suffix:
            stem = stem[: -len(suffix)]
    for name in (f"{stem}.vocab.txt", f"{stem}.vocab", f"{stem}.txt", "vocab.txt", "words.txt"):
        for suffix in ("", *COMPRESSED):
            yield path.with_name(name + suffix)


def _array_in(directory: Path) -> Path:
    """The one ``.npy`` of a directory."""
    arrays = sorted(path for path in directory.iterdir() if last_suffix(path) == ".npy")
    if len(arrays) != 1:
        names = ", ".join(path.name for path in arrays[:4])
        raise DataError(
            f"{directory} is a directory with {len(arrays) or 'no'} .npy file{'s' * (len(arrays) != 1)}"
            f"{f' ({names})' if names else ''}, wanted one and its word list; name the vector file itself."
        )
    return arrays[0]


def _read_array(file: InputFile, words: PathLike | None, request: Request) -> tuple[Vocabulary, NDArray[np.floating]]:
    matrix = read_array(file)
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or matrix.dtype.itemsize > 8 or not matrix.size:
        raise DataError(
            f"{file.name}: found an array of shape {matrix.shape} and type {matrix.dtype}, wanted rows of float16, "
            f"float32 or float64, one for each word."
        )
    if words is None:
        words = _find_words(file)
    listed = _read_words(words)
    if len(listed) != len(matrix):
        raise DataError(
            f"{file.name} has {len(matrix):,} rows but {os.fspath(words)} has {len(listed):,} words; wanted one line "
            f"for each row, in the same order."
        )
    tally = WordTally(os.fspath(words), "line", request)
    rows, better = tally.add(listed, range(1, len(listed) + 1))
    for number, row in better:
        rows[number] = row
    matrix = matrix[: len(rows)] if np.array_equal(rows, np.arange(len(rows))) else matrix[rows]
    if matrix.dtype not in (np.float16, np.float32) or not matrix.flags.c_contiguous or not matrix.dtype.isnative:
        with np.errstate(over="ignore"):
            matrix = np.ascontiguousarray(matrix, dtype=np.float16 if matrix.dtype.itemsize == 2 else np.float32)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = matrix[start : start + ROWS_AT_A_TIME]
        finite = np.isfinite(part)
        if not finite.all():
            row, column = divmod(int(np.argmin(finite)), part.shape[1])
            place = int(rows[start + row])
            raise not_finite(f"{file.name}, row {place + 1:,}", listed[place], part[row, column])
        file.progress(Step(stage="reading", done=start + len(part), total=len(rows)))
    return tally.finish(matrix), matrix


def _find_words(file: InputFile) -> Path:
    looked = [] if file.path == "-" else list(word_lists(file.path))
    for path in looked:
        if path.is_file():
            return path
    names = ", ".join(path.name for path in looked[:: len(COMPRESSED) + 1])
    raise DataError(
        f"{file.name}: found no word list{f' next to it ({names})' if names else ''}, wanted one word per line in the "
        f"order of the rows; name the file that has them."
    )


def _read_words(path: PathLike) -> list[bytes]:
    with InputFile(path) as file:
        words = [line.removesuffix(b"\r") for line in lines_of(file)]
    if b"" in words:
        raise DataError(
            f"{file.name}, line {words.index(b'') + 1:,}: found an empty line, wanted a word; there must be one for "
            f"each row."
        )
    return words


WRITTEN_BY_SUFFIX = {".bin": "word2vec-binary", ".npy": "npy"}
BLOCK_NUMBERS = 1 << 18
# What would end a word, or its line, when the file is read again.
SEPARATORS = {"npy": re.compile(rb"[\r\n]")}
SEPARATORS_OF_FIELDS = re.compile(rb"[ \t\r\n]")


def write_vectors(path: PathLike, vectors: Vectors, *, format: str | None = None) -> None:
    """Write words and their vectors so that `read_vectors` gives back the same, to the last bit.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    vectors
        Vectors of finite numbers, at least one. Text and word2vec's binary format hold float32; ``.npy`` keeps the
        type.
    format
        ``word2vec`` (text with a header), ``glove`` (text without a header), ``word2vec-binary`` or ``npy`` (an array,
        with the words in ``NAME.vocab.txt`` next to ``NAME.npy``). The default depends on the suffix: ``.bin`` means
        ``word2vec-binary``, ``.npy`` means ``npy``, and anything else ``word2vec``.

    Raises
    ------
    DataError
        If a word could not be read back from this format, or the file cannot be written.
    """
    if format is None:
        format = WRITTEN_BY_SUFFIX.get(last_suffix(path), "word2vec")
    check_choice("format", format, WRITABLE_VECTOR_FORMATS)
    if not vectors.matrix.size:
        raise UsageError(f"`vectors` must have at least one word and one dimension. Got {vectors!r} instead.")
    _check_words(path, vectors, format)
    if format == "npy":
        _write_array(path, vectors)
        return
    encoded = _binary if format == "word2vec-binary" else _text
    with open_output(path) as file:
        if format != "glove":
            file.write(b"%d %d\n" % (len(vectors), vectors.width))
        for block in _blocks(vectors):
            file.write(encoded(block))


def _check_words(path: PathLike, vectors: Vectors, format: str) -> None:
    buffer = vectors.vocabulary.buffer.tobytes()
    offsets = vectors.vocabulary.offsets
    lengths = np.diff(offsets)
    name = name_of(path, "standard output")
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
            f"{name}: word {row + 1:,}, {shown}, could not be read back from the format {format}, where blanks, line "
            f"ends or a byte-order mark have a meaning; leave it out{'' if format == 'npy' else ', or write npy'}."
        )


class _Block(NamedTuple):
    """A run of rows: the bytes of its words, where each starts, and the numbers."""

    words: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    rows: NDArray[np.float32]

    def each_word(self) -> list[bytes]:
        data = self.words.tobytes()
        return [data[start:end] for start, end in pairwise(self.offsets.tolist())]


def _blocks(vectors: Vectors) -> Iterator[_Block]:
    buffer, offsets = vectors.vocabulary.buffer, vectors.vocabulary.offsets
    step = max(1, BLOCK_NUMBERS // vectors.width)
    for start in range(0, len(vectors), step):
        with np.errstate(over="ignore"):
            # A copy, so that the kernel is compiled for one kind of array.
            rows = np.array(vectors.matrix[start : start + step], dtype=np.float32, order="C")
        if not np.isfinite(rows).all():
            raise UsageError("`vectors` must be finite as float32 numbers.")
        bounds = offsets[start : start + step + 1]
        yield _Block(buffer[bounds[0] : bounds[-1]], bounds - bounds[0], rows)


def _text(block: _Block) -> bytes:
    from cepts.kernels.numbers import NUMBER_ROOM, write_rows

    out = np.empty(len(block.words) + len(block.rows) + block.rows.size * NUMBER_ROOM, dtype=np.uint8)
    return out[: write_rows(block.words.copy(), block.offsets, block.rows, out)].tobytes()


def _binary(block: _Block) -> bytes:
    numbers = block.rows.astype("<f4", copy=False)
    return b"".join(
        b"%b %b\n" % (word, vector.tobytes()) for word, vector in zip(block.each_word(), numbers, strict=True)
    )


def _write_array(path: PathLike, vectors: Vectors) -> None:
    if path == "-":
        raise UsageError(
            "npy is two files, one of numbers and one of words, which cannot both go to standard output; name a file."
        )
    if last_suffix(path) != ".npy":
        raise UsageError(
            f"the name of an array must end in .npy, so that it can be read again. Got {os.fspath(path)} instead."
        )
    listed = next(iter(word_lists(path)))
    kind = np.float16 if vectors.matrix.dtype == np.float16 else np.float32
    with open_output(path) as file, open_output(listed) as words:
        described = np.lib.format.dtype_to_descr(np.dtype(kind))
        header = {"descr": described, "fortran_order": False, "shape": vectors.matrix.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in _blocks(vectors):
            file.write(block.rows.astype(kind).tobytes())
            words.write(b"".join(word + b"\n" for word in block.each_word()))
