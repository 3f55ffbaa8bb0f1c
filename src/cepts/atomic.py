"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from cepts.errors import DataError

__all__ = ["atomic_output", "cannot_write"]


def cannot_write(name: object, error: OSError) -> DataError:
    """Say in one line that `name` could not be written."""
    return DataError(f"cannot write {name}: {error.strerror or error}")


@contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write `path` beside its final place and rename it at a clean end.

    Whatever goes wrong in between, Ctrl-C and a full disk included, the new file is removed and an old one is
    left as it was. What is no regular file (a device, a named pipe) cannot be replaced and is written
    directly.

    Raises
    ------
    DataError
        Where the system refuses; a broken pipe is raised as it is.
    """
    final = Path(os.path.realpath(path))
    direct = final.exists() and not final.is_file()
    written = final if direct else final.with_name(f".{final.name[:80]}.{secrets.token_hex(4)}.tmp")
    try:
        if not direct and final.exists() and not os.access(final, os.W_OK):
            raise PermissionError(13, "Permission denied", str(final))
        file = written.open("wb" if direct else "xb")
        try:
            yield file
            file.close()
            if not direct:
                if final.exists():
                    written.chmod(final.stat().st_mode & 0o7777)
                written.replace(final)
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
