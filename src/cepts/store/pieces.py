"""Pieces: named sets of arrays that the tasks of a large job leave for one another, in memory or in files.

A file is written beside its place and renamed, so a piece is there completely or not at all. It is a safetensors file
whose metadata hold the settings and checksums of each array, block by block. A process checks each block the first time
it reads something of it, unless it wrote it itself: what a crash of the machine left unwritten is found, and made again
by whoever needs it. Who reads a part of an array reads and checks only the blocks that it touches.

Files are mapped into memory, not read, because in each iteration tasks go through all of them: copying them would take
as long as the work on them.

Most pieces are dropped soon, and many of them before the system has written them to the disk. Nobody waits for that,
except for the pieces from which a job continues: these are flushed before those before them are dropped.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.atomic import atomic_output, remove_leftovers
from cepts.errors import DataError, ModelError
from cepts.store.directory import LENGTH_BYTES, METADATA, SUFFIX, flush_to_disk
from cepts.store.header import checked_header, header_of, plain_arrays, reason, sealed

CHECKED_AT_A_TIME = 1 << 24  # bytes
# Arrays start at multiples of this in files that are mapped, as those in memory do.
ALIGNMENT = 64
# A block has at least so many bytes, and an array at most so many blocks, because their checksums are in the head.
SMALLEST_BLOCK = 1 << 16
MOST_BLOCKS = 1 << 10
REMEDY = "delete it, and run the same command again"
# No space, no quota, and a limit of the shell.
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
# Names of types in safetensors files.
TYPES = {
    "bool": "BOOL",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float32": "F32",
    "float64": "F64",
}

Settings = Mapping[str, Any]


class PieceError(ModelError):
    """A piece is missing or damaged; `name` is its name on the shelf."""

    def __init__(self, name: str, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.name, self.missing = name, missing

    def __reduce__(self) -> tuple[Any, ...]:
        return _piece_error, (self.name, str(self), self.missing)


def _piece_error(name: str, message: str, missing: bool) -> PieceError:
    return PieceError(name, message, missing=missing)


class Piece(Mapping[str, NDArray[Any]]):
    """One piece: arrays by name, which must not be changed, and `settings` (JSON values)."""

    settings: dict[str, Any]

    @abstractmethod
    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Rows `start` to `stop` (exclusive) of an array."""

    def check(self) -> None:
        """Raise `PieceError` if an array is damaged."""


class Shelf(ABC):
    """Where pieces are kept. Names may contain slashes."""

    @abstractmethod
    def put(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece, or replace the one that has this name."""

    def put_away(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece as `put` does. It will stay for long, so where memory is scarce it should leave memory first."""
        self.put(name, arrays, **settings)

    def commit(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece as `put` does, and such that it survives a crash of the machine, or the one that it replaces."""
        self.put(name, arrays, **settings)

    @abstractmethod
    def get(self, name: str) -> Piece:
        """A piece; raises `PieceError` if there is none, or if its file is damaged."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Remove a piece, or all pieces whose names start with `name` and a slash; there may be none."""

    def has(self, name: str) -> bool:
        """Whether there is an undamaged piece of this name."""
        try:
            self.get(name).check()
        except PieceError:
            return False
        return True

    def holds(self, name: str) -> bool:
        """Whether there is a piece of this name, whose arrays may be damaged: it is not read but for its head."""
        try:
            self.get(name)
        except PieceError:
            return False
        return True

    def flush(self, *names: str) -> None:
        """Make sure that pieces survive a crash of the machine: those of these names, and all below them (see `drop`).

        It does not matter who has put them there.
        """

    def sweep(self) -> None:
        """Remove what processes that were killed left half-written."""

    def close(self) -> None:
        """Remove what nobody will ask for again."""


def at_or_under(name: str, names: Iterable[str]) -> list[str]:
    """`name` and all names that start with it and a slash, as far as they are among `names`."""
    return [found for found in names if found == name or found.startswith(f"{name}/")]


# -- in memory ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Held(Piece):
    held: dict[str, NDArray[Any]]
    settings: dict[str, Any]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.held[name]

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        return self.held[name][start:stop]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class MemoryShelf(Shelf):
    """Keeps pieces in memory, without copying their arrays."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Held] = {}

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece."""
        self._pieces[name] = _Held(dict(arrays), settings)

    def get(self, name: str) -> Piece:
        """A piece."""
        try:
            return self._pieces[name]
        except KeyError:
            raise PieceError(name, f"there is no piece {name}.", missing=True) from None

    def drop(self, name: str) -> None:
        """Remove a piece, or all whose names start with `name` and a slash."""
        for found in at_or_under(name, self._pieces):
            del self._pieces[found]

    def remove(self, name: str) -> None:
        """Remove this piece alone."""
        self._pieces.pop(name, None)


# -- in files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The head of a file, and which blocks of its arrays have not been found undamaged yet."""

    identity: tuple[int, int]
    settings: dict[str, Any]
    index: dict[str, dict[str, Any]]
    start: int
    unchecked: dict[str, set[int]]


def map_file(path: Path) -> mmap.mmap:
    """Map a file into memory, so that whoever writes to it changes a copy: kernels are compiled for such arrays."""
    # A Python file would take several times as long, and there are thousands of mappings.
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return mmap.mmap(file, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(file)


@dataclass(slots=True, eq=False)
class _Filed(Piece):
    """A piece in a file, which is mapped when the first of its arrays is asked for."""

    name: str
    path: Path
    known: _Known
    data: NDArray[np.uint8] | None = None

    @property
    def settings(self) -> dict[str, Any]:  # type: ignore[override]
        return self.known.settings

    def __getitem__(self, name: str) -> NDArray[Any]:
        entry = self.known.index[name]
        return self._read(name, entry, 0, int(np.prod(entry["shape"]))).reshape(entry["shape"])

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        entry = self.known.index[name]
        width = int(np.prod(entry["shape"][1:]))
        found = self._read(name, entry, start * width, (stop - start) * width)
        return found.reshape(stop - start, *entry["shape"][1:])

    def __iter__(self) -> Iterator[str]:
        return iter(self.known.index)

    def __len__(self) -> int:
        return len(self.known.index)

    def check(self) -> None:
        for name, blocks in self.known.unchecked.items():
            size = self.known.index[name]["block"]
            for block in sorted(blocks):
                self._bytes(name, block * size, (block + 1) * size)

    def _read(self, name: str, entry: dict[str, Any], first: int, count: int) -> NDArray[Any]:
        dtype = np.dtype(entry["dtype"])
        found = self._bytes(name, first * dtype.itemsize, (first + count) * dtype.itemsize)
        if len(found) != count * dtype.itemsize:
            raise self._damaged("it is too short")
        return found.view(dtype)

    def _bytes(self, name: str, start: int, stop: int) -> NDArray[np.uint8]:
        """Some bytes of an array, fewer where it ends; blocks that have not been checked are checked as a whole."""
        entry, unchecked = self.known.index[name], self.known.unchecked.get(name, set())
        size, end = entry["block"], entry["bytes"]
        touched = range(start // size, -(-stop // size)) if start < stop else ()
        blocks = [block for block in touched if block in unchecked]
        first, last = (start // size * size, -(-stop // size) * size) if blocks else (start, stop)
        before = self.known.start + entry["offset"]
        found = self._stretch(before + first, before + min(last, end))
        for block in blocks:
            part = found[block * size - first : (block + 1) * size - first]
            if checksum(part) != entry["checksums"][block]:
                raise self._damaged(f"the checksum of {name} differs")
            unchecked.discard(block)
        return found[start - first : stop - first]

    def _stretch(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Bytes `start` to `stop` (exclusive) of the file, fewer where it ends."""
        try:
            if os.name == "nt":  # where a mapped file can be neither removed nor replaced
                return np.fromfile(self.path, np.uint8, stop - start, offset=start)
            if self.data is None:
                self.data = np.frombuffer(map_file(self.path), np.uint8)
        except OSError as error:
            raise self._damaged(reason(error)) from error
        return self.data[start:stop]

    def _damaged(self, why: str) -> PieceError:
        return PieceError(self.name, f"{self.path} is damaged ({why}); {REMEDY}.")


class DiskShelf(Shelf):
    """Keeps pieces in the files of a directory, which is made if it does not exist.

    Parameters
    ----------
    directory
        Where the files are.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        # What this process knows of the files of pieces, by name.
        self._known: dict[str, _Known] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return DiskShelf, (self.directory,)

    def path_of(self, name: str) -> Path:
        """The file of a piece."""
        return self.directory / f"{name}{SUFFIX}"

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Write a piece to its file."""
        self._put(name, arrays, settings, at_once=False)

    def commit(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Write a piece to its file, and wait until it is on the disk."""
        self._put(name, arrays, settings, at_once=True)

    def _put(self, name: str, arrays: Mapping[str, NDArray[Any]], settings: Settings, *, at_once: bool) -> None:
        plain = plain_arrays(arrays)
        path = self.path_of(name)
        head, index = _head(plain, settings)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_output(path) as file:
                file.write(head)
                for array in plain.values():
                    file.write(bytes(_gap(file.tell())))
                    file.write(_bytes_of(array).data)
                if at_once:
                    file.flush()
                    os.fsync(file.fileno())
            if at_once:
                flush_to_disk(path.parent)  # which has its name
            known = _Known(_identity(path), json.loads(json.dumps(settings)), index, len(head), {})
            self._known[name] = known
        except (OSError, DataError) as error:
            raise self._not_written(path, error) from error

    def get(self, name: str) -> Piece:
        """A piece, whose arrays are read when they are asked for."""
        path = self.path_of(name)
        try:
            identity = _identity(path)
            known = self._known.get(name)
            if known is None or known.identity != identity:
                known = self._known[name] = _read_head(name, path, identity)
        except FileNotFoundError as error:
            raise PieceError(name, f"{path} is missing; run the same command again.", missing=True) from error
        except OSError as error:
            raise PieceError(name, f"{path} cannot be read ({reason(error)}).") from error
        return _Filed(name, path, known)

    def _not_written(self, path: Path, error: OSError | DataError) -> ModelError:
        cause = error if isinstance(error, OSError) else error.__cause__
        why = reason(cause) if isinstance(cause, OSError) else str(error).rstrip(".")
        again = "run the same command again to continue"
        if not isinstance(cause, OSError) or cause.errno not in FULL:
            return ModelError(f"{path} cannot be written ({why}); put this right, then {again}.")
        return ModelError(f"the disk of {self.directory} is full ({path.name}: {why}); free some space, then {again}.")

    def flush(self, *names: str) -> None:
        """Make sure that the files of pieces, and of all below them, are on the disk."""
        for name in names:
            path, folder = self.path_of(name), self.directory / name
            files = [*([path] if path.exists() else []), *folder.rglob(f"*{SUFFIX}")]
            try:
                # A renamed file needs its directory, too.
                for place in [*files, *{file.parent for file in files}]:
                    with suppress(FileNotFoundError):  # somebody has dropped it
                        flush_to_disk(place)
            except OSError as error:
                raise self._not_written(path, error) from error

    def sweep(self) -> None:
        """Remove temporary files that processes left when they were killed."""
        remove_leftovers(self.directory)

    def drop(self, name: str) -> None:
        """Remove the files of a piece, or of all whose names start with `name` and a slash."""
        self.path_of(name).unlink(missing_ok=True)
        shutil.rmtree(self.directory / name, ignore_errors=True)
        for found in at_or_under(name, self._known.copy()):
            self._known.pop(found, None)


def _identity(path: Path) -> tuple[int, int]:
    """Changes whenever the file is replaced."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def _read_head(name: str, path: Path, identity: tuple[int, int]) -> _Known:
    """The head of a file that another process wrote."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if length > os.fstat(file.fileno()).st_size:
            raise PieceError(name, f"{path} is damaged (it is too short); {REMEDY}.")
        head = file.read(length)
    try:
        header = checked_header(json.loads(head)["__metadata__"][METADATA].encode(), path, REMEDY)
        unchecked = {name: set(range(len(entry["checksums"]))) for name, entry in header["arrays"].items()}
        return _Known(identity, header["settings"], header["arrays"], LENGTH_BYTES + length, unchecked)
    except (ValueError, KeyError, TypeError, AttributeError, ModelError) as error:
        raise PieceError(name, f"{path} is damaged (its head cannot be read); {REMEDY}.") from error


def _head(arrays: Mapping[str, NDArray[Any]], settings: Settings) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """The start of a safetensors file, up to its arrays, and the index of these."""
    described, spans, offset = {}, {}, 0
    for name, array in arrays.items():
        if gap := _gap(offset):  # which the format does not allow
            spans[f"before {name}"] = {"dtype": "U8", "shape": [gap], "data_offsets": [offset, offset + gap]}
        offset += gap
        shape, end = list(array.shape), offset + array.nbytes
        spans[name] = {"dtype": TYPES[str(array.dtype)], "shape": shape, "data_offsets": [offset, end]}
        data, block = _bytes_of(array), max(SMALLEST_BLOCK, 1 << (array.nbytes // MOST_BLOCKS).bit_length())
        described[name] = {
            **{"dtype": str(array.dtype), "shape": shape, "offset": offset, "bytes": array.nbytes, "block": block},
            "checksums": [checksum(data[start : start + block]) for start in range(0, array.nbytes, block)],
        }
        offset = end
    header = {**header_of("piece", settings, {}), "arrays": described}
    text = json.dumps({"__metadata__": {METADATA: sealed(header).decode("ascii")}, **spans}).encode("ascii")
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    return len(text).to_bytes(LENGTH_BYTES, "little") + text, described


def _gap(end: int) -> int:
    """How many bytes follow what ends here, so that the next array starts at a multiple of `ALIGNMENT`."""
    return -end % ALIGNMENT


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def checksum(array: NDArray[Any]) -> int:
    """A checksum of the bytes of a contiguous array and of their number, of 64 bits."""
    from cepts.kernels.fingerprint import fingerprint

    data = _bytes_of(array)
    found = 0
    for start in range(0, len(data), CHECKED_AT_A_TIME):
        block = data[start : start + CHECKED_AT_A_TIME]
        whole = len(block) // 8 * 8
        rest = np.zeros(8, dtype=np.uint8)
        rest[: len(block) - whole] = block[whole:]
        words = block[:whole].view(np.uint64) if block.ctypes.data % 8 == 0 else block[:whole].copy().view(np.uint64)
        found = int(fingerprint(words, np.uint64(found)))
        found = int(fingerprint(rest.view(np.uint64), np.uint64(found ^ len(block))))
    return found
