"""Opening files, plain or compressed, and reading them in blocks of whole lines."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.atomic import atomic_output, cannot_write
from cepts.errors import DataError, UsageError
from cepts.progress import Progress, Step, silent

PathLike: TypeAlias = str | os.PathLike[str]

BLOCK_BYTES = 1 << 22  # about 700 thousand tokens: few calls, and small buffers
COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
BOM = b"\xef\xbb\xbf"
EMPTY_ZSTD = bytes.fromhex("28b52ffd2000010000")  # a frame of no bytes


def bare_suffixes(path: PathLike) -> list[str]:
    """Suffixes of `path` in lower case, without one that names a compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes


def last_suffix(path: PathLike) -> str:
    """The last of `bare_suffixes`, or the empty string."""
    return (bare_suffixes(path) or [""])[-1]


def name_of(path: PathLike, standard: str = "standard input") -> str:
    """What messages call a file; `standard` is what `-` stands for."""
    return standard if path == "-" else os.fspath(path)


def check_stdin(*paths: PathLike | None) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise UsageError("only one input can be -, standard input; name the others.")


class InputFile(io.RawIOBase):
    """The bytes of a file, decompressed by its name or its first bytes; `-` is standard input.

    Each failure, even in the middle of a damaged file, is a DataError of one line. `report` tells `progress` how much
    was read; `before` and `after` count the bytes of other files that are read with this one. Readers take
    `block_bytes` at a time.
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
        self._disk: Any = None
        self._file: Any = None
        try:
            self._disk = sys.stdin.buffer if self.path == "-" else open(self.path, "rb")  # noqa: PTH123, SIM115
        except OSError as error:
            raise DataError(f"cannot read {self.name}: {error.strerror or error}") from error
        try:
            self._file = self._decompressed()
        except BaseException:
            self.close()
            raise
        self.size = 0
        if self.path != "-" and Path(self.path).is_file():
            self.size = os.fstat(self._disk.fileno()).st_size

    def _decompressed(self) -> Any:
        # Imported here because it loads every compression library there is. Without its helper programs and
        # threads, processor time and failures are those of this process.
        from xopen import xopen

        if hasattr(self._disk, "peek") and not self._reading(self._disk.peek, 1):
            return self._disk  # an empty file is empty in any compression, but some decompressors refuse it
        # Path.suffix, unlike xopen, also knows "X.GZ".
        suffix = "" if self.path == "-" else Path(self.path).suffix.lower()
        return self._reading(xopen, self._disk, "rb", threads=0, format=COMPRESSED.get(suffix))

    def _reading(self, function: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except OSError as error:
            raise DataError(f"cannot read {self.name}: {error.strerror or error}") from error
        except EOFError as error:
            raise DataError(
                f"{self.name} ends in the middle of its compressed data; copy or download it again."
            ) from error
        except Exception as error:  # each decompressor has a class of its own
            raise DataError(f"{self.name} is damaged: {error}; copy or download it again.") from error

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as the file gives bytes; 0 at the end."""
        if self._head:
            count = min(len(buffer), len(self._head))
            buffer[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        return self._reading(self._file.readinto, buffer) or 0

    def fill(self, buffer: memoryview) -> int:
        """Fill `buffer`, and give the number of bytes read; fewer than asked for only at the end of the file."""
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
        """The next `count` bytes, or as many as there are, which will be read again."""
        head = self.read_fully(count)
        self.unread(head)
        return head

    def first_line(self) -> bytes:
        """The first line that is not blank (or nothing), without its newline; it will be read again."""
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
        """Pass over a byte-order mark."""
        if self.peek(len(BOM)) == BOM:
            self.read_fully(len(BOM))

    @property
    def plain(self) -> bool:
        """Whether the bytes are those on the disk, not compressed."""
        return self._file is self._disk

    def disk_position(self) -> int:
        """How many bytes have been taken from the disk, of `size`."""
        return self._disk.tell() if self.size else 0

    def report(self) -> None:
        """Tell `progress` how much has been read, in bytes on disk."""
        total = self.before + self.size + self.after
        self.progress(Step(stage="reading", done=self.before + self.disk_position(), total=total))

    def close(self) -> None:
        """Close the file, but not standard input."""
        if not self.closed and self.path != "-":
            for file in (self._file, self._disk):
                if file is not None:
                    file.close()
        super().close()


def read_blocks(file: InputFile, block_bytes: int | None = None) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of `file` in runs of whole lines; only the last may lack its newline.

    A block is a view of one buffer that the next block overwrites. The buffer grows where a line needs more
    than `block_bytes`, by default those of the file.
    """
    buffer = bytearray(block_bytes or file.block_bytes)
    filled = 0
    while got := file.readinto(memoryview(buffer)[filled:]):
        filled += got
        if filled < len(buffer):
            continue
        end = buffer.rfind(b"\n") + 1
        if end:
            yield np.frombuffer(buffer, dtype=np.uint8, count=end)
            buffer[: filled - end] = buffer[end:filled]
            filled -= end
        else:
            buffer = buffer + bytearray(len(buffer))
    if filled:
        yield np.frombuffer(buffer, dtype=np.uint8, count=filled)


def check_output(path: PathLike) -> None:
    """Raise `DataError` where `open_output` would refuse `path`; for use before a long computation."""
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
    """Open `path` for bytes: compressed by its suffix, in place only after a clean end.

    `-` is standard output.
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

        compressed = xopen(file, "wb", threads=0, format=compression)
        try:
            yield compressed
            compressed.close()
            if compression == "zst" and file.seekable() and file.tell() == 0:
                file.write(EMPTY_ZSTD)  # which the library leaves out, and then cannot read
        except BaseException:
            with suppress(Exception):
                compressed.close()
            raise


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # replaced by an object in memory
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # A separate buffer: after a failed write, the interpreter would flush that of `sys.stdout` again when it exits.
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
