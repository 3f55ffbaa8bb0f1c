"""Cutting lines of bytes into numbered tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text, Vocabulary, offsets_of
from cepts.errors import DataError
from cepts.io.files import InputFile, read_blocks

if TYPE_CHECKING:
    from cepts.kernels.text import Words

MOST_FIRST_SLOTS = 1 << 16
BYTES_PER_LINE = 32  # fewer than in most texts

Sentences = tuple[NDArray[np.int32], NDArray[np.int64]]  # word numbers, and how many of them each sentence has


class NotUTF8Error(Exception):
    """A block holds bytes that are not UTF-8; `utf8_error` finds where."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberedBlock:
    """Lines of text as numbers of the block's own words, in the order of first use; `TextWords` gives the final ones.

    Sentence `n` has `lengths[n]` of the `ids`. `keys` has one item for each of the `words`. `data` is the text, for
    messages.
    """

    data: NDArray[np.uint8]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    words: Words
    keys: NDArray[np.uint64]


def number_block(data: NDArray[np.uint8], *, slots: int | None = None) -> NumberedBlock:
    """Split lines into tokens at ASCII white space only, and number them. May run in any thread.

    `slots` is the initial size of the hash table, a power of two; the table doubles when it is half full.
    """
    from cepts.kernels.text import Words, number_tokens

    if not data.flags.writeable:
        data = data.copy()  # so that the kernel is compiled for one kind of array, not two
    if slots is None:
        slots = min(MOST_FIRST_SLOTS, 1 << len(data).bit_length())
    ids = np.empty(len(data) // 2 + 1, dtype=np.int32)
    ends = np.empty(len(data) // BYTES_PER_LINE + 2, dtype=np.int64)
    # Memory that is never touched costs nothing, so room for all of `data` is fine.
    words = Words(_new_table(slots), _new_offsets(slots), np.empty_like(data), np.empty(slots // 2, dtype=np.int64))
    keys = np.empty(slots // 2, dtype=np.uint64)
    state = np.zeros(4, dtype=np.int64)
    while not number_tokens(data, state, ids, ends, words, keys):
        _, _, lines, word_count = state.tolist()
        if lines == len(ends):
            ends = _enlarged(ends, 2 * len(ends))
        if word_count == len(keys):
            words = _with_slots(words, 2 * len(words.table))
            keys = _enlarged(keys, 2 * len(keys))
    _, tokens, lines, word_count = state.tolist()
    ends = ends[:lines]
    if len(data) and data[-1] != ord("\n"):
        ends = np.append(ends, tokens)
    return NumberedBlock(data, ids[:tokens], np.diff(ends, prepend=0), words, keys[:word_count])


class TextWords:
    """The words of a text that is read block by block, numbered in the order of first use."""

    def __init__(self) -> None:
        self._words: Words | None = None
        self._word_count = 0

    def add(self, block: NumberedBlock) -> NDArray[np.int32]:
        """Add the words of the text's next block, and return its tokens as numbers of words of the text.

        Raises `NotUTF8Error` if the new words, and so the block, are not valid UTF-8; nothing can be added after that.
        """
        if self._words is None:
            # The first block numbers its words as the text does, and most texts have only one.
            self._check_utf8(block.words, 0, len(block.keys))
            self._words, self._word_count = block.words, len(block.keys)
            return block.ids.copy()
        from cepts.kernels.text import merge_words

        words = self._words = self._with_room_for(self._words, block)
        numbers = np.empty(len(block.keys), dtype=np.int32)
        ids = np.empty(len(block.ids), dtype=np.int32)
        found = merge_words(block.words, block.keys, block.ids, words, self._word_count, numbers, ids)
        self._check_utf8(words, self._word_count, found)
        self._word_count = found
        return ids

    def vocabulary(self) -> Vocabulary:
        """The words so far."""
        if self._words is None:
            return Vocabulary(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        offsets = self._words.offsets[: self._word_count + 1].copy()
        return Vocabulary(self._words.data[: offsets[-1]].copy(), offsets)

    def counts(self) -> NDArray[np.int64]:
        """How often each word has occurred so far."""
        return np.empty(0, dtype=np.int64) if self._words is None else self._words.counts[: self._word_count].copy()

    def _with_room_for(self, words: Words, block: NumberedBlock) -> Words:
        """`words` with space for all words of `block`, as if they were new."""
        wanted = self._word_count + len(block.keys)
        slots = len(words.table)
        while slots < 2 * wanted:
            slots *= 2
        if slots > len(words.table):
            words = _with_slots(words, slots)
        wanted = int(words.offsets[self._word_count] + block.words.offsets[len(block.keys)])
        return words._replace(data=_with_room(words.data, wanted))

    def _check_utf8(self, words: Words, first: int, stop: int) -> None:
        """Raise unless the new words, and so the whole block, are valid UTF-8.

        A character never contains white space, so a text is valid if its words are. Concatenated words are all valid if
        the whole is valid and none of them starts inside a character.
        """
        starts = words.offsets[first:stop]
        if np.any(words.data[starts] & 0xC0 == 0x80):
            raise NotUTF8Error
        try:
            words.data[words.offsets[first] : words.offsets[stop]].tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise NotUTF8Error from None


class Collected:
    """Sentences of all blocks of a text, in one array that doubles when it is full.

    A list of blocks would need the memory of the text twice to be joined, and small arrays that are freed stay with the
    process.
    """

    def __init__(self) -> None:
        self._ids, self._lengths = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        self._words = 0
        self.lines = 0

    def add(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> None:
        """Add the sentences of a block."""
        words, lines = self._words + len(ids), self.lines + len(lengths)
        self._ids, self._lengths = _with_room(self._ids, words), _with_room(self._lengths, lines)
        self._ids[self._words : words] = ids
        self._lengths[self.lines : lines] = lengths
        self._words, self.lines = words, lines

    def text(self, vocabulary: Vocabulary) -> Text:
        """The text of all sentences; no more can be added."""
        self._ids.resize(self._words, refcheck=False)
        return Text(self._ids, offsets_of(self._lengths[: self.lines]), vocabulary)


class TextBuilder:
    """Makes a `Text` from blocks of lines, which it does not keep.

    Tokens are split at ASCII white space only; words are numbered in the order of first use. `slots` is the initial
    size of the hash table of each block.
    """

    def __init__(self, *, slots: int | None = None) -> None:
        self._sentences = Collected()
        self._words = TextWords()
        self._slots = slots

    @property
    def lines(self) -> int:
        """How many lines were fed so far."""
        return self._sentences.lines

    def feed(self, data: NDArray[np.uint8]) -> None:
        """Add the lines of `data`. Only the last block may end without a newline."""
        block = number_block(data, slots=self._slots)
        self._sentences.add(self._words.add(block), block.lengths)

    def feed_file(self, name: str, data: NDArray[np.uint8], *, start: int = 0) -> None:
        """Feed lines of the file `name`, whose first line was number `start` of all lines."""
        try:
            self.feed(data)
        except NotUTF8Error:
            raise utf8_error(name, data, self.lines - start) from None

    def finish(self) -> Text:
        """The text of all blocks; no more can be fed."""
        return self._sentences.text(self._words.vocabulary())


def _with_slots(words: Words, slots: int) -> Words:
    from cepts.kernels.text import refill_table

    table = _new_table(slots)
    refill_table(words.table, table)
    return words._replace(
        table=table, offsets=_enlarged(words.offsets, slots // 2 + 1), counts=_enlarged(words.counts, slots // 2)
    )


def _new_table(slots: int) -> NDArray[np.uint64]:
    return np.zeros((slots, 2), dtype=np.uint64)


def _new_offsets(slots: int) -> NDArray[np.int64]:
    offsets = np.empty(slots // 2 + 1, dtype=np.int64)
    offsets[0] = 0
    return offsets


def _with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    """`array`, or a copy of at least twice its size if it has fewer than `size` items."""
    return array if size <= len(array) else _enlarged(array, max(size, 2 * len(array)))


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    enlarged = np.empty(size, dtype=array.dtype)
    enlarged[: len(array)] = array
    return enlarged


def text_blocks(file: InputFile, errors: str, *, keep: bool = False) -> Iterator[NDArray[np.uint8]]:
    """Blocks of whole lines of `file`; if `errors` is ``replace``, they are made valid UTF-8.

    The next block overwrites a block, unless `keep` is true.
    """
    file.skip_bom()
    for block in read_blocks(file, keep=keep):
        yield replace_invalid(block) if errors == "replace" else block


def replace_invalid(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """`block` with U+FFFD in place of bytes that are not UTF-8."""
    text = block.tobytes().decode("utf-8", "replace")
    if "\ufffd" not in text:
        return block
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
