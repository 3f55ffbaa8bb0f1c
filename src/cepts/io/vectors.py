"""Reading word vectors: which format a file is in, and NumPy arrays with a list of words."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.data import VectorReading, Vectors, Vocabulary
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.fasttext import FASTTEXT_MAGIC, read_fasttext_vectors
from cepts.io.files import BLOCK_BYTES, BOM, COMPRESSED, InputFile, PathLike, last_suffix
from cepts.io.lines import lines_of
from cepts.io.vector_binary import read_binary_vectors
from cepts.io.vector_rows import Request, WordTally, not_finite
from cepts.io.vector_text import header_of, numbers_at_end, read_text_vectors
from cepts.names import VECTOR_FORMATS
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
        A file, plain or compressed (.gz .bz2 .xz .zst), or a directory that holds one ``.npy`` and its words; `-` is
        standard input.
    name
        What messages and tables will call the vectors; the name of the file by default.
    format
        ``word2vec`` (text with a header, fastText's ``.vec``), ``glove`` (text without), ``word2vec-binary``,
        ``fasttext`` (a model, not quantised), ``npy`` (an array with a list of words; float16 and float32 stay mapped
        from the file, float64 becomes float32). By default it is detected from the first bytes.
    max_vocabulary
        Keep at most this many words, the first of the file; in most formats no more are read.
    lowercase
        Put words in lower case. Of words that become the same, the one written in lower case is kept, else the first.
    words
        The list of words of an ``.npy``, one a line; see `word_lists` for where it is looked for otherwise.
    notices
        Gets a line for each thing that is no error but that a user should know, such as repeated words.
    """
    if format is not None:
        check_choice("format", format, VECTOR_FORMATS)
    if max_vocabulary is not None and max_vocabulary < 1:
        raise UsageError(f"`max_vocabulary` must be at least 1. Got {max_vocabulary} instead.")
    request = Request(max_vocabulary, lowercase, notices)
    given = path
    if path != "-" and Path(path).is_dir():
        path = _array_in(Path(path))
    matrix: NDArray[np.floating]
    with InputFile(path, progress=progress, block_bytes=block_bytes) as file:
        if file.at_end():
            raise DataError(f"{file.name} is empty; wanted words and their vectors.")
        found = format or _guess_format(file)
        if words is not None and found != "npy":
            raise UsageError(f"`words` goes with an .npy array. Got it with {file.name}, {found}, instead.")
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
    head = file.read_fully(HEAD_BYTES)
    file.unread(head)
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
                f"{file.name}, byte 1: found the start of no format of vectors, wanted {', '.join(VECTOR_FORMATS)}; "
                f"check the file, or name its format."
            )
        return "glove"
    second, newline, _ = rest.lstrip(b" \t\r\n").partition(b"\n")
    if not newline and len(head) == HEAD_BYTES:
        second = second.rpartition(b" ")[0]  # the last number may be cut in two
    if numbers_at_end(second) >= (header[1] if newline else min(header[1], second.count(b" "))):
        return "word2vec"
    if suffix == ".bin" or any(byte < 32 and byte not in TEXT_CONTROLS for byte in second):
        return "word2vec-binary"
    return "word2vec"


# -- NumPy arrays ------------------------------------------------------------------------------------------------------


def word_lists(array: PathLike) -> Iterator[Path]:
    """Where the words of an ``.npy`` are looked for: files of its own name, then ``vocab.txt`` and ``words.txt``."""
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
            f"{f' ({names})' if names else ''}, wanted one and its list of words; name the file of vectors itself."
        )
    return arrays[0]


def _read_array(file: InputFile, words: PathLike | None, request: Request) -> tuple[Vocabulary, NDArray[np.floating]]:
    matrix = _load(file)
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
            f"{file.name} has {len(matrix):,} rows but {os.fspath(words)} has {len(listed):,} words; wanted a line for "
            f"each row, in the same order."
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


def _load(file: InputFile) -> NDArray:
    try:
        if file.plain and file.size:
            mapped: NDArray = np.load(file.path, mmap_mode="r", allow_pickle=False)
            return np.asarray(mapped)
        return np.asarray(np.load(io.BytesIO(file.readall() or b""), allow_pickle=False))
    except (ValueError, OSError, EOFError, MemoryError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0].rstrip(".")
        raise DataError(f"{file.name}: not a readable .npy file of numbers ({reason}); write it again.") from error


def _find_words(file: InputFile) -> Path:
    looked = [] if file.path == "-" else list(word_lists(file.path))
    for path in looked:
        if path.is_file():
            return path
    names = ", ".join(path.name for path in looked[:: len(COMPRESSED) + 1])
    raise DataError(
        f"{file.name}: found no list of its words{f' beside it ({names})' if names else ''}, wanted one word per line "
        f"in the order of the rows; name the file that has them."
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
