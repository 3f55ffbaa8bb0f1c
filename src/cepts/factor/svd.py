"""Truncated SVD of sparse counts: the latent semantic analysis that Poisson NMF replaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.factor.poisson import as_counts, check_options
from cepts.progress import Progress, Step, silent

DENSE = 400  # a matrix whose shorter side is at most this long is decomposed as a dense one
# So is one of up to this length of which more than a fourth of the vectors are wanted, which takes ARPACK longer.
MOST_DENSE = 3000
LEAST_VALUE = 1e-6  # smaller singular values, as a share of the largest, are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class SingularVectors:
    """The singular vectors of a matrix A with the largest singular values: A is approximated by U S V'.

    Novak and Mammone (2001), section 1.

    Attributes
    ----------
    words
        U, words by vectors; columns are orthonormal.
    values
        The singular values, the diagonal of S, largest first.
    """

    words: NDArray[np.float32]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)


def truncated_svd(matrix: Any, factors: int, *, progress: Progress | None = None) -> SingularVectors:
    """Find the left singular vectors of a matrix of counts that have the largest singular values.

    For a symmetric matrix of co-occurrences these are its eigenvectors; if it is A A', they are also the left singular
    vectors of A (Novak and Mammone, 2001, eq. 5). The result involves no chance. If the matrix has a lower rank than
    `factors`, there are fewer vectors.

    Parameters
    ----------
    matrix
        Non-negative counts: a sparse matrix or array of SciPy, or anything that NumPy can convert to a matrix.
    factors
        How many vectors to find, from 1 to the length of the shorter side of the matrix.
    progress
        Called from time to time; how many steps there will be is not known.

    Examples
    --------
    >>> found = truncated_svd([[3, 0], [4, 0], [0, 2]], 2)
    >>> found.values.round(2)
    array([5., 2.])
    >>> abs(found.words).round(2)
    array([[0.6, 0. ],
           [0.8, 0. ],
           [0. , 1. ]], dtype=float32)
    """
    from scipy.sparse.linalg import LinearOperator, svds

    given, _ = as_counts(matrix)
    given = given.astype(np.float64)
    check_options(factors, min(given.shape), 1, None)
    shorter = min(given.shape)
    if shorter <= DENSE or (shorter <= MOST_DENSE and factors > shorter // 4) or factors == shorter:
        words, values, _ = np.linalg.svd(given.toarray(), full_matrices=False)
        words, values = words[:, :factors], values[:factors]
    else:
        products = 0

        def count(product: NDArray[np.float64]) -> NDArray[np.float64]:
            nonlocal products
            products += 1
            if products % 100 == 0:
                step = Step(stage=f"SVD with {factors} factors", done=0, total=1, note=f"{products:,} products")
                (progress or silent)(step)
            return product

        transposed = given.T.tocsr()
        operator = LinearOperator(
            given.shape,
            matvec=lambda vector: count(given @ vector),
            rmatvec=lambda vector: count(transposed @ vector),
            dtype=np.float64,
        )
        start = np.ones(shorter)  # ARPACK would otherwise draw one
        words, values, _ = svds(operator, k=factors, v0=start, return_singular_vectors="u")
        order = np.argsort(-values, kind="stable")
        words, values = words[:, order], values[order]
    kept = values > LEAST_VALUE * values[0]
    return SingularVectors(np.ascontiguousarray(words[:, kept], dtype=np.float32), values[kept])
