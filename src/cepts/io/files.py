"""Opening files, plain or compressed, and reading them in blocks of whole lines."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.atomic import atomic_output, cannot_write
from cepts.errors import DataError, DataWarning, UsageError, printable, reason_of
from cepts.progress import Progress, Step, silent

PathLike: TypeAlias = str | os.PathLike[str]

BLOCK_BYTES = 1 << 21  # about 350 thousand tokens: few calls, and small buffers
COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
BOM = b"\xef\xbb\xbf"
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"  # then a byte with flags
ZSTD_CHECKSUM = 0x04  # the flag that a checksum ends the frame
PACKED_BYTES = 1 << 16


def bare_suffixes(path: PathLike) -> list[str]:
    """Suffixes of `path` in lower case, without one that names a compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes


def last_suffix(path: PathLike) -> str:
    """The last of `bare_suffixes`, or the empty string."""
    return (bare_suffixes(path) or [""])[-1]


def name_of(path: PathLike, standard: str = "standard input") -> str:
    """What messages call a file; `standard` is what `-` stands for."""
    return standard if path == "-" else printable(os.fspath(path))


def check_stdin(*paths: PathLike | None) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise UsageError("only one input can be - (standard input); name files for the others.")


def unreadable(name: str, error: OSError) -> DataError:
    """What to say of a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"cannot read {name}: there is no such file; check its name and directory.")
    return DataError(f"cannot read {name}: {error.strerror or error}.")


class InputFile(io.RawIOBase):
    """The bytes of a file, decompressed according to its name or its first bytes; `-` is standard input.

    Any failure, even in the middle of a damaged file, raises a `DataError` of one line. `report` tells `progress` how
    much was read; `before` and `after` count the bytes of other files that are read before and after this one. Readers
    take `block_bytes` at a time.
    """

    def __init__(
        self, path: PathLike, *, progress: Progress | None = None, before: int = 0, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self.progress = progress or silent
        self.before, self.after = before, 0
        self.block_bytes = block_bytes
        self.path = os.fspath(path)
        self.name = name_of(path)
        self._head = b""
        self.taken = 0  # decompressed bytes so far
        self._disk: Any = None
        self._file: Any = None
        try:
            self._disk = sys.stdin.buffer if self.path == "-" else open(self.path, "rb")  # noqa: PTH123, SIM115
        except OSError as error:
            raise unreadable(self.name, error) from error
        try:
            self._file = self._decompressed()
        except BaseException:
            self.close()
            raise
        self.size = 0
        if self.path != "-" and Path(self.path).is_file():
            self.size = os.fstat(self._disk.fileno()).st_size

    def _decompressed(self) -> Any:
        # Imported here because it loads every compression library. `threads=0` keeps it from starting other programs
        # and threads, so that processor time and failures are those of this process.
        from xopen import xopen

        if hasattr(self._disk, "peek") and not self._reading(self._disk.peek, 1):
            return self._disk  # an empty file is empty in any compression, but some decompressors refuse it
        # Path.suffix, unlike xopen, also knows "X.GZ".
        suffix = "" if self.path == "-" else Path(self.path).suffix.lower()
        packing = COMPRESSED.get(suffix) or self._packing()
        if packing in STREAMS:
            return _Streams(self._disk, packing, self.name)
        return self._reading(xopen, self._disk, "rb", threads=0, format=packing)

    def _packing(self) -> str | None:
        """The compression, recognised by the first bytes of the file."""
        head = self._reading(self._disk.peek, 6) if hasattr(self._disk, "peek") else b""
        return next((name for start, name in MAGIC.items() if head.startswith(start)), None)

    def _reading(self, function: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except OSError as error:
            if error.errno is None:  # from a decompressor
                raise self._damaged(error) from error
            raise unreadable(self.name, error) from error
        except EOFError as error:
            raise DataError(
                f"{self.name} ends in the middle of its compressed data; copy or download it again."
            ) from error
        except Exception as error:  # each decompressor raises its own class
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> DataError:
        return DataError(f"{self.name} is damaged: {reason_of(error)}; copy or download it again.")

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into the start of `buffer` and return their number; 0 at the end of the file."""
        if self._head:
            count = min(len(buffer), len(self._head))
            buffer[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        count = self._reading(self._file.readinto, buffer) or 0
        self.taken += count
        return count

    def fill(self, buffer: memoryview) -> int:
        """Fill `buffer` and return the number of bytes read; it is not full only at the end of the file."""
        filled = 0
        # In parts, because some decompressors make a second copy of what they read.
        while filled < len(buffer) and (got := self.readinto(buffer[filled : filled + BLOCK_BYTES])):
            filled += got
        return filled

    def read_fully(self, count: int) -> bytes:
        """The next `count` bytes, or as many as there are."""
        buffer = bytearray(count)
        return bytes(buffer[: self.fill(memoryview(buffer))])

    def unread(self, data: bytes) -> None:
        """Put `data` back, to be read next."""
        self._head = data + self._head

    def peek(self, count: int) -> bytes:
        """The next `count` bytes, or as many as there are; they will be read again."""
        head = self.read_fully(count)
        self.unread(head)
        return head

    def first_line(self) -> bytes:
        """The first line that is not blank, without its newline, or nothing; it will be read again."""
        wanted = 1 << 16
        while True:
            head = self.peek(wanted)
            rest = head.removeprefix(BOM).lstrip(b" \t\n\v\f\r")
            if len(head) < wanted or b"\n" in rest:
                # Stripping must not remove a tab at the start of the line.
                start = head.rfind(b"\n", 0, len(head) - len(rest)) + 1
                line, _, _ = head[start:].partition(b"\n")
                return line.removeprefix(BOM) if rest else b""
            wanted *= 2

    def skip_bom(self) -> None:
        """Skip a byte-order mark."""
        if self.peek(len(BOM)) == BOM:
            self.read_fully(len(BOM))

    @property
    def plain(self) -> bool:
        """Whether the file is not compressed."""
        return self._file is self._disk

    def disk_position(self) -> int:
        """How many bytes have been taken from the disk, of `size`."""
        return self._disk.tell() if self.size else 0

    def report(self, *others: InputFile) -> None:
        """Tell `progress` how much of this file and `others` has been read, in bytes on disk."""
        files = (self, *others)
        done = self.before + sum(file.disk_position() for file in files)
        total = self.before + sum(file.size for file in files) + self.after
        self.progress(Step(stage="reading", done=done, total=total))

    def close(self) -> None:
        """Close the file, but not standard input."""
        if not self.closed and self.path != "-":
            for file in (self._file, self._disk):
                if file is not None:
                    file.close()
        super().close()


MAGIC = {ZSTD_FRAME: "zst", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _bz2_decoder() -> Any:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def _xz_decoder() -> Any:
    from lzma import LZMADecompressor

    return LZMADecompressor()


def _zstd_decoder() -> Any:
    zstd = _zstd()
    window = zstd.DecompressionParameter.window_log_max
    return zstd.ZstdDecompressor(options={window: window.bounds()[1]})


STREAMS: dict[str, Callable[[], Any]] = {"bz2": _bz2_decoder, "xz": _xz_decoder, "zst": _zstd_decoder}


class _Streams(io.RawIOBase):
    """The decompressed bytes of one compressed stream after another.

    Python's own readers of bz2 and xz mistake a damaged stream after the first one for the end of the file.
    """

    def __init__(self, file: Any, packing: str, name: str) -> None:
        self._file, self._packing, self._name = file, packing, name
        self._decoder: Any = None
        self._data = b""
        self._warned = False

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into the start of `buffer` and return their number; 0 at the end."""
        while len(buffer):
            if self._decoder is None and not self._start():
                return 0
            if not self._data and self._decoder.needs_input:
                self._data = self._file.read(PACKED_BYTES)
                if not self._data:
                    raise EOFError
            found = self._decoder.decompress(self._data, len(buffer))
            self._data = b""
            if self._decoder.eof:
                self._data, self._decoder = self._decoder.unused_data, None
            if found:
                buffer[: len(found)] = found
                return len(found)
        return 0

    def _start(self) -> bool:
        """Begin the next stream, if there is one; xz may have zeros between streams."""
        while len(self._data) <= len(ZSTD_FRAME) and (more := self._file.read(PACKED_BYTES)):
            self._data += more
            if self._packing == "xz":
                self._data = self._data.lstrip(b"\0")
        if self._packing == "xz":
            self._data = self._data.lstrip(b"\0")
        if not self._data:
            return False
        self._decoder = STREAMS[self._packing]()
        start, flags = self._data[: len(ZSTD_FRAME)], self._data[len(ZSTD_FRAME) : len(ZSTD_FRAME) + 1]
        if self._packing == "zst" and start == ZSTD_FRAME and flags and not flags[0] & ZSTD_CHECKSUM:
            self._warn()
        return True

    def _warn(self) -> None:
        if not self._warned:
            warnings.warn(
                f"{self._name} was compressed without a checksum, so damage may go unnoticed; compress it again with "
                f"the program zstd, which adds one.",
                DataWarning,
                stacklevel=2,
            )
        self._warned = True


PLAUSIBLE = 1 << 20  # so many items are accepted whatever the size of the file


def check_count(file: InputFile, count: float, what: str) -> None:
    """Refuse a `count` of items that is too large for a file of this size, before memory is allocated for them.

    A number in a damaged file may be anything; the memory that reading takes must be in proportion to the file.
    """
    if count > max(PLAUSIBLE, file.taken):
        raise DataError(
            f"{file.name}: found {count:,.0f} {what} in {file.taken:,} bytes, wanted numbers that fit the file; "
            f"correct them, or write the file again."
        )


def read_blocks(file: InputFile, block_bytes: int | None = None, *, keep: bool = False) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of `file` in runs of whole lines; only the last may lack its newline.

    A block is a view of one buffer, which the next block overwrites; with `keep`, each block has its own buffer. The
    buffer grows if a line needs more than `block_bytes`, by default the file's own `block_bytes`.
    """
    block_bytes = block_bytes or file.block_bytes
    buffer = np.empty(block_bytes, dtype=np.uint8)
    filled = 0
    while got := file.readinto(buffer.data[filled:]):
        filled += got
        if filled < len(buffer):
            continue
        end = _end_of_lines(buffer)
        if end:
            yield buffer[:end]
            rest = buffer[end:].copy()
            filled = len(rest)
            if keep:
                buffer = np.empty(max(block_bytes, 2 * filled), dtype=np.uint8)
            buffer[:filled] = rest
        else:
            buffer = np.concatenate([buffer, np.empty_like(buffer)])
    if filled:
        yield buffer[:filled]


def _end_of_lines(buffer: NDArray[np.uint8]) -> int:
    """The end of the last whole line, or 0."""
    end, reach = len(buffer), 1 << 12
    while end:
        start = max(end - reach, 0)
        newline = buffer[start:end].tobytes().rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, reach = start, 8 * reach
    return 0


def check_output(path: PathLike) -> None:
    """Raise `DataError` if `open_output` could not write to `path`; call this before a long computation."""
    if path == "-":
        return
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise cannot_write(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not final.parent.exists():
        raise cannot_write(path, FileNotFoundError(errno.ENOENT, f"there is no directory {final.parent}"))
    if not final.parent.is_dir():
        raise cannot_write(path, NotADirectoryError(errno.ENOTDIR, f"{final.parent} is not a directory"))
    direct = final.exists() and not final.is_file()
    if (final.exists() and not os.access(final, os.W_OK)) or not (direct or os.access(final.parent, os.W_OK | os.X_OK)):
        raise cannot_write(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


@contextmanager
def open_output(path: PathLike) -> Iterator[BinaryIO]:
    """Open `path` for writing bytes, in a ``with`` statement.

    The bytes are compressed if the suffix names a compression. The file appears under its name only when the ``with``
    statement ends without an error. `-` is standard output.
    """
    if path == "-":
        with _standard_output() as file:
            yield file
        return
    compression = COMPRESSED.get(Path(path).suffix.lower())
    with atomic_output(path) as file:
        if compression is None:
            yield file
            return
        from xopen import xopen

        if compression == "zst":
            compressed = _checksummed_zstd(file)
        else:
            compressed = xopen(file, "wb", threads=0, format=compression)
        try:
            yield compressed
            compressed.close()
            if compression == "zst" and file.seekable() and file.tell() == 0:
                file.write(_empty_zstd())  # the library writes no bytes at all, and then cannot read them
        except BaseException:
            with suppress(Exception):
                compressed.close()
            raise


def _zstd_options() -> dict[Any, int]:
    """Options for writing: a checksum, which the library does not add by default."""
    parameters = _zstd().CompressionParameter
    return {parameters.checksum_flag: 1, parameters.compression_level: 3}


def _checksummed_zstd(file: BinaryIO) -> Any:
    return io.BufferedWriter(_zstd().open(file, "wb", options=_zstd_options()))


def _empty_zstd() -> bytes:
    return bytes(_zstd().compress(b"", options=_zstd_options()))


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # replaced by an object in memory
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # A separate buffer: after a failed write, the interpreter would flush the one of `sys.stdout` again at exit.
    file = open(descriptor, "wb", closefd=False)  # noqa: SIM115
    try:
        yield file
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise cannot_write("standard output", error) from error
    finally:
        with suppress(OSError):
            file.close()
