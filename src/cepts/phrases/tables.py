"""What the tables share: how they are kept in files, and the codes that stand for words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.errors import ModelError
from cepts.store import Model, load_table, save_table

ENGLISH = Path(__file__).parent / "english"
HASH_START, HASH_PRIME, LARGEST = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def code_of(text: str) -> int:
    """The 64-bit code of a word or phrase as it is written (FNV-1a, with its high half mixed into the low one)."""
    code = HASH_START
    for byte in text.encode("utf-8", "surrogateescape"):
        code = (code ^ byte) * HASH_PRIME & LARGEST
    return code ^ code >> 32


def codes_of(texts: Iterable[str]) -> NDArray[np.uint64]:
    """The code of each text."""
    return np.array([code_of(text) for text in texts], dtype=np.uint64)


def numbers_of(tokens: Iterable[str], codes: NDArray[np.uint64], longest: int = 1) -> NDArray[np.int32]:
    """The place of each span of up to `longest` tokens among sorted `codes`.

    `[i, l - 1]` is that of the span [i, i + l); -1 where it is not known or leaves the sentence.
    """
    from cepts.kernels.paraphrases import number_spans

    encoded = [token.encode("utf-8", "surrogateescape") for token in tokens]
    numbers = np.empty((len(encoded), longest), dtype=np.int32)
    offsets = offsets_of([len(token) for token in encoded])
    number_spans(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets, codes, numbers)
    return numbers


def shipped(name: str) -> Path:
    """The file of an English table that comes with the package."""
    return ENGLISH / f"{name}.safetensors"


Restored = TypeVar("Restored")


def read_table(path: str | os.PathLike[str], kind: str, restore: Callable[[Model], Restored]) -> Restored:
    """What `restore` makes of a file that `cepts.store.save_table` wrote."""
    if Path(path).parent == ENGLISH:
        remedy = f"install cepts again, or make the file anew with resources/make_{kind}.py"
    else:
        remedy = f"save it again (resources/make_{kind}.py makes the English one)"
    model = load_table(path, kind=kind, remedy=remedy)
    try:
        return restore(model)
    except KeyError as error:
        raise ModelError(f"{path} has no {error.args[0]}, so another version of cepts wrote it; {remedy}.") from None


class StoredTable:
    """A table of one language, which is stored as arrays; those of a dataclass are its fields."""

    kind: ClassVar[str]

    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file holds: counts, in the smallest type that holds them, in place of offsets."""
        arrays = {}
        for field in fields(self):  # type: ignore[arg-type]
            array = getattr(self, field.name)
            if field.name.endswith("offsets"):
                array = np.diff(array)
                array = array.astype(np.min_scalar_type(array.max(initial=0)))
            arrays[_stored_name(field.name)] = array
        return arrays

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The table of the arrays that `stored` gave."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        found = ((name, arrays[_stored_name(name)]) for name in names)
        return cls(*(offsets_of(array) if name.endswith("offsets") else array for name, array in found))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to one file; the same table gives the same bytes."""
        save_table(path, kind=self.kind, settings={}, arrays=self.stored())

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """The table that `save` wrote; without a path, the English one that comes with the package."""
        return read_table(path or shipped(cls.kind), cls.kind, lambda model: cls.restored(model.arrays))


def _stored_name(field: str) -> str:
    return field.replace("offsets", "counts")
