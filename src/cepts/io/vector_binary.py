"""Word vectors in word2vec's binary format: a header, then each word, a blank and the bytes of its float32 numbers."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary
from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.vector_rows import Request, RowCollector, WordTally, shown_word
from cepts.io.vector_text import header_of

LONGEST_HEADER = 64
LONGEST_WORD = 1 << 16
WIDEST = 1 << 20


def read_binary_vectors(file: InputFile, request: Request) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Read word2vec's binary format; no more of it than the words that are wanted."""
    from cepts.kernels.vector_bytes import BLOCK_DONE, EMPTY_WORD, LONG_WORD, binary_rows

    announced, width = _header(file)
    row_bytes = 4 * width
    fits = file.plain and announced * (row_bytes + 2) <= file.size
    collector = RowCollector(WordTally(file.name, "word", request), width, announced if fits else None)
    buffer = bytearray(max(file.block_bytes, LONGEST_WORD + row_bytes + 2))
    data = np.frombuffer(buffer, dtype=np.uint8)
    filled = rows = 0
    status = BLOCK_DONE
    while rows < announced and not collector.tally.full:
        if status == BLOCK_DONE:
            got = _fill(file, buffer, filled)
            if not got:
                raise _cut_short(file.name, rows, announced, buffer[:filled])
            filled += got
            file.report()
        matrix = collector.free()[: min(announced - rows, filled // row_bytes + 1)]
        starts, ends = np.empty(len(matrix), dtype=np.int64), np.empty(len(matrix), dtype=np.int64)
        state = np.zeros(2, dtype=np.int64)
        status = binary_rows(data[:filled], state, matrix.view(np.uint8), starts, ends, LONGEST_WORD)
        position, found = state.tolist()
        if sys.byteorder == "big":
            matrix[:found] = matrix[:found].byteswap()
        spans = zip(starts[:found].tolist(), ends[:found].tolist(), strict=True)
        collector.add([bytes(buffer[start:end]) for start, end in spans], list(range(rows + 1, rows + found + 1)))
        rows += found
        if status == EMPTY_WORD and rows < announced:
            raise DataError(
                f"{file.name}, word {rows + 1:,}: found no word before a blank, wanted one; the width in the header, "
                f"{width:,}, may be wrong."
            )
        if status == LONG_WORD and rows < announced:
            raise DataError(
                f"{file.name}, word {rows + 1:,}: found a word of more than {LONGEST_WORD:,} bytes, wanted a blank "
                f"after a word; the file is damaged, or not word2vec's binary format."
            )
        rest = filled - position
        buffer[:rest] = buffer[position:filled]
        filled = rest
    if not collector.tally.full:
        rest_bytes = bytes(buffer[:filled]).strip(b"\n") or (file.read_fully(16)).strip(b"\n")
        if rest_bytes:
            raise DataError(
                f"{file.name}, word {announced + 1:,}: found more bytes after the {announced:,} words that the header "
                f"says, wanted the end; fix the header."
            )
    return collector.finish()


def _fill(file: InputFile, buffer: bytearray, filled: int) -> int:
    """Fill the rest of `buffer`; returns the bytes read, fewer only at the end of the file."""
    got = 0
    while filled + got < len(buffer) and (count := file.readinto(memoryview(buffer)[filled + got :])):
        got += count
    return got


def _header(file: InputFile) -> tuple[int, int]:
    head = file.read_fully(LONGEST_HEADER)
    line, newline, rest = head.partition(b"\n")
    found = header_of(line) if newline else None
    if found is None:
        raise DataError(
            f"{file.name}, byte 1: found {shown_word(line)}, wanted a header line: the numbers of words and of "
            f"dimensions; check that this is word2vec's binary format."
        )
    file.unread(rest)
    rows, width = found
    if not rows or not 0 < width <= WIDEST:
        raise DataError(
            f"{file.name}, byte 1: found a header of {rows:,} words of width {width:,}, wanted at least 1 word and a "
            f"width from 1 to {WIDEST:,}; check the file."
        )
    return rows, width


def _cut_short(name: str, rows: int, announced: int, rest: bytes | bytearray) -> DataError:
    what = f"in the middle of word {rows + 1:,}" if rest.strip(b"\n") else f"after {rows:,} words"
    return DataError(
        f"{name}, word {rows + 1:,}: found the end of the file {what}, wanted {announced:,} words as the header says; "
        f"copy or download it again."
    )
