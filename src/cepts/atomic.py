"""Files that are written completely or not at all."""

from __future__ import annotations

import io
import os
import platform
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cepts.errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# A temporary file is called after its file, its host and its process.
TEMPORARY = re.compile(r"\..*?\.(?:(?P<host>[\w-]+)-(?P<process>\d+)\.)?[0-9a-f]{8}\.tmp")
# After so many seconds without a byte written, a temporary file is a leftover, if its process is known to have ended,
# or whatever is known of its process.
ENDED = 60.0
FORSAKEN = 3600.0
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
    written = final if direct else final.with_name(_temporary_name(final.name))
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


# -- leftovers ---------------------------------------------------------------------------------------------------------


def is_temporary(name: str) -> bool:
    """Whether a file of this name is a temporary file of `atomic_output`."""
    return TEMPORARY.fullmatch(name) is not None


def remove_leftovers(directory: str | os.PathLike[str]) -> None:
    """Remove temporary files that killed processes left in a directory or below, where files are written in one go.

    A file that somebody is still writing must stay. It is a leftover if nothing has been written to it for a minute and
    its process, on this machine, has ended; or if nothing has been written to it for an hour, because processes of
    other machines cannot be seen. Ages are taken from the clock of the file system.
    """
    with suppress(OSError):
        found = [path for path in Path(directory).rglob(".*.tmp") if is_temporary(path.name)]
        if not found:
            return
        with tempfile.TemporaryFile(dir=directory) as probe:
            now = os.fstat(probe.fileno()).st_mtime
        for path in found:
            with suppress(OSError):
                age = now - path.stat().st_mtime
                if age > FORSAKEN or (age > ENDED and _has_ended(path.name)):
                    path.unlink()


def _temporary_name(name: str) -> str:
    return f".{name[:80]}.{_host()}-{os.getpid()}.{secrets.token_hex(4)}.tmp"


@cache
def _host() -> str:
    return re.sub(r"\W", "_", platform.node(), flags=re.ASCII)[:60] or "_"


def _has_ended(name: str) -> bool:
    """Whether a temporary file's process is known to have ended."""
    found = TEMPORARY.fullmatch(name)
    if found is None or found["host"] != _host() or sys.platform == "win32":  # where `kill` would end the process
        return False
    try:
        os.kill(int(found["process"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
