"""Anchor words: a start for the symmetric factorisation of counts that involves no chance (Arora et al., 2013).

An anchor word is a word of one hidden document only. The words with which it occurs are then the words with which that
hidden document occurs, and the row of any other word is a mixture of the rows of anchor words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.factor.poisson import Counts, Rows
from cepts.factor.starts import inverse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# An anchor word has at least this many times the counts of the average word: rows of rare words are mostly noise.
LEAST_COUNTS = 1.0
# Steps of EM by which rows are explained by those of anchor words.
STEPS = 10
# Share of the start that is the same for all hidden documents, so that each can still explain every word.
COMMON = 0.5


def find_anchors(matrix: csr_array, factors: int) -> NDArray[np.int64]:
    """Find words whose rows are far from all mixtures of the rows of other words.

    Arora et al. (2013), algorithm 4: rows are scaled to sum to 1; the first anchor word is the one farthest from the
    origin, and each further one the farthest from the span of those before. Rows are not projected to random dimensions
    first, and anchor words are not exchanged afterwards.

    Parameters
    ----------
    matrix
        Symmetric counts, words by words.
    factors
        How many anchor words to find, at most as many as there are words with counts.
    """
    masses = matrix.sum(axis=1, dtype=np.float64)
    candidates = np.flatnonzero(masses >= LEAST_COUNTS * masses.mean())
    if len(candidates) < factors:
        candidates = np.sort(np.argsort(-masses, kind="stable")[:factors])
    rows = matrix[candidates].astype(np.float64)
    rows.data = rows.data * np.repeat(inverse(masses[candidates]), np.diff(rows.indptr))
    left = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()  # squared distances from the span
    found: list[int] = []
    basis = np.zeros((factors, rows.shape[1]))
    for place in range(factors):
        farthest = int(left.argmax())
        found.append(farthest)
        direction = rows[[farthest]].toarray()[0]
        for _ in range(2):  # once is not enough in floating point
            direction -= (basis[:place] @ direction) @ basis[:place]
        length = np.linalg.norm(direction)
        if length > 0:
            basis[place] = direction / length
        left -= (rows @ basis[place]) ** 2
        left[farthest] = -np.inf
    return candidates[found]


def anchor_start(
    matrix: csr_array, mass: float, factors: int, threads: int | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Q and the diagonal of Z to start from: P(word | d) and the counts of each hidden document d, from anchor words.

    Arora et al. (2013), algorithm 3, with the Kullback-Leibler divergence: the row of each word is explained as a
    mixture of the rows of anchor words, by EM, which gives P(d | word); Bayes' rule turns this into P(word | d). A part
    of each P(word | d) is that of all words, because EM cannot leave a probability of 0.
    """
    anchors = find_anchors(matrix, factors)
    masses = matrix.sum(axis=1, dtype=np.float64)
    # The matrix is symmetric: the columns of anchor words are P(word | d) of a hidden document with that anchor.
    partners = (matrix[:, anchors].toarray() * inverse(masses[anchors])).astype(np.float32)
    rows = Rows(Counts.of(matrix, mass), factors, threads)
    marginals = (masses / mass).astype(np.float32)
    found, weights = np.repeat(marginals[:, None], factors, axis=1), np.full(factors, 1 / factors, dtype=np.float32)
    for _ in range(STEPS):
        expected = rows.expect(found, partners, weights, busy=(found,), long=False)
        found, weights = expected.factors, expected.weights
    return (1 - COMMON) * found + COMMON * marginals[:, None], mass * weights.astype(np.float64)
