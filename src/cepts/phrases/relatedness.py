"""How related words are in meaning: cosines of compact word vectors (semantic relatedness, section 3.3 of semicrf)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.phrases.tables import StoredTable, codes_of, numbers_of

MEMORY = 100_000  # tokens of which the vector is kept
POSSESSIVES = ("'s", "’s", "'", "’")


@dataclass(eq=False, repr=False)
class Relatedness(StoredTable):
    """Unit vectors of words, stored as 8-bit integers.

    Make one with `from_vectors`, or `load` the English one.

    Parameters
    ----------
    codes
        The code of each word as it is written, sorted (uint64).
    matrix
        A row for each word, in the order of `codes` (int8); only its direction counts.
    """

    kind: ClassVar[str] = "vectors"

    codes: NDArray[np.uint64]
    matrix: NDArray[np.int8]

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.codes):
            shape = self.matrix.shape
            raise ValueError(f"matrix must have a row for each of {len(self.codes):,} words. Got {shape} instead.")
        self._kept: dict[str, NDArray[np.float32]] = {}

    @classmethod
    def from_vectors(cls, vectors: Vectors) -> Relatedness:
        """Relatedness by any vectors: a file of them, or one view of a fitted space."""
        codes = codes_of(vectors.words)
        order = np.argsort(codes)
        return cls(codes[order], rounded(vectors.matrix)[order])

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"Relatedness({len(self):,} words of width {self.width})"

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return int(self.matrix.shape[1])

    def rows(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        """A vector of length 1 for each token, zeros where it is not known.

        Tried in turn: the token, in lower case, without a final 's; then the mean over the known parts of a word with
        hyphens.
        """
        kept = self._kept
        new = [token for token in dict.fromkeys(tokens) if token not in kept]
        if new:
            if len(kept) + len(new) > MEMORY:
                # Other threads may hold the old one.
                kept = self._kept = {token: kept[token] for token in tokens if token in kept}
            kept.update(zip(new, self._found(new), strict=True))
        rows = np.empty((len(tokens), self.width), dtype=np.float32)
        for place, token in enumerate(tokens):
            rows[place] = kept[token]
        return rows

    def similarity(self, source_tokens: Sequence[str], target_tokens: Sequence[str]) -> NDArray[np.float32]:
        """Cosine of each source and target token, shape (I, J); 0 where one is not known."""
        return self.rows(source_tokens) @ self.rows(target_tokens).T

    def _found(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of `tokens`, looked up together."""
        tries = [_tries(token) for token in tokens]
        words = (word for turns in tries for turn in turns for word in turn)
        place = iter(numbers_of(words, self.codes)[:, 0].tolist())
        owners: list[int] = []
        found: list[int] = []
        for number, turns in enumerate(tries):
            known = [[at for at in islice(place, len(turn)) if at >= 0] for turn in turns]
            best = next(filter(None, known), [])
            owners += [number] * len(best)
            found += best
        rows = np.zeros((len(tokens), self.width), dtype=np.float32)
        np.add.at(rows, owners, _unit(self.matrix[found].astype(np.float32)))
        return _unit(rows)


def rounded(matrix: NDArray[np.floating]) -> NDArray[np.int8]:
    """Each row scaled so that its largest entry is 127, rounded to integers."""
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0).astype(np.float32)
    scaled = matrix * (np.float32(127) / np.where(largest > 0, largest, 1))
    return np.rint(scaled).astype(np.int8)


def spread_evenly(matrix: NDArray[np.floating], drop: int = 2, power: float = 0.5) -> NDArray[np.float32]:
    """Centred vectors in their principal axes, without the first `drop`, which reflect frequency rather than meaning.

    Each remaining axis is divided by its variance to the power `power` / 2: 0 leaves it, 1 gives all axes variance 1.
    """
    centred = matrix - matrix.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(centred.T @ centred / max(len(centred), 1))
    kept = slice(len(variances) - drop - 1, None, -1) if drop < len(variances) else slice(0, 0)
    scales = np.maximum(variances[kept], np.finfo(np.float64).tiny) ** (-power / 2)
    return (centred @ (axes[:, kept] * scales)).astype(np.float32)


def _tries(token: str) -> list[list[str]]:
    """Lists of words to look for, in this order; the token gets the mean vector of the first list with a known word."""
    lower = token.lower()
    turns = [[token]] if lower == token else [[token], [lower]]
    turns += [[lower.removesuffix(ending)] for ending in POSSESSIVES if lower.endswith(ending)][:1]
    if "-" in lower:
        turns.append([part for part in lower.split("-") if part])
    return turns


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
