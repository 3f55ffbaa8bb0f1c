"""The header of every model file: what it holds, and a checksum of the header itself.

A header is JSON: the kind, the settings, and the type and shape of each array. It is accepted only if its bytes are
exactly those that were written, so that a changed bit that JSON allows (`1E5` for `1e5`) is found too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cepts._version import __version__
from cepts.errors import ModelError

FORMAT = "cepts model"
FORMAT_VERSION = 1


def plain_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """`arrays` in C order and the machine's byte order, which is all that safetensors writes."""
    plain = {}
    for name, given in arrays.items():
        array = np.asarray(given)
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise TypeError(f"arrays must be boolean, integer or float. Got {name} of type {array.dtype} instead.")
        plain[name] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
    return plain


def descriptions(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The type and shape of each array."""
    return {name: {"dtype": str(array.dtype), "shape": list(array.shape)} for name, array in arrays.items()}


def header_of(kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """A header without checksums."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cepts": __version__,
        "kind": kind,
        "settings": dict(settings),
        "arrays": descriptions(arrays),
    }


def encoded(header: Mapping[str, Any]) -> bytes:
    """The header as JSON; raises `TypeError` or `ValueError` for settings that JSON cannot represent."""
    return (json.dumps(header, indent=2, allow_nan=False) + "\n").encode("ascii")


def sealed(header: Mapping[str, Any]) -> bytes:
    """The header as JSON, with the checksum of its own encoding as the last entry."""
    return encoded({**header, "checksum": hashlib.sha256(encoded(header)).hexdigest()})


def checked_header(data: bytes, path: Path, remedy: str) -> dict[str, Any]:
    """Return the header that `sealed` encoded; error messages name `path` and end with `remedy`."""
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is damaged (it is not JSON); {remedy}.") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        refuse_damaged(path, "it does not describe a cepts model", remedy)
    version = header.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise ModelError(
            f"{path} has format version {version}, but cepts {__version__} reads only up to version {FORMAT_VERSION}; "
            f"upgrade cepts, or {remedy}."
        )
    header.pop("checksum", None)
    try:
        intact = sealed(header) == data
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        refuse_damaged(path, "its checksum differs", remedy)
    if (
        type(version) is not int
        or version != FORMAT_VERSION
        or not isinstance(header.get("kind"), str)
        or not isinstance(header.get("settings"), dict)
        or not isinstance(header.get("arrays"), dict)
    ):
        refuse_damaged(path, "entries are missing", remedy)
    return header


def refuse_damaged(path: Path, how: str, remedy: str) -> NoReturn:
    """Refuse a file that is not as it was written."""
    raise ModelError(f"{path} is damaged ({how}); {remedy}.")


def reason(error: OSError) -> str:
    """What the operating system says."""
    return error.strerror or str(error)
