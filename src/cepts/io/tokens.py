"""Cutting lines of bytes into numbered tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text, Vocabulary, WordBound, offsets_of, take_runs
from cepts.errors import DataError
from cepts.io.files import InputFile, read_blocks

if TYPE_CHECKING:
    from cepts.kernels.text import Words

MOST_FIRST_SLOTS = 1 << 16
BYTES_PER_LINE = 32  # fewer than in most texts
MOST_NUMBERS = (1 << 31) - 1  # of words, in int32

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
    """The words of a text that is read block by block, numbered in the order of first use.

    With a `bound`, no more words than it says are held. A sentence that would bring more makes the vocabulary shrink
    first; so it depends on the text alone, not on its blocks, which words are lost. Numbers that were given out stay,
    and `numbers` says what became of them.
    """

    def __init__(self, bound: WordBound | None = None) -> None:
        self.bound = bound
        self._words: Words | None = None
        self._word_count = 0
        # After the vocabulary has shrunk: the number that was given out for each word, how many were, and for each of
        # them that of the word to which it belongs now.
        self._given = np.empty(0, dtype=np.int32)
        self._given_out = 0
        self._heirs: list[NDArray[np.int32]] = []

    def add(self, block: NumberedBlock) -> NDArray[np.int32]:
        """Add the words of the text's next block, and return its tokens as numbers of words of the text.

        Raises `NotUTF8Error` if the new words, and so the block, are not valid UTF-8; nothing can be added after that.
        """
        if self.bound is None:
            return self._added(block)
        parts, shrunk = [], False
        while (lines := self._fitting(block, self.bound.most)) < len(block.lengths):
            if self._words is None:
                # Parts of a block have no table that could become that of the text.
                self._words = _no_words()
            if not lines and not shrunk and self._word_count:
                self._shrink(self.bound)
                shrunk = True
                continue
            # A line with more new words than ever fit is added all the same.
            lines, shrunk = max(lines, 1), False
            parts.append(self._added(_part(block, 0, lines)))
            block = _part(block, lines, len(block.lengths))
        return np.concatenate([*parts, self._added(block)])

    def _added(self, block: NumberedBlock) -> NDArray[np.int32]:
        """What `add` does, for a block whose words fit."""
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
        return self._given_numbers()[ids] if self._heirs else ids

    def vocabulary(self) -> Vocabulary:
        """The words so far."""
        if self._words is None:
            return Vocabulary(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        offsets = self._words.offsets[: self._word_count + 1].copy()
        return Vocabulary(self._words.data[: offsets[-1]].copy(), offsets)

    def counts(self) -> NDArray[np.int64]:
        """How often each word has occurred so far."""
        return np.empty(0, dtype=np.int64) if self._words is None else self._words.counts[: self._word_count].copy()

    def numbers(self) -> NDArray[np.int32] | None:
        """The number in `vocabulary` of each number that was given out; None if they are the same."""
        from cepts.kernels.text import settle_numbers

        if not self._heirs:
            return None
        self._given_numbers()
        later = np.arange(sum(map(len, self._heirs)), self._given_out, dtype=np.int32)
        numbers = np.concatenate([*self._heirs, later])
        settle_numbers(numbers)
        return numbers

    def _fitting(self, block: NumberedBlock, most: int) -> int:
        """How many lines of a block come before the first that brings new words, and too many."""
        from cepts.kernels.text import find_words

        if self._word_count + len(block.keys) <= most:
            return len(block.lengths)
        numbers = np.full(len(block.keys), -1, dtype=np.int32)
        if self._word_count:
            assert self._words is not None
            find_words(block.words, block.keys, self._words, numbers)
        new = np.cumsum(numbers < 0)
        too_many = int(np.searchsorted(new, max(most - self._word_count, 0), side="right"))
        if too_many == len(new):
            return len(block.lengths)
        # Words are numbered in the order of first use.
        token = int(np.argmax(block.ids >= too_many))
        return int(np.searchsorted(np.cumsum(block.lengths), token, side="right"))

    def _shrink(self, bound: WordBound) -> None:
        """Hold fewer words."""
        from cepts.kernels.text import Words, enter_words

        given, counts = self._given_numbers(), self.counts()
        vocabulary, places = bound.shrink(self.vocabulary(), counts)
        words = len(vocabulary)
        # The numbers of words that become one are those of the first of them.
        first = np.full(words, self._word_count, dtype=np.int64)
        np.minimum.at(first, places, np.arange(len(places)))
        self._inherit(given, given[first][places])
        self._given, self._word_count = given[first], words
        slots = 1 << (2 * max(bound.most, words)).bit_length()
        room = np.empty(slots // 2 + 1, dtype=np.int64)
        room[: words + 1] = vocabulary.offsets
        occurred = np.zeros(slots // 2, dtype=np.int64)
        np.add.at(occurred, places, counts)
        self._words = Words(_new_table(slots), room, vocabulary.buffer.copy(), occurred)
        enter_words(self._words, words)

    def _given_numbers(self) -> NDArray[np.int32]:
        """The number that was given out for each word."""
        new = self._word_count - len(self._given)
        if self._given_out + new > MOST_NUMBERS:
            raise DataError(
                f"a text can have at most {MOST_NUMBERS:,} different words, and words that were forgotten and occur "
                f"again count as different; raise `max_vocabulary`, or cut the text into parts."
            )
        if new:
            later = np.arange(self._given_out, self._given_out + new, dtype=np.int32)
            self._given = np.concatenate([self._given, later])
            self._given_out += new
        return self._given

    def _inherit(self, given: NDArray[np.int32], heirs: NDArray[np.int32]) -> None:
        """Note to which numbers those that were given out belong now."""
        before = sum(map(len, self._heirs))
        self._heirs.append(np.arange(before, self._given_out, dtype=np.int32))
        lost = np.flatnonzero(given != heirs)
        # Runs of numbers, as they were given out between two times of shrinking; `given` is in ascending order.
        bounds = np.searchsorted(given[lost], np.cumsum([0, *map(len, self._heirs)]))
        start = 0
        for run, first, last in zip(self._heirs, bounds[:-1], bounds[1:], strict=True):
            run[given[lost[first:last]] - start] = heirs[lost[first:last]]
            start += len(run)

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


class BlockWords(TextWords):
    """The words of the last block alone, for a text whose blocks are used one by one."""

    def add(self, block: NumberedBlock) -> NDArray[np.int32]:
        """Take the words of the next block in place of those of the one before it."""
        self._words = None
        return super().add(block)


def _part(block: NumberedBlock, start: int, stop: int) -> NumberedBlock:
    """Lines `start` to `stop` (exclusive) of a block, with words of their own, but without a table."""
    ends = offsets_of(block.lengths)
    ids = block.ids[ends[start] : ends[stop]]
    words, first = np.unique(ids, return_index=True)
    order = words[np.argsort(first)].astype(np.int64)
    renumbered = np.empty(len(block.keys), dtype=np.int32)
    renumbered[order] = np.arange(len(order))
    ids = renumbered[ids]
    places, offsets = take_runs(block.words.offsets[: len(block.keys) + 1], order)
    counts = np.bincount(ids, minlength=len(order)).astype(np.int64)
    taken = block.words._replace(table=_new_table(1), offsets=offsets, data=block.words.data[places], counts=counts)
    return NumberedBlock(block.data, ids, block.lengths[start:stop], taken, block.keys[order])


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


def _no_words() -> Words:
    from cepts.kernels.text import Words

    return Words(_new_table(2), _new_offsets(2), np.empty(0, dtype=np.uint8), np.empty(1, dtype=np.int64))


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
