"""Reading bitexts in blocks and in threads, held against plain Python."""

from __future__ import annotations

import gc
import gzip
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cepts.io.bitext as bitext_module
import oracles_io as oracles
from cepts.errors import DataError
from cepts.io import BitextBlocks, bitext_blocks, read_bitext, read_text
from cepts.io.files import InputFile

# Words around the 8 bytes that are read at a time, alike at their start or end; bytes that look like white space but
# for their high bit (\u00a0 ends in 0xa0, Ê in 0x8a, É in 0x89); white space of other kinds.
WORDS = [
    "a",
    "b",
    "|||",
    "||",
    "É",
    "Ê\u00a0",
    "\u2028",
    "\0",
    "\0\0",
    *("x" * n + "y" for n in (5, 6, 7, 8, 15, 16, 40)),
]
SPACES = [" ", "  ", "\t", "\r", "\v\f"]
lines = st.lists(st.sampled_from(WORDS + 3 * SPACES), max_size=8).map("".join)
texts = st.lists(lines, min_size=1, max_size=12)
sizes = st.integers(1, 40) | st.just(1 << 16)
threads = st.integers(1, 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("blocks")


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def rows_of(ids: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    return [row.tolist() for row in np.split(ids, np.cumsum(lengths)[:-1])] if len(lengths) else []


def check(blocks: BitextBlocks, source: list[bytes], target: list[bytes]) -> None:
    """Blocks must have the numbers, words and counts of the lines, also those of the blocks that came so far."""
    want = [oracles.numbered([oracles.tokens_of(line) for line in lines]) for lines in (source, target)]
    got: tuple[list[list[int]], list[list[int]]] = ([], [])
    for block in blocks:
        assert len(block) == len(block.source_lengths) == len(block.target_lengths) > 0
        assert (block.source_ids.dtype, block.target_ids.dtype) == (np.int32, np.int32)
        got[0].extend(rows_of(block.source_ids, block.source_lengths))
        got[1].extend(rows_of(block.target_ids, block.target_lengths))
        for rows, (_, words), vocabulary, counts in sides(blocks, got, want):
            assert [word.encode() for word in vocabulary.words] == words[: len(vocabulary)]
            assert len(counts) == len(vocabulary) > max((max(row, default=-1) for row in rows), default=-1)
            assert all(count >= sum(row.count(word) for row in rows) for word, count in enumerate(counts.tolist()))
    assert got == (want[0][0], want[1][0])
    for rows, (_, words), vocabulary, counts in sides(blocks, got, want):
        assert [word.encode() for word in vocabulary.words] == words
        assert counts.tolist() == [sum(row.count(word) for row in rows) for word in range(len(words))]
        assert counts.dtype == np.int64


def sides(blocks, got, want):
    vocabularies = blocks.source_vocabulary(), blocks.target_vocabulary()
    return zip(got, want, vocabularies, (blocks.source_counts(), blocks.target_counts()), strict=True)


@settings(deadline=None)
@given(texts, texts, sizes, threads, st.booleans())
def test_blocks_of_two_files_are_those_of_the_oracle(folder, source, target, block_bytes, threads, last_newline):
    count = min(len(source), len(target))
    data = [
        "\n".join(lines[:count]).encode() + b"\n" * (last_newline or not lines[count - 1]) for lines in (source, target)
    ]
    paths = [written(folder, name, text) for name, text in zip("ab", data, strict=True)]
    wanted = [oracles.lines_of(text) for text in data]
    check(bitext_blocks(*paths, block_bytes=block_bytes, threads=threads), *wanted)
    bitext = read_bitext(*paths, block_bytes=block_bytes, threads=threads)
    for text, lines, path in zip((bitext.source, bitext.target), wanted, paths, strict=True):
        rows, words = oracles.numbered([oracles.tokens_of(line) for line in lines])
        assert rows_of(text.ids, text.lengths) == rows
        assert [word.encode() for word in text.vocabulary.words] == words
        alone = read_text(path, block_bytes=block_bytes, threads=threads)
        assert alone.ids.tolist() == text.ids.tolist()
        assert alone.vocabulary.words == text.vocabulary.words


@settings(deadline=None)
@given(texts, sizes, threads, st.booleans())
def test_blocks_of_one_file_are_those_of_the_oracle(folder, lines, block_bytes, threads, by_tab):
    separated = [line.replace("\t", " ").replace("|||", "a") for line in lines]
    data = "\n".join(f"{line}\t{line}b" if by_tab else f"{line} ||| {line}b" for line in separated).encode()
    path = written(folder, "both", data)
    pairs = [oracles.sides_of(line, by_tab) for line in oracles.lines_of(data)]
    options = {"format": "tsv" if by_tab else "pipes", "block_bytes": block_bytes, "threads": threads}
    check(bitext_blocks(path, **options), [pair[0] for pair in pairs if pair], [pair[1] for pair in pairs if pair])


# -- Errors ----------------------------------------------------------------------------------------------------------


def utf8_message(name: str, data: bytes) -> str | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data[: error.start].rpartition(b"\n")[2]
        line = data[: error.start].count(b"\n") + 1
        return f"{name}, line {line}: byte {len(start) + 1} (0x{data[error.start]:02x}) is not valid UTF-8"
    return None


def two_files_message(names: list[str], texts: list[bytes]) -> str | None:
    """The errors of the first file come first, then those of the second, then those of both."""
    for name, data in zip(names, texts, strict=True):
        message = f"{name} is empty" if not data else utf8_message(name, data)
        if message:
            return message
    first, second = (len(oracles.lines_of(data)) for data in texts)
    return f"{names[0]} has {first} lines but {names[1]} has {second};" if first != second else None


broken = st.lists(
    st.sampled_from([b"a", b" ", b"\n", b"\n", "é".encode(), b"\xc3", b"\xa9", b"\xff"]), max_size=14
).map(b"".join)
sound = st.lists(st.sampled_from([b"a", b" ", b"\n", b"bc"]), max_size=14).map(b"".join)


@settings(deadline=None, max_examples=200)
@given(broken | sound, broken | sound, st.integers(1, 8) | st.just(100), threads)
@example(b"a\na\na\na\xff\n", b"\xff\na\na\na\n", 2, 3)  # the second file's error is met first
@example(b"a\na\na\n\xff", b"a\n", 2, 3)  # the first file's error is behind the end of the second
def test_errors_of_two_files_do_not_depend_on_blocks_or_threads(folder, source, target, block_bytes, threads):
    paths = [written(folder, "a", source), written(folder, "b", target)]
    message = two_files_message([str(path) for path in paths], [source, target])
    if message is None:
        check(bitext_blocks(*paths, block_bytes=block_bytes, threads=threads), *map(oracles.lines_of, (source, target)))
        return
    with pytest.raises(DataError) as caught:
        read_bitext(*paths, block_bytes=block_bytes, threads=threads)
    assert str(caught.value).startswith(message)


def one_file_message(name: str, data: bytes) -> str | None:
    """The error of the first line that has one."""
    for number, line in enumerate(oracles.lines_of(data), start=1):
        if oracles.sides_of(line, by_tab=False) is None:
            return f"{name}, line {number}: found "
        if (message := utf8_message(name, b"\n" * (number - 1) + line)) is not None:
            return message
    return None


pieces = st.sampled_from([b"a", b" ||| ", b" ||| ", b"\n", b"\n", "é".encode(), b"\xc3", b"|||\xff"])


@settings(deadline=None, max_examples=200)
@given(st.lists(pieces, min_size=1, max_size=14).map(b"".join), st.integers(1, 30), threads)
@example(b"\xff ||| b\n a\n", 100, 1)
@example(b"a\n\xff ||| b\n", 100, 1)
def test_errors_of_one_file_do_not_depend_on_blocks_or_threads(folder, data, block_bytes, threads):
    path = written(folder, "both", data)
    options = {"format": "pipes", "block_bytes": block_bytes, "threads": threads}
    message = one_file_message(str(path), data)
    if message is None:
        pairs = [oracles.sides_of(line, by_tab=False) for line in oracles.lines_of(data)]
        check(bitext_blocks(path, **options), [pair[0] for pair in pairs if pair], [pair[1] for pair in pairs if pair])
        return
    with pytest.raises(DataError) as caught:
        read_bitext(path, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_damaged_end_is_an_error_after_those_of_the_lines_before(tmp_path, threads):
    good = b"a b\n" * 30_000
    for data, message in (
        (good, "ends in the middle"),
        (b"\xff\n" + good, "line 1: byte 1"),
    ):
        path = written(tmp_path, "x.gz", gzip.compress(data)[:-9])
        with pytest.raises(DataError, match=message):
            read_text(path, block_bytes=5000, threads=threads)
        blocks = bitext_blocks(path, written(tmp_path, "y", data), block_bytes=5000, threads=threads)
        with pytest.raises(DataError, match=message):
            list(blocks)


@pytest.mark.parametrize("error", [MemoryError, DataError("x, line 3: wrong.")])
def test_an_error_in_a_thread_is_raised_by_the_reader(tmp_path, monkeypatch, error):
    number_block = bitext_module.number_block

    def failing(data):
        if threading.current_thread() is not threading.main_thread() and b"bad" in data.tobytes():
            raise error
        return number_block(data)

    monkeypatch.setattr(bitext_module, "number_block", failing)
    path = written(tmp_path, "x", b"a b\n" * 100 + b"bad\n" + b"a b\n" * 100)
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        list(bitext_blocks(path, path, block_bytes=50, threads=2))
    assert_all_ended()


# -- The end of the reading ------------------------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch) -> list[InputFile]:
    """All files that the reader opens."""
    files: list[InputFile] = []

    class Recorded(InputFile):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            files.append(self)

    monkeypatch.setattr(bitext_module, "InputFile", Recorded)
    return files


def assert_all_ended() -> None:
    assert not [thread for thread in threading.enumerate() if "reading" in thread.name and thread.is_alive()]


@pytest.mark.parametrize("end", ["close", "with", "forget", "fail"])
@pytest.mark.parametrize("files", [1, 2])
def test_reading_that_is_abandoned_leaves_no_thread_and_no_open_file(tmp_path, opened, end, files):
    gc.collect()
    assert_all_ended()
    path = written(tmp_path, "x", b"a ||| b\n" * 1000)
    blocks = bitext_blocks(*[path] * files, block_bytes=100, threads=3)
    assert not opened  # files are opened when they are read
    next(blocks)
    assert len(opened) == files
    assert not any(file.closed for file in opened)
    if end == "close":
        blocks.close()
        assert next(blocks, None) is None
    elif end == "with":
        with blocks:
            next(blocks)
    elif end == "forget":
        del blocks
    else:
        with pytest.raises(ZeroDivisionError), blocks:
            for _ in blocks:
                raise ZeroDivisionError
    assert all(file.closed for file in opened)
    assert_all_ended()


@pytest.mark.parametrize("files", [1, 2])
def test_after_the_last_block_everything_is_closed(tmp_path, opened, files):
    path = written(tmp_path, "x", b"a ||| b\n" * 1000)
    blocks = bitext_blocks(*[path] * files, block_bytes=100, threads=3)
    assert sum(len(block) for block in blocks) == 1000
    assert all(file.closed for file in opened)
    assert_all_ended()


def test_a_file_of_one_block_starts_no_thread(tmp_path, monkeypatch):
    def no_thread(self):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    path = written(tmp_path, "x", b"a ||| b\n" * 1000)
    assert len(read_bitext(path, threads=4)) == 1000
    assert len(read_bitext(path, path, threads=4)) == 1000
    assert len(read_bitext(path, block_bytes=100, threads=1)) == 1000


def test_lines_are_read_no_further_than_a_few_blocks_ahead(tmp_path, opened):
    path = written(tmp_path, "x", b"a b c\n" * 10_000)
    with bitext_blocks(path, path, block_bytes=600, threads=2) as blocks:
        given_out = 0
        for block in blocks:
            given_out += len(block)
            assert all(file.taken <= 6 * given_out + 5 * 600 for file in opened)


def test_a_line_or_a_word_longer_than_many_blocks(tmp_path):
    word = b"x" * 5000
    data = b"a b\n" + word + b" a\n" + b"c " * 3000 + b"\nb " + word + b"y\n" + word
    path = written(tmp_path, "x", data)
    for threads in (1, 2):
        check(bitext_blocks(path, path, block_bytes=7, threads=threads), *[oracles.lines_of(data)] * 2)
