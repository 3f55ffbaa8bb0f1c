"""Parameters from which a factorisation of counts starts: given ones, random ones, or columns of the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.errors import DataError
from cepts.factor.latent import as_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Weight of the random column from which a factor starts; the rest comes from all columns.
SEED = 0.3


def as_start(part: ArrayLike, length: int, factors: int) -> NDArray[np.float32]:
    """Return parameters to start from, or raise `DataError`."""
    found = as_matrix(part, "start")
    if found.shape != (length, factors):
        shape = f"{found.shape[0]} x {found.shape[1]}"
        raise DataError(
            f"`start` must have {length} x {factors} numbers, one row for each word or document. Got {shape} instead."
        )
    return found


def random_start(length: int, factors: int, seed: int) -> NDArray[np.float32]:
    """Random numbers from 0 to 1, none of them 0: a start that knows nothing about the matrix."""
    return 1 - np.random.default_rng(seed).random((length, factors), dtype=np.float32)


def seeded_start(matrix: csr_array, factors: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """W to start from, and the column sums: each factor is a random column mixed with all the others.

    Larger columns are more likely to be picked. EM needs fewer iterations from there than from pure noise, and ends
    with a higher objective.
    """
    random = np.random.default_rng(seed)
    masses = matrix.sum(axis=0, dtype=np.float64)
    waiting = np.full(len(masses), np.inf)
    np.divide(random.standard_exponential(len(masses)), masses, out=waiting, where=masses > 0)
    seeds = np.argsort(waiting, kind="stable")[:factors]
    # Noise, because identical columns would stay identical.
    words = random.standard_exponential((matrix.shape[0], factors), dtype=np.float32)
    words *= shares_of_column(matrix.sum(axis=1, dtype=np.float64)[:, None])[0]
    words *= ((1 - SEED) * inverse(words.sum(axis=0, dtype=np.float64))).astype(np.float32)
    picked = matrix[:, seeds].tocsr()
    picked.data = picked.data * (SEED * inverse(masses[seeds]))[picked.indices]
    return words + picked.toarray().astype(np.float32), masses


def shares_of_column(parts: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Scale each column to add up to 1; return the columns and their sums before scaling."""
    sums: NDArray[np.float64] = parts.sum(axis=0, dtype=np.float64)
    return (parts * inverse(sums)).astype(np.float32), sums


def inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / each sum; 0 where the sum is 0."""
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
