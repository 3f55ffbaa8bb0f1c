"""Files of tables, taggers and lists of words: arrays and settings in one file, and codes that stand for words."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.atomic import atomic_output
from cepts.data import offsets_of
from cepts.errors import DataError

__all__ = ["codes_of", "exact_codes_of", "packed", "read_table", "shipped", "write_table"]

FORMAT = "cepts table"
ENGLISH = Path(__file__).parent / "english"


def packed(tokens: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the tokens, one after the other, and where each starts."""
    encoded = [token.encode("utf-8", "surrogateescape") for token in tokens]
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets_of([len(token) for token in encoded])


def exact_codes_of(tokens: Iterable[str]) -> NDArray[np.uint64]:
    """The code of each token as it is written."""
    from cepts.kernels.paraphrases import word_codes

    data, offsets = packed(tokens)
    codes = np.empty(len(offsets) - 1, dtype=np.uint64)
    word_codes(data, offsets, codes)
    return codes


def codes_of(tokens: Iterable[str]) -> NDArray[np.uint64]:
    """The code of each token in lower case."""
    return exact_codes_of(token.lower() for token in tokens)


def shipped(name: str) -> Path:
    """The file of an English table that comes with the package."""
    return ENGLISH / f"{name}.safetensors"


def write_table(
    path: str | os.PathLike[str], kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays and JSON settings to one file, whole or not at all; the same content gives the same bytes."""
    from safetensors.numpy import save

    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {"format": FORMAT, "kind": kind, "settings": dict(settings), "sha256": _digest(plain)}
    data = save(plain, metadata={"table": json.dumps(header, allow_nan=False)})
    with atomic_output(path) as file:
        file.write(data)


def read_table(
    path: str | os.PathLike[str], kind: str, names: Sequence[str]
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """The settings and the arrays `names` of a file that `write_table` wrote, checked to the last byte."""
    from safetensors import SafetensorError, safe_open

    if Path(path).parent == ENGLISH:
        remedy = f"install cepts again, or make the file anew with resources/make_{kind}.py"
    else:
        remedy = f"save it again (resources/make_{kind}.py makes the English one)"
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("table", "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}); {remedy}.") from error
    except (SafetensorError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is damaged (it is not a safetensors file); {remedy}.") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT or not isinstance(header.get("settings"), dict):
        raise DataError(f"{path} is not a table of cepts; {remedy}.")
    if header.get("kind") != kind:
        raise DataError(f"{path} holds {header.get('kind')}, not {kind}; {remedy}.")
    if header.get("sha256") != _digest(arrays):
        raise DataError(f"{path} is damaged (its checksum differs); {remedy}.")
    if missing := [name for name in names if name not in arrays]:
        raise DataError(f"{path} has no {missing[0]}, so another version of cepts wrote it; {remedy}.")
    return header["settings"], [arrays[name] for name in names]


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()
