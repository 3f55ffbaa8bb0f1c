"""The word vectors of a fastText model: the vector of a word is the mean of its own row and the rows of its n-grams."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, offsets_of
from cepts.errors import DataError
from cepts.io.files import BLOCK_BYTES, InputFile
from cepts.io.vector_rows import Request, RowCollector, WordTally
from cepts.progress import Step

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
SUPERVISED = 3
END_OF_SENTENCE = b"</s>"  # fastText does not cut it into n-grams
WORDS_AT_A_TIME = 1 << 10
NGRAMS_AT_A_TIME = 1 << 18
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Model:
    width: int
    shortest: int
    longest: int
    buckets: int
    words: list[bytes]
    offset: int  # of the matrix in the file


def read_fasttext_vectors(file: InputFile, request: Request) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Read the vectors of the words of a fastText model (.bin), as fastText itself prints them.

    The matrix of an uncompressed model is mapped from the file, so that only the rows in use are read.
    """
    from cepts.kernels.vector_bytes import mean_of_rows, subwords

    parts = _Parts(file)
    model = _model(parts)
    matrix = _matrix(parts, model)
    tally = WordTally(file.name, "word", request)
    collector = RowCollector(tally, model.width, len(model.words))
    for start, stop in _runs(file.name, model):
        if tally.full:
            break
        words = model.words[start:stop]
        marked = [b"" if word == END_OF_SENTENCE else b"<%b>" % word for word in words]
        offsets = offsets_of(list(map(len, marked)))
        joined = np.frombuffer(bytearray(b"".join(marked)), dtype=np.uint8)
        lengths = np.diff(offsets)
        longest = min(model.longest, int(lengths.max()))
        rows = np.empty(len(words) + int((lengths * np.minimum(lengths, longest)).sum()), dtype=np.int64)
        row_offsets = np.zeros(len(words) + 1, dtype=np.int64)
        subwords(joined, offsets, model.shortest, longest, model.buckets, start, len(model.words), rows, row_offsets)
        means = collector.free()[: len(words)]
        count = len(means)
        # NumPy takes the rows, because it accepts a map that is read-only and whose numbers are not aligned.
        taken = np.asarray(matrix[rows[: row_offsets[count]]], dtype=np.float32)
        mean_of_rows(taken, row_offsets[: count + 1], means)
        collector.add(words[:count], list(range(start + 1, start + count + 1)))
        file.progress(Step(stage="reading", done=start + len(words), total=len(model.words)))
    return collector.finish()


def _runs(name: str, model: _Model) -> Iterator[tuple[int, int]]:
    """Bounds of runs of words with at most `NGRAMS_AT_A_TIME` n-grams; a single word with more is an error."""
    start = ngrams = 0
    for place, word in enumerate(model.words):
        length = len(word) + 2
        own = length * min(model.longest, length)
        if own > NGRAMS_AT_A_TIME:
            raise DataError(
                f"{name}, word {place + 1:,}: found a word of {len(word):,} bytes and n-grams of up to "
                f"{model.longest:,} characters, wanted at most {NGRAMS_AT_A_TIME:,} n-grams per word; the file is "
                f"damaged."
            )
        if place - start == WORDS_AT_A_TIME or ngrams + own > NGRAMS_AT_A_TIME:
            yield start, place
            start, ngrams = place, 0
        ngrams += own
    yield start, len(model.words)


class _Parts:
    """Takes numbers and strings from the start of a file; `offset` is the number of bytes taken."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.offset = 0

    def numbers(self, format: str, what: str) -> tuple[int, ...]:
        """The next numbers, of the struct `format`."""
        size = struct.calcsize("<" + format)
        data = self.file.read_fully(size)
        if len(data) < size:
            raise self.ends(what)
        self.offset += size
        return struct.unpack("<" + format, data)

    def entries(self, count: int) -> Iterator[tuple[bytes, int]]:
        """The next `count` entries of a dictionary: a word up to a zero byte, its count (skipped), and its type."""
        data, start = b"", 0
        for entry in range(count):
            while not 0 <= (end := data.find(b"\0", start)) < len(data) - 9:
                more = self.file.read_fully(READ_BYTES)
                if not more:
                    raise self.ends(f"entry {entry + 1:,} of its dictionary")
                data, start = data[start:] + more, 0
            yield data[start:end], data[end + 9]
            self.offset += end + 10 - start
            start = end + 10
        self.file.unread(data[start:])

    def rest(self, count: int, what: str) -> NDArray[np.float32]:
        """The next `count` float32 numbers."""
        data = bytearray()
        # Room is made for what is read, not for what is announced: a damaged file may announce far too much.
        while len(data) < 4 * count and (more := self.file.read_fully(min(4 * count - len(data), BLOCK_BYTES))):
            data += more
        if len(data) < 4 * count:
            raise self.ends(what)
        return np.frombuffer(data, dtype="<f4")

    def ends(self, what: str) -> DataError:
        """The error that the file is cut short."""
        return DataError(
            f"{self.file.name}: found the end of the file in {what}, wanted a whole fastText model; copy or download "
            f"it again."
        )


def _model(parts: _Parts) -> _Model:
    """Everything before the matrix; see `saveModel` of fastText."""
    name = parts.file.name
    magic, version = parts.numbers("2i", "its first bytes")
    if struct.pack("<i", magic) != FASTTEXT_MAGIC:
        raise DataError(f"{name}, byte 1: found no mark of fastText, wanted a fastText model; check the file.")
    if version not in VERSIONS:
        raise DataError(
            f"{name}: found a fastText model of version {version}, wanted 11 or 12; save its vectors as text."
        )
    settings = parts.numbers("12i", "its settings")
    width, kind, buckets, shortest, longest = (settings[at] for at in (0, 7, 8, 9, 10))
    parts.numbers("d", "its settings")
    if version == 11 and kind == SUPERVISED:
        longest = 0  # supervised models of version 11 had no n-grams
    longest = max(longest, 0)
    entries, count, _, _, pruned = parts.numbers("3i2q", "its dictionary")
    if width <= 0 or not 0 < count <= entries or (longest and buckets <= 0):
        raise DataError(
            f"{name}: found {count:,} words of width {width:,} and {buckets:,} buckets, wanted at least one of each; "
            f"the file is damaged."
        )
    words = [word for word, label in parts.entries(entries) if not label]
    if len(words) != count:
        raise DataError(f"{name}: found {len(words):,} words in the dictionary, wanted {count:,}; the file is damaged.")
    if pruned >= 0 or parts.numbers("b", "its matrix")[0]:
        raise DataError(
            f"{name}: found a quantised fastText model (.ftz), wanted one with whole vectors; use the .bin from which "
            f"it was made."
        )
    rows, columns = parts.numbers("2q", "its matrix")
    if columns != width or rows != count + (buckets if longest else rows - count) or rows < count:
        raise DataError(
            f"{name}: found a matrix of {rows:,} x {columns:,}, wanted {count + buckets:,} x {width:,}, the words and "
            f"buckets; the file is damaged."
        )
    return _Model(width, shortest, longest, rows - count, words, parts.offset)


def _matrix(parts: _Parts, model: _Model) -> NDArray[np.float32]:
    rows = len(model.words) + model.buckets
    what = f"its matrix of {rows:,} rows"
    if not parts.file.plain or not parts.file.size:
        return parts.rest(rows * model.width, what).reshape(rows, model.width)
    if model.offset + 4 * rows * model.width > parts.file.size:
        raise parts.ends(what)
    return np.memmap(parts.file.path, dtype="<f4", mode="r", offset=model.offset, shape=(rows, model.width))
