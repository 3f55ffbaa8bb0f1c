"""Reading texts and bitexts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Text, Vocabulary, WordBound, offsets_of
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, last_suffix
from cepts.io.lines import line_at, separator_error, separator_of, uneven_error
from cepts.io.text_tables import is_csv_header, table_sides
from cepts.io.threads import BlockThreads
from cepts.io.tokens import (
    BlockWords,
    Collected,
    NotUTF8Error,
    NumberedBlock,
    Sentences,
    TextWords,
    number_block,
    text_blocks,
    utf8_error,
)
from cepts.names import BITEXT_FORMATS, DECODING_ERRORS
from cepts.progress import Progress

BY_SUFFIX = {
    ".tsv": "tsv",
    ".tmx": "tmx",
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}

Sides = tuple[NDArray[np.uint8], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True, eq=False)
class BitextBlock:
    """Consecutive sentence pairs of a bitext that is read in blocks.

    Attributes
    ----------
    source_ids, target_ids
        The words of all sentences, as numbers in the vocabularies of the whole bitext.
    source_lengths, target_lengths
        How many of these words each sentence has.
    """

    source_ids: NDArray[np.int32]
    source_lengths: NDArray[np.int64]
    target_ids: NDArray[np.int32]
    target_lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.source_lengths)


class BitextBlocks:
    """An iterator over the sentence pairs of a bitext, which it does not keep; `bitext_blocks` makes it.

    Words are numbered in the order of first use, on each side. The vocabularies and counts that the methods give are
    those of all sentences that were read so far: of the whole bitext after the last block; before, of all blocks that
    were given out, and perhaps of sentences of one file that wait for their partners from the other.

    Files stay open and threads alive until the last block or an error. `close`, which a ``with`` statement calls, ends
    the reading before.
    """

    def __init__(self, blocks: Generator[BitextBlock], source: TextWords, target: TextWords) -> None:
        self._blocks, self._source, self._target = blocks, source, target

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> BitextBlock:
        return next(self._blocks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the reading: close the files and wait until no thread is at work."""
        self._blocks.close()

    def source_vocabulary(self) -> Vocabulary:
        """The words of the source sentences so far."""
        return self._source.vocabulary()

    def target_vocabulary(self) -> Vocabulary:
        """The words of the target sentences so far."""
        return self._target.vocabulary()

    def source_numbers(self) -> NDArray[np.int32] | None:
        """The number in the source vocabulary of each number in the blocks so far; None if they are the same."""
        return self._source.numbers()

    def target_numbers(self) -> NDArray[np.int32] | None:
        """The number in the target vocabulary of each number in the blocks so far; None if they are the same."""
        return self._target.numbers()

    def source_counts(self) -> NDArray[np.int64]:
        """How often each word of the source vocabulary has occurred so far."""
        return self._source.counts()

    def target_counts(self) -> NDArray[np.int64]:
        """How often each word of the target vocabulary has occurred so far."""
        return self._target.counts()


def bitext_blocks(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    errors: str = "strict",
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
    bound: WordBound | None = None,
) -> BitextBlocks:
    """Read the sentence pairs of `read_bitext` in blocks, of which only a few are in memory at a time.

    The parameters are those of `read_bitext`; with a `bound`, only so many words of each side are held, and numbers of
    words that were lost must be replaced by those of `BitextBlocks.source_numbers` and `target_numbers`. The pairs and
    the numbers of their words are the same for any `block_bytes` and any number of `threads`. Files are opened when the
    first block is asked for.

    Examples
    --------
    >>> with bitext_blocks("examples/sample.en", "examples/sample.fr") as blocks:
    ...     print(sum(len(block) for block in blocks))
    3000
    """
    words = TextWords(bound), TextWords(bound)
    how = _Reading(errors, progress, block_bytes, threads)
    return BitextBlocks(_blocks(how, words, source, target, format, languages, columns, notices), *words)


def bitext_parts(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    errors: str = "strict",
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
) -> Iterator[Bitext]:
    """Read the sentence pairs of `read_bitext` in parts that have vocabularies of their own.

    The parameters are those of `read_bitext`. Only a few parts, and no words of others, are in memory at a time.
    """
    words = BlockWords(), BlockWords()
    how = _Reading(errors, progress, block_bytes, threads)
    for block in _blocks(how, words, source, target, format, languages, columns, notices):
        # A side has waiting sentences of one block at most.
        yield Bitext(
            Text(block.source_ids, offsets_of(block.source_lengths), words[0].vocabulary()),
            Text(block.target_ids, offsets_of(block.target_lengths), words[1].vocabulary()),
        )


def _blocks(
    reading: _Reading,
    words: tuple[TextWords, TextWords],
    source: PathLike,
    target: PathLike | None,
    format: str,
    languages: Sequence[str] | None,
    columns: Sequence[str] | None,
    notices: list[str] | None,
) -> Generator[BitextBlock]:
    """The blocks of a bitext, after a check that its files and options go together."""
    check_choice("format", format, BITEXT_FORMATS)
    check_choice("errors", reading.errors, DECODING_ERRORS)
    for name, chosen in (("languages", languages), ("columns", columns)):
        if chosen is not None and (isinstance(chosen, str) or len(chosen) != 2):
            raise UsageError(f"`{name}` must be two names. Got {chosen!r} instead.")
    if target is None and format == "text":
        raise UsageError("the format text needs two files, `source` and `target`. Got one file instead.")
    if target is not None and format not in {"auto", "text"}:
        raise UsageError(f"the format {format} has both sides in one file. Got two files instead.")
    if source == "-" and target == "-":
        raise UsageError("`source` and `target` cannot both be standard input.")
    if target is not None:
        return _blocks_of_two(reading, source, target, words)
    return _blocks_of_one(reading, source, format, columns, languages, notices, words)


def read_bitext(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    errors: str = "strict",
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
) -> Bitext:
    """Read sentence pairs from two files of sentences, or from one file that holds both sides.

    Tokens are split on ASCII white space only and sentences end at newlines only, so a no-break space stays
    inside its token. An empty line, or an empty side, is an empty sentence, so there are as many pairs as
    lines.

    Parameters
    ----------
    source, target
        Two files, or one file and None; plain or compressed (.gz .bz2 .xz .zst). `-` is standard input.
    format
        Format of a single file: ``pipes`` (``a ||| b``), ``tsv`` (two columns), ``tmx``, ``parquet``, ``jsonl`` or
        ``csv``. ``auto`` decides by the suffix, then by the first line. Two files are always ``text``: one sentence
        per line.
    errors
        What to do with bytes that are not UTF-8: ``strict`` raises `DataError`, ``replace`` puts U+FFFD in their place.
    languages
        The source and the target language of a TMX file or of a table. In a table they are fields of the column
        ``translation``, or columns that are named after languages.
    columns
        The source and the target column of a table (Parquet, CSV, or the keys of JSON lines). The default is
        ``source`` and ``target``, or two fields of ``translation``, or two columns that are named after languages, or
        the first two columns of text, whichever is found first.
    notices
        A list to which a note is appended if the file has more languages or columns and none were chosen; it says
        which ones are used.
    progress
        Called after each block with a `Step` that counts bytes on disk.
    block_bytes
        How many bytes to read at a time; affects only the speed.
    threads
        How many threads split and number the tokens of large files; affects only the speed. The default is one for
        each processor.
    """
    blocks = bitext_blocks(
        source, target, format=format, errors=errors, languages=languages, columns=columns, notices=notices,
        progress=progress, block_bytes=block_bytes, threads=threads,
    )  # fmt: skip
    left, right = Collected(), Collected()
    for block in blocks:
        left.add(block.source_ids, block.source_lengths)
        right.add(block.target_ids, block.target_lengths)
    return Bitext(left.text(blocks.source_vocabulary()), right.text(blocks.target_vocabulary()))


def read_text(
    path: PathLike,
    *,
    errors: str = "strict",
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
) -> Text:
    """Read a file with one sentence per line; the parameters are those of `read_bitext`."""
    check_choice("errors", errors, DECODING_ERRORS)
    reading = _Reading(errors, progress, block_bytes, threads)
    words, sentences = TextWords(), Collected()
    with reading.opened(path) as file, BlockThreads(threads) as workers:
        for ids, lengths in _numbered_lines(reading, file, workers, words, file.report):
            sentences.add(ids, lengths)
    return sentences.text(words.vocabulary())


@dataclass(frozen=True, slots=True)
class _Reading:
    """How files are read."""

    errors: str
    progress: Progress | None
    block_bytes: int
    threads: int | None

    def opened(self, path: PathLike) -> InputFile:
        return InputFile(path, progress=self.progress, block_bytes=self.block_bytes)


# -- Two files -------------------------------------------------------------------------------------------------------


def _blocks_of_two(
    reading: _Reading, source: PathLike, target: PathLike, words: tuple[TextWords, TextWords]
) -> Generator[BitextBlock]:
    # Both are opened first: a missing second file should be reported before minutes of reading.
    with reading.opened(source) as first, reading.opened(target) as second, BlockThreads(reading.threads) as workers:
        left, right = (
            _Side(_numbered_lines(reading, file, workers, own, lambda: first.report(second)))
            for file, own in zip((first, second), words, strict=True)
        )
        while _both_wait(left, right):
            pairs = min(len(left), len(right))
            yield BitextBlock(*left.take(pairs), *right.take(pairs))
        left.read_rest()
        right.read_rest()
        if left.lines != right.lines:
            raise uneven_error(first.name, left.lines, second.name, right.lines)


def _both_wait(left: _Side, right: _Side) -> bool:
    """Whether each side has sentences that wait for those of the other; if not, one file has ended."""
    some = left.fill()
    try:
        return right.fill() and some
    except DataError:
        # An error of the first file is reported first, wherever it is: which is found first depends on the blocks.
        left.read_rest()
        raise


class _Side:
    """One of two files: its sentences that wait for those of the other file."""

    def __init__(self, blocks: Iterator[Sentences]) -> None:
        self._blocks = blocks
        self._ids, self._lengths = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        self.lines = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def fill(self) -> bool:
        """Read a block if no sentence waits; False if the file has ended."""
        if not len(self):
            self._ids, self._lengths = next(self._blocks, (self._ids, self._lengths))
            self.lines += len(self)
        return len(self) > 0

    def take(self, sentences: int) -> Sentences:
        """Take the first of the waiting sentences."""
        words = int(self._lengths[:sentences].sum())
        taken = self._ids[:words], self._lengths[:sentences]
        self._ids, self._lengths = self._ids[words:], self._lengths[sentences:]
        return taken

    def read_rest(self) -> None:
        """Read the rest of the file for its errors and its number of lines."""
        self.lines += sum(len(lengths) for _, lengths in self._blocks)


def _numbered_lines(
    reading: _Reading, file: InputFile, workers: BlockThreads, words: TextWords, report: Callable[[], None]
) -> Iterator[Sentences]:
    lines = 0
    for block in workers.map(number_block, text_blocks(file, reading.errors, keep=True)):
        ids = _added(words, block, file.name, lines)
        lines += len(block.lengths)
        report()
        yield ids, block.lengths
    if not lines:
        raise _empty(file)


def _added(words: TextWords, block: NumberedBlock, name: str, lines: int, unit: str = "line") -> NDArray[np.int32]:
    """The tokens of `block`, which follows `lines` lines of the file, as numbers of words of the text."""
    try:
        return words.add(block)
    except NotUTF8Error:
        raise utf8_error(name, block.data, lines, unit=unit) from None


# -- One file --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _NumberedPairs:
    source: NumberedBlock
    target: NumberedBlock
    wrong_line: bytes | None = None  # the line after these, if it does not have exactly one separator


def _blocks_of_one(
    reading: _Reading,
    path: PathLike,
    format: str,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None,
    words: tuple[TextWords, TextWords],
) -> Generator[BitextBlock]:
    with reading.opened(path) as file, BlockThreads(reading.threads) as workers:
        if not file.peek(1):
            raise _empty(file)
        if format == "auto":
            format = _guess_format(file)
        if format in {"pipes", "tsv"}:
            unit = "line"
            number = partial(_number_separated, format == "tsv")
            numbered = workers.map(number, text_blocks(file, reading.errors, keep=True))
        else:
            unit = "row"
            numbered = workers.map(
                _number_sides, _table_sides(file, format, reading.errors, columns, languages, notices)
            )
        lines = 0
        for block in numbered:
            source_ids = _added(words[0], block.source, file.name, lines, unit)
            target_ids = _added(words[1], block.target, file.name, lines, unit)
            lines += len(block.source.lengths)
            if block.wrong_line is not None:
                raise separator_error(file.name, format, block.wrong_line, lines + 1)
            file.report()
            yield BitextBlock(source_ids, block.source.lengths, target_ids, block.target.lengths)
        if not lines:
            raise _empty(file)


def _number_separated(by_tab: bool, data: NDArray[np.uint8]) -> _NumberedPairs:
    """Number both sides of lines with a separator, up to the first line that does not have exactly one."""
    from cepts.kernels.text import split_sides

    source, target = (np.empty(len(data) + 1, dtype=np.uint8) for _ in range(2))
    counts = np.zeros(2, dtype=np.int64)
    failed = split_sides(data, by_tab, source, target, counts)
    return _NumberedPairs(
        # A message about a side quotes the line, and the place in it, as they are in the file.
        replace(number_block(source[: counts[0]]), data=data),
        replace(number_block(target[: counts[1]]), data=data),
        line_at(data, failed) if failed >= 0 else None,
    )


def _number_sides(sides: Sides) -> _NumberedPairs:
    return _NumberedPairs(number_block(sides[0]), number_block(sides[1]))


def _table_sides(
    file: InputFile,
    format: str,
    errors: str,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None,
) -> Iterator[Sides]:
    """Both sides of the units or rows of a file, in blocks with a newline after each sentence."""
    if format == "tmx":
        from cepts.io.tmx import tmx_sides

        return tmx_sides(file, languages, notices, replace=errors == "replace")
    if format == "parquet":
        from cepts.io.parquet import parquet_sides

        return parquet_sides(file, columns, languages, notices, replace=errors == "replace")
    return table_sides(file, format, columns, languages, notices, errors=errors)


def _guess_format(file: InputFile) -> str:
    suffix, line = last_suffix(file.path), file.first_line()
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    if line.startswith(b"PAR1"):
        return "parquet"
    if line.lstrip().startswith((b"<?xml", b"<tmx", b"<!DOCTYPE tmx")):
        return "tmx"
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    format = separator_of(line)
    if format is None and is_csv_header(line):
        return "csv"
    if format is None:
        raise DataError(
            f"{file.name}, line 1: found neither ` ||| ` nor one tab, so this is not a bitext in one file; "
            f"give a second file with the target sentences, or name the format (pipes, tsv, tmx, parquet, jsonl, csv)."
        )
    return format


def _empty(file: InputFile) -> DataError:
    return DataError(f"{file.name} is empty; wanted one sentence per line.")
