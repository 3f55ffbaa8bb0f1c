from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys

import pytest

from cepts.errors import DataError, DataWarning
from cepts.io import open_output, read_text
from cepts.io.files import InputFile, read_blocks

CONTENT = b"".join(b"line %d of some text\n" % n for n in range(20_000))


def compress(suffix: str, data: bytes) -> bytes:
    match suffix:
        case ".gz":
            return gzip.compress(data)
        case ".bz2":
            return bz2.compress(data)
        case ".xz":
            return lzma.compress(data)
    zstandard = pytest.importorskip("zstandard")
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


SUFFIXES = [".gz", ".bz2", ".xz", ".zst"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compressed_files_are_read_by_name_and_by_content(tmp_path, suffix):
    for name in ("x" + suffix, "x" + suffix.upper(), "x"):
        (tmp_path / name).write_bytes(compress(suffix, CONTENT[:5000]) + compress(suffix, CONTENT[5000:]))
        with InputFile(tmp_path / name) as file:
            assert file.readall() == CONTENT


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("damage", ["cut", "flipped", "plain", "cut at the start"])
def test_damaged_compressed_files_are_one_line(tmp_path, suffix, damage):
    data = compress(suffix, CONTENT)
    middle = len(data) // 2
    bad = {
        "cut": data[:middle],
        "flipped": data[:middle] + bytes([data[middle] ^ 0xFF]) * 40 + data[middle + 40 :],
        "plain": CONTENT,
        "cut at the start": data[:7],
    }[damage]
    path = tmp_path / ("x" + suffix)
    path.write_bytes(bad)
    with pytest.raises(DataError, match="x" + suffix) as caught:
        read_text(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["", *SUFFIXES])
def test_output_is_compressed_by_suffix_and_always_the_same(tmp_path, suffix):
    outputs = []
    for name in ("a", "b"):
        path = tmp_path / (name + suffix)
        with open_output(path) as file:
            file.write(CONTENT)
        outputs.append(path.read_bytes())
        with InputFile(path) as file:
            assert file.readall() == CONTENT
    assert outputs[0] == outputs[1]
    assert (outputs[0] == CONTENT) == (not suffix)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_compressed_to_something_that_reads_as_nothing(tmp_path, suffix):
    path = tmp_path / ("x" + suffix)
    with open_output(path):
        pass
    assert path.stat().st_size > 0
    if suffix == ".zst":
        assert pytest.importorskip("zstandard").ZstdDecompressor().decompress(path.read_bytes()) == b""
    for content in (path.read_bytes(), b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match="is empty"):
            read_text(path)


@pytest.mark.parametrize("suffix", ["", *SUFFIXES])
def test_output_that_fails_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / ("out" + suffix)
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), open_output(path) as file:
        file.write(CONTENT)
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("block_bytes", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\nbc\n\nlong line\nx", b"a\n\n"])
def test_blocks_are_whole_lines(tmp_path, data, block_bytes):
    (tmp_path / "x").write_bytes(data)
    with InputFile(tmp_path / "x") as file:
        blocks = [block.tobytes() for block in read_blocks(file, block_bytes)]
    assert b"".join(blocks) == data
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_blocks_that_are_kept_stay_as_they_are_and_are_small_after_a_long_line(tmp_path):
    data = b"a\n" * 9 + b"long " * 400 + b"\n" + b"a\n" * 2000
    (tmp_path / "x").write_bytes(data)
    with InputFile(tmp_path / "x") as file:
        blocks = list(read_blocks(file, 16, keep=True))
    assert b"".join(block.tobytes() for block in blocks) == data
    assert all(len(block) <= 2 * 16 for block in blocks[-5:])


@pytest.mark.parametrize("place", [0, 1, 4095, 4096, 30_000, 49_998, 49_999])
def test_the_last_newline_of_a_block_is_found_wherever_it_is(tmp_path, place):
    data = b"x" * place + b"\n" + b"x" * (50_000 - place - 1)
    (tmp_path / "x").write_bytes(data + b"more")
    with InputFile(tmp_path / "x") as file:
        blocks = [block.tobytes() for block in read_blocks(file, 50_000)]
    assert blocks == [data[: place + 1], data[place + 1 :] + b"more"]


def test_the_first_line_is_seen_and_still_read(tmp_path):
    data = b"\xef\xbb\xbf \n\r\n\tfirst\nsecond\n" + CONTENT
    (tmp_path / "x").write_bytes(data)
    with InputFile(tmp_path / "x") as file:
        assert file.first_line() == b"\tfirst"
        assert file.first_line() == b"\tfirst"
        assert file.readall() == data


def test_a_first_line_longer_than_the_first_look(tmp_path):
    data = b"x" * 300_000 + b"\ty\n"
    (tmp_path / "x").write_bytes(data)
    with InputFile(tmp_path / "x") as file:
        assert file.first_line() == data[:-1]


def test_importing_io_loads_nothing_heavy():
    code = "import sys, cepts.io; print(*{'numba', 'lxml', 'pyarrow', 'xopen', 'scipy'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def without_checksum(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor(write_checksum=False).compress(data)


def test_zstandard_is_written_with_a_checksum_that_finds_every_flipped_byte(tmp_path):
    path = tmp_path / "x.zst"
    with open_output(path) as file:
        file.write(CONTENT[:2000])
    data = path.read_bytes()
    assert data[4] & 4
    refused = 0
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        try:
            with InputFile(path) as file:
                assert file.readall() == CONTENT[:2000]  # some bits are of no use, such as one of the flags
        except DataError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 0.9 * len(data)


def test_a_file_without_a_checksum_is_read_and_said_once(tmp_path):
    path = tmp_path / "x.zst"
    path.write_bytes(without_checksum(CONTENT[:5000]) + without_checksum(CONTENT[5000:]))
    with pytest.warns(DataWarning, match=r"x\.zst was compressed without a checksum") as told, InputFile(path) as file:
        assert file.readall() == CONTENT
    assert len(told) == 1


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zst"])
def test_a_later_stream_that_is_damaged_is_not_the_end(tmp_path, suffix):
    path = tmp_path / ("x" + suffix)
    first, second = compress(suffix, CONTENT[:5000]), compress(suffix, CONTENT[5000:])
    path.write_bytes(first + bytes([second[0] ^ 1]) + second[1:])
    with InputFile(path) as file, pytest.raises(DataError, match="is damaged"):
        file.readall()


def test_zeros_between_streams_of_xz_are_padding(tmp_path):
    path = tmp_path / "x.xz"
    path.write_bytes(lzma.compress(CONTENT[:5000]) + bytes(8) + lzma.compress(CONTENT[5000:]) + bytes(4))
    with InputFile(path) as file:
        assert file.readall() == CONTENT


def test_names_of_files_are_on_one_line(tmp_path):
    with pytest.raises(DataError) as caught:
        read_text(tmp_path / "a\nb\x1b[31m")
    assert str(caught.value).isprintable()
