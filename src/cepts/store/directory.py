"""Model directories and tables, each written completely or not at all.

In a directory, `model.json` is the header (see `header.py`), which also has the SHA-256 of `arrays.safetensors`.
SHA-256 is fast because processors have instructions for it: 200 MB take 0.2 s. A table is a model in a single file, for
word lists, taggers and the like: its header is in the metadata of a safetensors file, with the `sha256` of the arrays.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cepts.atomic import atomic_output
from cepts.errors import ModelError
from cepts.store.header import (
    FORMAT,
    checked_header,
    descriptions,
    encoded,
    header_of,
    plain_arrays,
    reason,
    refuse_damaged,
    sealed,
)

SUFFIX = ".piece"  # of the files of a checkpoint
HEADER_NAME = "model.json"
ARRAYS_NAME = "arrays.safetensors"
MEMBER = "member"  # how the directories of models inside a model start
REMEDY = "train and save it again"


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model as it is stored in a directory: its kind, its settings (JSON values) and its arrays by name."""

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def save_model(
    directory: str | os.PathLike[str],
    *,
    kind: str,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    members: Mapping[str, Callable[[Path], None]] | None = None,
) -> None:
    """Write a model directory, or leave what was there untouched.

    The files are written into a sibling directory, which is renamed when it is complete. A model that cepts wrote is
    replaced; any other directory that is not empty is refused.

    Parameters
    ----------
    directory
        The model directory; missing parents are made.
    kind
        What the model is, such as ``"hmm"``; `load_model` can check it.
    settings
        JSON values (finite numbers, strings, lists, dictionaries with strings for keys).
    arrays
        Boolean, integer or float arrays by name.
    members
        For models that are made of others: the name of a directory inside, which starts with `MEMBER`, and what saves
        the other model there.
    """
    plain = plain_arrays(arrays)
    contents = header_of(kind, settings, plain)
    encoded(contents)  # so that settings which JSON cannot hold are found before the disk is touched
    target = Path(os.path.realpath(directory))
    check_destination(directory)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            beside.mkdir()
            for name, save in (members or {}).items():
                save(beside / name)
            _write_arrays(beside / ARRAYS_NAME, plain)
            contents["files"] = {ARRAYS_NAME: _fingerprint(beside / ARRAYS_NAME)}
            (beside / HEADER_NAME).write_bytes(sealed(contents))
            shutil.copymode(beside / HEADER_NAME, beside / ARRAYS_NAME)  # safetensors hides its file from others
            for path in (beside / ARRAYS_NAME, beside / HEADER_NAME, beside):
                flush_to_disk(path)
            _put_in_place(beside, target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise ModelError(
            f"{directory}: the model cannot be written ({reason(error)}); free some space or choose another directory."
        ) from error


def check_destination(directory: str | os.PathLike[str]) -> None:
    """Raise `ModelError` if `save_model` would refuse `directory`; call this before a long training."""
    path = Path(os.path.realpath(directory))
    try:
        if not path.exists():
            parent = next(parent for parent in path.parents if parent.exists())
            if not parent.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, f"{parent} is not a directory")
            if not os.access(parent, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, f"{parent} may not be written to")
            return
        names = sorted(entry.name for entry in path.iterdir())
        if not names or _is_model(path, names):
            return
    except OSError as error:
        raise ModelError(
            f"{directory}: no model can be saved there ({reason(error)}); choose another directory."
        ) from error
    raise ModelError(
        f"{directory} exists and is not a cepts model (it contains {names[0]}); choose another directory, or empty "
        f"this one."
    )


def load_model(directory: str | os.PathLike[str], *, kind: str | None = None) -> Model:
    """Read a model directory and check every byte of it.

    Raises `ModelError` if the directory or one of its files is missing, damaged, of a later format, or of another kind
    than `kind`.
    """
    contents = _header_of(directory, kind)
    arrays = _read_arrays(Path(directory) / ARRAYS_NAME, contents)
    return Model(kind=contents["kind"], settings=contents["settings"], arrays=arrays)


def settings_of(directory: str | os.PathLike[str], *, kind: str) -> dict[str, Any]:
    """The settings of the model that a directory holds; its arrays are not read."""
    return dict(_header_of(directory, kind)["settings"])


def kind_of(directory: str | os.PathLike[str]) -> str:
    """The kind of the model that a directory holds."""
    return str(_header_of(directory)["kind"])


def _header_of(directory: str | os.PathLike[str], kind: str | None = None) -> dict[str, Any]:
    path = Path(directory) / HEADER_NAME
    give = f"give the directory of a saved model, or {REMEDY}."
    if not path.parent.is_dir():
        found = "is not a directory" if path.parent.exists() else "does not exist"
        raise ModelError(f"{directory} {found}; {give}")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        if any(path.parent.glob(f"*{SUFFIX}")):
            raise ModelError(
                f"{directory} is a checkpoint, which is not a model that can be used on its own; {give}"
            ) from error
        raise ModelError(f"{path} is missing: this is not a model, or an incomplete one; {give}") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({reason(error)}); fix that, or {REMEDY}.") from error
    contents = checked_header(data, path, REMEDY)
    files = contents.get("files")
    if not isinstance(files, dict) or not isinstance(files.get(ARRAYS_NAME), dict):
        refuse_damaged(path, "entries are missing", REMEDY)
    if kind is not None and contents["kind"] != kind:
        raise ModelError(
            f"{directory} holds a model of kind {contents['kind']}, not {kind}; give another one, or {REMEDY}."
        )
    return contents


def _fingerprint(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": os.fstat(file.fileno()).st_size, "sha256": digest}


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file(dict(arrays), path, metadata={"format": FORMAT})
    except SafetensorError as error:
        raise OSError(" ".join(str(error).split())) from error


def flush_to_disk(path: Path) -> None:
    """Make sure that the bytes of a file, or the names in a directory, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(new: Path, target: Path) -> None:
    """Rename `new` to `target`; an existing `target` is restored if this fails, and otherwise deleted."""
    if not target.exists():
        new.rename(target)
        return
    old = target.with_name(f"{new.name}.old")
    try:
        target.rename(old)
        new.rename(target)
    finally:  # also after Ctrl-C, which may come at any line
        try:
            if old.exists() and not target.exists():
                old.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            if target.exists():
                shutil.rmtree(old, ignore_errors=True)


def _is_model(path: Path, names: list[str]) -> bool:
    """Whether cepts wrote this directory, even if it is damaged now: at most its two files, one with `FORMAT` in it.

    It may also have directories of members, which must be models too.
    """
    inside = [path / name for name in names if name.startswith(MEMBER) and (path / name).is_dir()]
    if not all(_is_model(place, sorted(entry.name for entry in place.iterdir())) for place in inside):
        return False
    names = [name for name in names if path / name not in inside]
    if not set(names) <= {HEADER_NAME, ARRAYS_NAME}:
        return False
    for name in names:
        with contextlib.suppress(OSError), (path / name).open("rb") as file:
            if FORMAT.encode() in file.read(1 << 16):
                return True
    return False


def _read_arrays(path: Path, contents: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    wanted = contents["files"][ARRAYS_NAME]
    try:
        found = _fingerprint(path)
        if found["bytes"] != wanted.get("bytes"):
            refuse_damaged(path, f"it has {found['bytes']:,} bytes, not {wanted.get('bytes')}", REMEDY)
        if found != wanted:
            refuse_damaged(path, "its checksum differs", REMEDY)
        arrays = load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing; {REMEDY}.") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({reason(error)}); fix that, or {REMEDY}.") from error
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is damaged (it is not a safetensors file); {REMEDY}.") from error
    if descriptions(arrays) != contents["arrays"]:
        refuse_damaged(path, f"its arrays are not those of {HEADER_NAME}", REMEDY)
    return {name: arrays[name] for name in contents["arrays"]}


METADATA = "cepts"
LENGTH_BYTES = 8  # of the length that opens a safetensors file; what follows is padded to a multiple
TABLE_REMEDY = "make or save it again"


def save_table(
    path: str | os.PathLike[str], *, kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model to one file, with the parameters of `save_model`; the same content gives the same bytes."""
    from safetensors.numpy import save

    plain = plain_arrays(dict(sorted(arrays.items())))
    header = {**header_of(kind, settings, plain), "sha256": _digest(plain)}
    data = save(plain, metadata={METADATA: sealed(header).decode("ascii")})
    start = int.from_bytes(data[:LENGTH_BYTES], "little") + LENGTH_BYTES
    with atomic_output(path) as file:
        file.write(_only_spelling(json.loads(data[LENGTH_BYTES:start])))
        file.write(data[start:])


def load_table(path: str | os.PathLike[str], *, kind: str, remedy: str = TABLE_REMEDY) -> Model:
    """Read a file that `save_table` wrote and check every byte of it.

    Raises `ModelError`, with a message that ends with the `remedy`, if the file is missing, damaged, of a later format,
    or of another kind than `kind`.
    """
    from safetensors import SafetensorError, safe_open

    place = Path(path)
    try:
        with safe_open(place, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        index = _index_of(place)
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
    if metadata.keys() != {METADATA} or index != _only_spelling(json.loads(index[LENGTH_BYTES:])):
        refuse_damaged(place, "its index of arrays is not as it was written", remedy)
    return Model(kind=kind, settings=header["settings"], arrays=arrays)


def _index_of(path: Path) -> bytes:
    """The bytes of a safetensors file before its arrays: a length, and JSON of that length."""
    with path.open("rb") as file:
        length = file.read(LENGTH_BYTES)
        return length + file.read(int.from_bytes(length, "little"))


def _only_spelling(index: Mapping[str, Any]) -> bytes:
    """The only form in which cepts writes an index, so that a changed byte that JSON allows (a blank) is found too."""
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")
    text += b" " * (-len(text) % LENGTH_BYTES)
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(arrays[name].data)
    return digest.hexdigest()
