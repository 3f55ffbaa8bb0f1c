"""Tables: a model in a single file, for word lists, taggers and the like.

The header stands in the metadata of a safetensors file; its checksum covers the header, its `sha256` the arrays.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cepts.atomic import atomic_output
from cepts.errors import ModelError
from cepts.store.directory import Model
from cepts.store.header import (
    checked_header,
    descriptions,
    header_of,
    plain_arrays,
    reason,
    refuse_damaged,
    sealed,
)

METADATA = "cepts"
REMEDY = "make or save it again"


def save_table(
    path: str | os.PathLike[str], *, kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write settings and arrays, as `save_model` takes them, to one file, or leave what was there untouched.

    The same content gives the same bytes.
    """
    from safetensors.numpy import save

    plain = plain_arrays(dict(sorted(arrays.items())))
    header = {**header_of(kind, settings, plain), "sha256": _digest(plain)}
    data = save(plain, metadata={METADATA: sealed(header).decode("ascii")})
    with atomic_output(path) as file:
        file.write(data)


def load_table(path: str | os.PathLike[str], *, kind: str, remedy: str = REMEDY) -> Model:
    """Read a file that `save_table` wrote and check every byte of it.

    Raises `ModelError`, which ends with the `remedy`, where the file is missing, damaged, of a later format, or of
    another `kind`.
    """
    from safetensors import SafetensorError, safe_open

    place = Path(path)
    try:
        with safe_open(place, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({reason(error)}); {remedy}.") from error
    except (SafetensorError, ValueError, TypeError) as error:
        raise ModelError(f"{path} is damaged (it is not a safetensors file); {remedy}.") from error
    if METADATA not in metadata:
        raise ModelError(f"{path} is not a table of cepts; {remedy}.")
    header = checked_header(metadata[METADATA].encode("utf-8", "replace"), place, remedy)
    if header["kind"] != kind:
        raise ModelError(f"{path} holds {header['kind']}, not {kind}; {remedy}.")
    if descriptions(arrays) != header["arrays"]:
        refuse_damaged(place, "its arrays are not those of its header", remedy)
    if _digest(arrays) != header.get("sha256"):
        refuse_damaged(place, "its checksum differs", remedy)
    return Model(kind=kind, settings=header["settings"], arrays=arrays)


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(arrays[name].data)
    return digest.hexdigest()
