"""Writing association matrices."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext
from cepts.io.files import PathLike, last_suffix
from cepts.io.writer import Writer, check_pairs


class AssociationWriter(Writer):
    """Writes the association matrices of successive sentence pairs to one file, which `read_association` reads.

    Each value is written with as many digits as its float32 needs, so what is read back is the same to the last bit.

    Parameters
    ----------
    path
        A name that ends in ``.npz`` makes a NumPy archive, which is put together in memory; any other makes JSON lines,
        compressed by the suffix. `-` is standard output.
    """

    def __init__(self, path: PathLike) -> None:
        super().__init__(path)
        self.archive = last_suffix(path) == ".npz"
        self._parts: list[Association] = []

    def _finish(self, file: BinaryIO) -> None:
        if self.archive:
            file.write(_archive(self._parts))

    def write(self, association: Association, bitext_part: Bitext | None = None) -> None:
        """Write the next matrices; JSON lines show the sentences too, where `bitext_part` has them."""
        file = self._open()
        _check(association, bitext_part)
        if self.archive:
            first = self._parts[0] if self._parts else association
            if [name for name, _, _ in first.masses()] != [name for name, _, _ in association.masses()]:
                raise ValueError("all matrices of a file must have the same nulls.")
            self._parts.append(association)
            return
        for line in _lines(association, bitext_part):
            file.write(line)


def write_association(path: PathLike, association: Association, *, bitext: Bitext | None = None) -> None:
    """Write `association` to `path`, as `AssociationWriter` does."""
    with AssociationWriter(path) as writer:
        writer.write(association, bitext)


def _check(association: Association, bitext: Bitext | None) -> None:
    for _, values, _ in association.masses():
        if not np.all((values >= 0) & (values < np.inf)):
            raise ValueError("the values of an association must be finite numbers of 0 or more.")
    check_pairs(len(association), bitext)
    if bitext is None:
        return
    full = np.diff(association.offsets) > 0
    for lengths, text in (
        (association.source_lengths, bitext.source),
        (association.target_lengths, bitext.target),
    ):
        if np.any((lengths != text.lengths)[full]):
            raise ValueError("a matrix must have as many rows and columns as its sentences have words.")


def _lines(association: Association, bitext: Bitext | None) -> Iterator[bytes]:
    sides = association.masses()[1:]
    for pair in range(len(association)):
        matrix = association[pair]
        fields = []
        if bitext is not None:
            # A pair that was skipped (too long, or empty on one side) has no words here either.
            words = bitext[pair] if matrix.size else ([], [])
            fields += [
                f'"{side}": {json.dumps(tokens, ensure_ascii=False)}'
                for side, tokens in zip(("source", "target"), words, strict=True)
            ]
        fields.append(f'"matrix": [{", ".join(map(_numbers, matrix))}]')
        fields += [f'"{name}": {_numbers(null[at[pair] : at[pair + 1]])}' for name, null, at in sides]
        yield ("{" + ", ".join(fields) + "}\n").encode("utf-8", "surrogateescape")


def _numbers(values: NDArray[np.float32]) -> str:
    """A JSON list; NumPy writes the fewest digits that give the same float32 again."""
    return f"[{', '.join(values.astype(np.float32).astype(np.str_).tolist())}]"


def _archive(parts: list[Association]) -> bytes:
    whole = Association.concatenate(parts)
    arrays = {
        "values": whole.values,
        "source_lengths": whole.source_lengths,
        "target_lengths": whole.target_lengths,
        **{name: null for name, null, _ in whole.masses()[1:]},
    }
    buffer = io.BytesIO()
    # NumPy gives all members one date, so the bytes depend on the arrays alone.
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
