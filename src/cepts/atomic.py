"""Files that are written completely or not at all."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cepts.errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# Inside a block of `together`: the files that are complete, each with its final path.
_waiting: ContextVar[list[tuple[Path, Path]] | None] = ContextVar("waiting", default=None)


def cannot_write(name: object, error: OSError) -> DataError:
    """Return the error that says that `name` could not be written, and why."""
    return DataError(f"cannot write {name}: {error.strerror or error}.")


class _NamedFile(io.FileIO):
    """A file that is named in the error when a write to it fails, because several files may be open at once."""

    def write(self, data: ReadableBuffer) -> int:
        """Write bytes."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.name) from error


@contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write to a temporary file next to `path`, and rename it to `path` when it is complete.

    If anything goes wrong before that, including Ctrl-C and a full disk, the temporary file is removed and an
    existing file stays as it was. A path that is not a regular file (a device, a named pipe) cannot be replaced and
    is written directly. An error of the operating system becomes a `DataError`; a broken pipe is raised as it is.
    """
    final = Path(os.path.realpath(path))
    direct = final.exists() and not final.is_file()
    written = final if direct else final.with_name(f".{final.name[:80]}.{secrets.token_hex(4)}.tmp")
    try:
        if not direct and final.exists() and not os.access(final, os.W_OK):
            raise PermissionError(13, "Permission denied", str(final))
        file = io.BufferedWriter(_NamedFile(str(written), "wb" if direct else "xb"))
        try:
            yield file
            file.close()
            waiting = _waiting.get()
            if waiting is not None and not direct:
                waiting.append((written, final))
            elif not direct:
                _place(written, final)
        except BaseException:
            with suppress(OSError):
                file.close()
            if not direct:
                written.unlink(missing_ok=True)
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        # An error with another file's name comes from that file, not from this one.
        if error.filename is not None and os.fspath(error.filename) not in {str(final), str(written)}:
            raise
        raise cannot_write(os.fspath(path), error) from error


@contextmanager
def together() -> Iterator[None]:
    """Rename the temporary files of all outputs at the end of the block, or none of them if one fails.

    The last bytes of a file are written when it is closed, so a full disk may show only after other files are complete.
    """
    files: list[tuple[Path, Path]] = []
    outer = _waiting.set(files)
    try:
        yield
        for written, final in files:
            try:
                _place(written, final)
            except OSError as error:
                raise cannot_write(final, error) from error
    finally:
        _waiting.reset(outer)
        for written, _ in files:
            with suppress(OSError):
                written.unlink(missing_ok=True)


def _place(written: Path, final: Path) -> None:
    if final.exists():
        written.chmod(final.stat().st_mode & 0o7777)
    written.replace(final)
