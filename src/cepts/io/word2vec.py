"""Word vectors in the formats of word2vec and GloVe.

As text, a line has a word and its numbers; there may be a header. The binary format has a header, then each word, a
blank and the bytes of its float32 numbers.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary
from cepts.errors import DataError
from cepts.io.files import InputFile, read_blocks
from cepts.io.lines import line_at
from cepts.io.vector_rows import Request, RowCollector, WordTally, not_finite, shown_word

HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
BEYOND = 2**128 - 2**103  # from here on, the nearest float32 is infinity
SLOW_AT_A_TIME = 1 << 16


def header_of(line: bytes) -> tuple[int, int] | None:
    """Rows and width, if `line` is a header ``rows width``."""
    found = HEADER.fullmatch(line)
    return (int(found[1]), int(found[2])) if found else None


def fields_of(line: bytes) -> list[bytes]:
    """The fields of a line; only ASCII blanks and tabs separate them."""
    return [field for field in line.rstrip(b" \t\r").replace(b"\t", b" ").split(b" ") if field]


def numbers_at_end(line: bytes) -> int:
    """How many fields at the end of `line`, not counting the first field, are numbers."""
    count = 0
    for field in reversed(fields_of(line)[1:]):
        if not (NUMBER.fullmatch(field) or NOT_FINITE.fullmatch(field)):
            break
        count += 1
    return count


def nearest_float32(digits: bytes) -> np.float32:
    """The float32 nearest to a decimal, the even one if two are equally near; infinite if out of range.

    Rounding to double precision first may end on the wrong side of the middle between two float32.
    """
    double = float(digits)
    with np.errstate(over="ignore", under="ignore"):
        nearest = np.float32(double)
    if np.isinf(double) or double == float(nearest):
        return nearest
    exact = Decimal(digits.decode())
    if np.isinf(nearest):
        return nearest if abs(exact) >= BEYOND else np.copysign(np.finfo(np.float32).max, nearest)
    other = np.nextafter(nearest, np.float32(np.inf if double > float(nearest) else -np.inf))
    if exact == Decimal(double) or double - float(nearest) != float(other) - double:
        return nearest
    return max(nearest, other) if exact > Decimal(double) else min(nearest, other)


def read_text_vectors(file: InputFile, header: bool, request: Request) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Read ``word number ... number`` lines, after a first line ``rows width`` if there is a `header`.

    Only ASCII blanks and tabs separate fields. The last fields are the numbers, so a word may contain blanks.
    """
    file.skip_bom()
    reader: _TextReader | None = None
    announced: tuple[int, int] | None = None
    lines = 0
    for block in read_blocks(file):
        start = 0
        while reader is None and start < len(block):
            line = line_at(block, start)
            end = start + len(line) + 1
            if not line.strip(b" \t\r"):
                lines, start = lines + 1, end
            elif header and announced is None:
                announced = header_of(line)
                if announced is None or not announced[1]:
                    raise DataError(
                        f"{file.name}, line {lines + 1:,}: found {shown_word(line)}, wanted a header: the numbers of "
                        f"rows and of dimensions; if the file has none, read it as glove."
                    )
                lines, start = lines + 1, end
            else:
                reader = _TextReader(file, line, lines, announced, request)
        if reader is not None:
            reader.feed(block[start:])
            file.report()
            if reader.done:
                break
    if reader is None:
        found = "a header and no words" if announced else "nothing"
        raise DataError(f"{file.name}: found {found}, wanted a word and its numbers on each line; check the file.")
    return reader.finish()


class _TextReader:
    """Reads the rows of successive blocks; `line` is a copy of the first row, which determines the width."""

    def __init__(
        self, file: InputFile, line: bytes, lines: int, announced: tuple[int, int] | None, request: Request
    ) -> None:
        self.name = file.name
        self.lines = lines
        self.rows = 0  # those of repeated words included
        self.announced = announced
        self.done = False
        numbers = numbers_at_end(line)
        self.width = numbers if announced is None else announced[1]
        # Checked before memory is allocated for what a header may promise.
        if not numbers or numbers < self.width:
            self.width = self.width or 1
            raise self._wrong_width(line, lines + 1)
        rows = None
        if announced is not None:
            # A number and its separator take at least two bytes; in a compressed file they may take fewer.
            shortest = 2 * self.width + 1
            if file.size and file.plain and announced[0] <= file.size // shortest + 1:
                rows = max(1, announced[0])
        self._collector = RowCollector(WordTally(file.name, "line", request), self.width, rows)
        self._slow = np.empty((SLOW_AT_A_TIME + self.width, 4), dtype=np.int64)

    def feed(self, block: NDArray[np.uint8]) -> None:
        from cepts.kernels.numbers import BLOCK_DONE, ROOM_FULL, text_rows

        if not block.flags.writeable:
            block = block.copy()  # so that the kernel is compiled for one kind of array, not two
        position = 0
        while position < len(block) and not self.done:
            matrix = self._collector.free()[: len(block) // (2 * self.width) + 1]
            starts, ends, lines = (np.empty(len(matrix), dtype=np.int64) for _ in range(3))
            state = np.array([position, self.lines, 0, 0, 0, 0, 0, 0], dtype=np.int64)
            status = text_rows(block, state, matrix, starts, ends, lines, self._slow)
            position, self.lines, rows, slow = state[:4].tolist()
            self._read_slowly(block, matrix, lines, slow)
            words = [
                block[start:end].tobytes()
                for start, end in zip(starts[:rows].tolist(), ends[:rows].tolist(), strict=True)
            ]
            self._collector.add(words, lines[:rows].tolist())
            self.rows += rows
            self.done = self._collector.tally.full
            if self.announced is not None and not self.done and self.rows > self.announced[0]:
                line = int(lines[rows - (self.rows - self.announced[0])])
                raise DataError(
                    f"{self.name}, line {line:,}: found more words than the {self.announced[0]:,} in the header; fix "
                    f"the header."
                )
            if status not in (BLOCK_DONE, ROOM_FULL) and not self.done:
                raise self._wrong_line(block, state, status)

    def finish(self) -> tuple[Vocabulary, NDArray[np.float32]]:
        if self.announced is not None and not self.done and self.rows < self.announced[0]:
            raise DataError(
                f"{self.name}, line {self.lines:,}: found the end after {self.rows:,} words, wanted "
                f"{self.announced[0]:,} as the header says; the file is cut short, or its header is wrong."
            )
        return self._collector.finish()

    def _read_slowly(self, block: NDArray[np.uint8], matrix: NDArray[np.float32], lines: NDArray, count: int) -> None:
        for row, column, start, end in self._slow[:count].tolist():
            digits = block[start:end].tobytes()
            matrix[row, column] = nearest_float32(digits)
            if not np.isfinite(matrix[row, column]):
                raise DataError(
                    f"{self.name}, line {int(lines[row]):,}: found {shown_word(digits)}, wanted numbers up to 3.4e+38, "
                    f"the largest of float32; scale the vectors down."
                )

    def _wrong_line(self, block: NDArray[np.uint8], state: NDArray[np.int64], status: int) -> DataError:
        from cepts.kernels.numbers import BAD_NUMBER

        start, end, field, field_end = state[4:].tolist()
        line = block[start:end].tobytes()
        if status != BAD_NUMBER:
            return self._wrong_width(line, self.lines + 1)
        where = f"{self.name}, line {self.lines + 1:,}"
        found = block[field:field_end].tobytes()
        if NOT_FINITE.fullmatch(found):
            word = block[start:field].tobytes().split(b" ")[0]
            return not_finite(where, word, float(found))
        return DataError(
            f"{where}: found {shown_word(found)}, wanted a number: a line is a word and {self.width:,} numbers."
        )

    def _wrong_width(self, line: bytes, number: int) -> DataError:
        fields = fields_of(line)
        where = f"{self.name}, line {number:,}"
        why = "as the header says" if self.announced else "as in the lines before" if self.rows else "at least"
        if all(NUMBER.fullmatch(field) for field in fields) and len(fields) == self.width:
            return DataError(f"{where}: found {len(fields):,} numbers without a word before them, wanted both.")
        numbers = numbers_at_end(line)
        return DataError(
            f"{where}: found a word and {numbers:,} number{'s' * (numbers != 1)}, wanted {self.width:,} {why}; fix "
            f"the line or leave it out."
        )


LONGEST_HEADER = 64
LONGEST_WORD = 1 << 16
WIDEST = 1 << 20


def read_binary_vectors(file: InputFile, request: Request) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Read word2vec's binary format, only as far as words are wanted."""
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
            got = file.fill(memoryview(buffer)[filled:])
            if not got:
                inside = "in the middle of it" if buffer[:filled].strip(b"\n") else "before it"
                raise DataError(
                    f"{file.name}, word {rows + 1:,}: found the end of the file {inside}, wanted {announced:,} words, "
                    f"as the header says; copy or download it again."
                )
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
                f"{file.name}, word {announced + 1:,}: found more bytes after the {announced:,} words of the header, "
                f"wanted the end of the file; fix the header."
            )
    return collector.finish()


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
