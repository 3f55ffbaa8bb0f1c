"""Cutting lines of bytes into numbered tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text, Vocabulary, offsets_of
from cepts.errors import DataError
from cepts.io.files import InputFile, read_blocks

FIRST_SLOTS = 1 << 16


class NotUTF8Error(Exception):
    """A block holds bytes that are not UTF-8; `utf8_error` finds where."""


class TextBuilder:
    """Makes a `Text` from blocks of lines, which it does not keep.

    Tokens are split at ASCII white space only; words are numbered in the order of first use. `slots` is the initial
    size of the hash table, a power of two; the table doubles when it is half full.
    """

    def __init__(self, *, slots: int = FIRST_SLOTS) -> None:
        self._ids: list[NDArray[np.int32]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self.lines = 0
        self._words = 0
        self._table = np.full(slots, -1, dtype=np.int32)
        self._hashes = np.empty(slots // 2, dtype=np.uint64)
        self._word_offsets = np.zeros(slots // 2 + 1, dtype=np.int64)
        self._word_bytes = np.empty(0, dtype=np.uint8)

    def feed(self, block: NDArray[np.uint8]) -> None:
        """Add the lines of `block`. Only the last block may end without a newline."""
        from cepts.kernels.text import number_tokens

        if not len(block):
            return
        if not block.flags.writeable:
            block = block.copy()  # so that the kernel is compiled for one kind of array, not two
        known_words, known_bytes = self._words, int(self._word_offsets[self._words])
        self._grow_bytes(known_bytes + len(block))
        ids = np.empty(len(block) // 2 + 1, dtype=np.int32)
        ends = np.empty(int(np.count_nonzero(block == ord("\n"))) + 1, dtype=np.int64)
        state = np.array([0, 0, 0, self._words], dtype=np.int64)
        while not number_tokens(
            block, state, ids, ends, self._table, self._hashes, self._word_offsets, self._word_bytes
        ):
            self._grow_table()
        _, tokens, lines, self._words = state.tolist()
        if block[-1] != ord("\n"):
            ends[lines] = tokens
            lines += 1
        self._check_utf8(known_words, known_bytes)
        self._ids.append(ids[:tokens].copy())
        self._lengths.append(np.diff(ends[:lines], prepend=0))
        self.lines += lines

    def feed_file(self, name: str, block: NDArray[np.uint8], *, start: int = 0, unit: str = "line") -> None:
        """Feed lines of the file `name`, whose first line was number `start` of all lines; messages count in `unit`."""
        try:
            self.feed(block)
        except NotUTF8Error:
            raise utf8_error(name, block, self.lines - start, unit=unit) from None

    def finish(self) -> Text:
        """The text of all blocks."""
        ids = np.concatenate([np.empty(0, np.int32), *self._ids])
        lengths = np.concatenate([np.empty(0, np.int64), *self._lengths])
        word_offsets = self._word_offsets[: self._words + 1].copy()
        word_bytes = self._word_bytes[: word_offsets[-1]].copy()
        return Text(ids, offsets_of(lengths), Vocabulary(word_bytes, word_offsets))

    def _grow_bytes(self, wanted: int) -> None:
        if wanted > len(self._word_bytes):
            used = self._word_offsets[self._words]
            # Memory that is never touched costs nothing, so generous room is fine.
            grown = np.empty(max(wanted, 2 * len(self._word_bytes)), dtype=np.uint8)
            grown[:used] = self._word_bytes[:used]
            self._word_bytes = grown

    def _grow_table(self) -> None:
        from cepts.kernels.text import refill_table

        slots = 2 * len(self._table)
        self._table = np.full(slots, -1, dtype=np.int32)
        refill_table(self._hashes, self._table)
        self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
        self._word_offsets = np.concatenate([self._word_offsets, np.zeros(slots // 4, dtype=np.int64)])

    def _check_utf8(self, known_words: int, known_bytes: int) -> None:
        """Raise unless the new words, and so the whole block, are valid UTF-8.

        A character never contains white space, so a text is valid if its words are. Concatenated words are all valid if
        the whole is valid and none of them starts inside a character.
        """
        starts = self._word_offsets[known_words : self._words]
        end = self._word_offsets[self._words]
        if np.any(self._word_bytes[starts] & 0xC0 == 0x80):
            raise NotUTF8Error
        try:
            self._word_bytes[known_bytes:end].tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise NotUTF8Error from None


def text_blocks(file: InputFile, errors: str) -> Iterator[NDArray[np.uint8]]:
    """Blocks of whole lines of `file`; if `errors` is ``replace``, they are made valid UTF-8."""
    file.skip_bom()
    for block in read_blocks(file):
        yield replace_invalid(block) if errors == "replace" else block


def replace_invalid(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """`block` with U+FFFD in place of bytes that are not UTF-8."""
    text = block.tobytes().decode("utf-8", "replace")
    return np.frombuffer(bytearray(text, "utf-8"), dtype=np.uint8)


def utf8_error(name: str, block: NDArray[np.uint8], lines_before: int, *, unit: str = "line") -> DataError:
    """The error that says where `block`, which follows `lines_before` lines of `name`, is not UTF-8."""
    data = block.tobytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        place = error.start - data.rfind(b"\n", 0, error.start)
        return DataError(
            f"{name}, {unit} {line:,}: byte {place:,} (0x{data[error.start]:02x}) is not valid UTF-8; "
            f"convert the file to UTF-8, or read it with `errors=replace`."
        )
    raise AssertionError("the block is valid UTF-8")
