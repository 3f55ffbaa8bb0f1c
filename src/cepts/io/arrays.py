"""NumPy's .npy and .npz files, read without trusting the sizes that they announce."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, clipped, reason_of, shown
from cepts.io.files import InputFile

HEADER_BYTES = 1 << 16  # more than NumPy accepts


class _NotAnArrayError(Exception):
    """What is wrong with the bytes of an .npy file."""


def read_array(file: InputFile) -> NDArray[Any]:
    """The array of an .npy file; an uncompressed file is mapped, so only the parts in use are read from the disk.

    Raises `DataError` if the header is damaged or announces more or fewer bytes than the file has.
    """
    try:
        if not (file.plain and file.size):
            return _array_of(file.readall() or b"")
        kind, shape, order, start = _described(file.peek(HEADER_BYTES), file.size)
        if not math.prod(shape):
            return np.empty(shape, dtype=kind)
        mapped: Any = np.memmap(file.path, dtype=kind, mode="r", offset=start, shape=shape, order=order)
        return np.asarray(mapped)
    except _NotAnArrayError as error:
        raise _unreadable(file, ".npy", error) from error


def read_archive(file: InputFile) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file by name; the array of an .npy file is called ``matrix``."""
    data = file.readall() or b""
    try:
        if data.startswith(np.lib.format.MAGIC_PREFIX):
            return {"matrix": _array_of(data)}
        return {name.removesuffix(".npy"): _array_of(member) for name, member in _members(data)}
    except _NotAnArrayError as error:
        raise _unreadable(file, ".npz or .npy", error) from error


def _unreadable(file: InputFile, wanted: str, error: _NotAnArrayError) -> DataError:
    return DataError(f"{file.name}: not a readable {wanted} file of numbers ({error}); write it again.")


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """Names and bytes of the members of a zip archive; the checksum of each is verified."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(member.filename, archive.read(member)) for member in archive.infolist()]
    except Exception as error:  # zipfile passes on the exceptions of its decompressors and decoders
        raise _NotAnArrayError(reason_of(error)) from error


def _array_of(data: bytes) -> NDArray[Any]:
    kind, shape, order, start = _described(data[:HEADER_BYTES], len(data))
    # A copy, because the bytes of a member need not be aligned and cannot be written to.
    return np.frombuffer(data, dtype=kind, offset=start, count=math.prod(shape)).reshape(shape, order=order).copy()


def _described(head: bytes, size: int) -> tuple[np.dtype[Any], tuple[int, ...], Any, int]:
    """Type, shape, order and first byte of the array in a file of `size` bytes that starts with `head`."""
    stream = io.BytesIO(head)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns about what it finds in damaged headers
            version = np.lib.format.read_magic(stream)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, kind = header(stream)
    except Exception as error:  # NumPy evaluates the header as Python, which fails in many ways
        raise _NotAnArrayError(f"broken header: {reason_of(error)}") from error
    if kind.hasobject or kind.names is not None or kind.subdtype is not None or not kind.itemsize:
        raise _NotAnArrayError(f"found the type {shown(str(kind))}, wanted numbers")
    count, start = math.prod(shape), stream.tell()
    if min(shape, default=0) < 0 or count * kind.itemsize != size - start:
        raise _NotAnArrayError(
            f"the header announces {clipped(' x '.join(map(str, shape)))} values of {kind}, but {size - start:,} "
            f"bytes follow"
        )
    return kind, tuple(int(length) for length in shape), "F" if by_column else "C", start
