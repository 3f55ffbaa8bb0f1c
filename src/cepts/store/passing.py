"""Shelves that only one process uses, and that go with it: in memory, in temporary files, or in both.

Nobody else reads these files, so they have neither a head nor checksums. Their arrays are mapped into memory, not read:
nothing is copied, and what is no longer used takes no memory.
"""

from __future__ import annotations

import contextlib
import mmap
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import ModelError
from cepts.store.header import reason
from cepts.store.pieces import ALIGNMENT, MemoryShelf, Piece, PieceError, Shelf, at_or_under, map_file


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array lies in its file."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class _Mapped(Piece):
    """A piece in a temporary file, which is mapped when the first of its arrays is asked for."""

    def __init__(self, path: Path, places: dict[str, _Place], settings: dict[str, Any]) -> None:
        self.path, self.places, self.settings = path, places, settings
        self._data: mmap.mmap | None = None

    def fresh(self) -> _Mapped:
        """The same piece, not mapped yet: memory is given back with the last array of a mapping."""
        return _Mapped(self.path, self.places, self.settings)

    def __getitem__(self, name: str) -> NDArray[Any]:
        place = self.places[name]
        return self._array(place, 0, int(np.prod(place.shape))).reshape(place.shape)

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Rows `start` to `stop` (exclusive) of an array."""
        place = self.places[name]
        width = int(np.prod(place.shape[1:]))
        return self._array(place, start * width, (stop - start) * width).reshape(stop - start, *place.shape[1:])

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def _array(self, place: _Place, first: int, size: int) -> NDArray[Any]:
        if not size:
            return np.empty(0, dtype=place.dtype)
        if self._data is None:
            self._data = map_file(self.path)
        return np.frombuffer(self._data, place.dtype, size, place.offset + first * place.dtype.itemsize)


class PassingShelf(Shelf):
    """Keeps pieces in a temporary directory, which goes when the shelf does."""

    def __init__(self, parent: str | Path | None = None) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="cepts-", dir=parent))
        self._remove = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        self._pieces: dict[str, _Mapped] = {}
        self._numbers = count()

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Write a piece to a new file."""
        path = self.directory / f"{next(self._numbers)}.piece"
        places, offset = {}, 0
        try:
            with path.open("wb") as file:
                for part, array in arrays.items():
                    plain = np.ascontiguousarray(array)
                    places[part] = _Place(offset, plain.dtype, plain.shape)
                    padding = -plain.nbytes % ALIGNMENT
                    file.write(plain.reshape(-1).view(np.uint8).data)
                    file.write(bytes(padding))
                    offset += plain.nbytes + padding
        except OSError as error:
            raise ModelError(
                f"{path} cannot be written ({reason(error)}); free some space, or set TMPDIR to a directory that has "
                f"more."
            ) from error
        before = self._pieces.get(name)
        self._pieces[name] = _Mapped(path, places, settings)
        if before is not None:
            _unlink(before)

    def get(self, name: str) -> Piece:
        """A piece, whose file is mapped when one of its arrays is asked for."""
        try:
            return self._pieces[name].fresh()
        except KeyError:
            raise PieceError(name, f"there is no piece {name}.", missing=True) from None

    def drop(self, name: str) -> None:
        """Remove the files of a piece, or of all whose names start with `name` and a slash."""
        for found in at_or_under(name, self._pieces.copy()):
            _unlink(self._pieces.pop(found))

    def close(self) -> None:
        """Remove the directory."""
        self._remove()


def _unlink(piece: _Mapped) -> None:
    # Where a mapped file cannot be removed, it goes with the directory.
    with contextlib.suppress(OSError):
        piece.path.unlink()


class SpillingShelf(Shelf):
    """Keeps pieces in memory as far as they have no more than `limit` bytes, and others in temporary files.

    The first to leave memory are those that were put away, then the oldest. So what an iteration leaves for the next
    one stays in memory, and what was made once is in files.
    """

    def __init__(self, limit: int, parent: str | Path | None = None) -> None:
        self.limit, self.parent = limit, parent
        self._held = MemoryShelf()
        # Bytes of the pieces in memory, oldest first, and which of them were put away.
        self._sizes: dict[str, int] = {}
        self._away: dict[str, None] = {}
        self._files: PassingShelf | None = None
        self._lock = Lock()

    @property
    def in_memory(self) -> bool:
        """Whether all pieces have been in memory so far."""
        return self._files is None

    def put(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece, and write those to files for which there is no more room."""
        self._put(name, arrays, settings, away=False)

    def put_away(self, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
        """Keep a piece that leaves memory before others."""
        self._put(name, arrays, settings, away=True)

    def _put(self, name: str, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any], *, away: bool) -> None:
        with self._lock:
            self._forget(name)
            self._held.put(name, arrays, **settings)
            self._sizes[name] = sum(array.nbytes for array in arrays.values())
            if away:
                self._away[name] = None
            files, leaving = self._leaving()
        if files is not None:
            # Outside the lock, so that threads can write side by side.
            for each in leaving:
                self._move(each, files)

    def get(self, name: str) -> Piece:
        """A piece."""
        try:
            return self._held.get(name)
        except PieceError:
            if self._files is None:
                raise
            return self._files.get(name)

    def drop(self, name: str) -> None:
        """Remove a piece, or all whose names start with `name` and a slash."""
        with self._lock:
            for found in at_or_under(name, self._sizes.copy()):
                self._forget(found)
            self._held.drop(name)
            if self._files is not None:
                self._files.drop(name)

    def close(self) -> None:
        """Remove all files."""
        if self._files is not None:
            self._files.close()

    def _leaving(self) -> tuple[PassingShelf | None, list[str]]:
        """Choose the oldest pieces that must leave, which no longer count as pieces in memory, and where they go."""
        leaving: list[str] = []
        excess = sum(self._sizes.values()) - self.limit
        if excess > 0 and self._files is None:
            try:
                self._files = PassingShelf(self.parent)
            except OSError:  # nowhere to write to, so everything stays in memory
                self.limit = excess = sys.maxsize
        if self._files is None:
            return None, leaving
        for name in [*self._away, *(name for name in self._sizes if name not in self._away)]:
            if excess <= 0:
                break
            excess -= self._forget(name)
            leaving.append(name)
        return self._files, leaving

    def _forget(self, name: str) -> int:
        """No longer count a piece among those in memory; returns its bytes."""
        self._away.pop(name, None)
        return self._sizes.pop(name, 0)

    def _move(self, name: str, files: PassingShelf) -> None:
        """Write a piece to a file before it leaves memory, so that it can always be found."""
        try:
            piece = self._held.get(name)
        except PieceError:  # it has been dropped
            return
        files.put(name, piece, **piece.settings)
        with self._lock:
            if name not in self._sizes:  # it has not been replaced
                self._held.remove(name)
