"""Slow, plain twins of Poisson NMF and of the counts it factorises, in float64, and matrices to try them on."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]


# -- factorisation -------------------------------------------------------------------------------------------------


def objective(matrix: Array, model: Array) -> float:
    """Eq. (4) of nmf_lm."""
    seen = matrix > 0
    return float((matrix[seen] * np.log(model[seen])).sum() - model.sum())


def divergence(matrix: Array, model: Array) -> float:
    seen = matrix > 0
    return float((matrix[seen] * np.log(matrix[seen] / model[seen])).sum() - matrix.sum() + model.sum())


def explained(matrix: Array, parts: Array) -> Array:
    """What each factor has of each entry, from what it has of the model: responsibilities times counts."""
    model = parts.sum(axis=0)
    return parts * np.divide(matrix, model, out=np.zeros_like(matrix), where=matrix > 0)


def joint_step(matrix: Array, words: Array, documents: Array) -> tuple[Array, Array]:
    """EM of A_im = sum over a of W_ia H_am, each part of which is Poisson; a row of `documents` is a document."""
    found = explained(matrix, np.einsum("ia,ma->aim", words, documents))
    of_words, of_documents = found.sum(axis=2).T, found.sum(axis=1).T
    return of_words / np.maximum(of_words.sum(axis=0), 1e-300), of_documents


def two_block_step(matrix: Array, words: Array, documents: Array) -> tuple[Array, Array]:
    """The multiplicative rule of W under H and then of H under W, with W's columns scaled to 1 and H's to match."""
    model = words @ documents.T
    ratio = np.divide(matrix, model, out=np.zeros_like(matrix), where=matrix > 0)
    words = words * (ratio @ documents) / np.maximum(documents.sum(axis=0), 1e-300)
    scale = words.sum(axis=0)
    words, documents = words / np.maximum(scale, 1e-300), documents * scale
    ratio = np.divide(matrix, words @ documents.T, out=np.zeros_like(matrix), where=matrix > 0)
    return words, documents * (ratio.T @ words)


def sequential_step(matrix: Array, words: Array, documents: Array) -> tuple[Array, Array]:
    """Eq. (3) of nmf_lm, its three lines as printed, one after the other; a row of `documents` is a document."""
    words, rows = words.copy(), documents.T.copy()  # W and H
    model = words @ rows
    sums = np.zeros_like(words)
    for i in range(words.shape[0]):
        for a in range(words.shape[1]):
            sums[i, a] = sum(matrix[i, m] / model[i, m] * rows[a, m] for m in range(rows.shape[1]) if matrix[i, m])
    words = words * sums
    words = words / np.maximum(words.sum(axis=0), 1e-300)
    model = words @ rows
    sums = np.zeros_like(rows)
    for a in range(rows.shape[0]):
        for m in range(rows.shape[1]):
            sums[a, m] = sum(words[i, a] * matrix[i, m] / model[i, m] for i in range(words.shape[0]) if matrix[i, m])
    return words, (rows * sums).T


def long_step(before: Array, after: Array, exponent: float = 7 / 4) -> tuple[Array, Array]:
    """From what factors have of each row in the model and in the expected counts: P(row | factor) and P(factor)."""
    found = before * np.divide(after, before, out=np.zeros_like(after), where=before > 0) ** exponent
    return found / np.maximum(found.sum(axis=0), 1e-300), found.sum(axis=0) / found.sum()


def long_two_block_step(matrix: Array, words: Array, documents: Array) -> tuple[Array, Array]:
    """The two-block step, each block of which goes farther than EM."""
    mass = matrix.sum()
    found = explained(matrix, np.einsum("ia,ma->aim", words, documents))
    shares = documents / np.maximum(documents.sum(axis=0), 1e-300)
    words, weights = long_step(words * documents.sum(axis=0), found.sum(axis=2).T)
    documents = shares * weights * mass
    found = explained(matrix, np.einsum("ia,ma->aim", words, documents))
    shares, weights = long_step(documents, found.sum(axis=1).T)
    return words, shares * weights * mass


def long_symmetric_step(matrix: Array, words: Array, weights: Array) -> tuple[Array, Array]:
    """The symmetric step, but farther."""
    found = explained(matrix, np.einsum("a,ia,ma->aim", weights, words, words))
    words, weights = long_step(words * weights, found.sum(axis=2).T)
    return words, weights * matrix.sum()


def symmetric_step(matrix: Array, words: Array, weights: Array) -> tuple[Array, Array]:
    """EM of P(i, m) = sum over a of z_a Q_ia Q_ma: both words of each entry are drawn from the same Q."""
    found = explained(matrix, np.einsum("a,ia,ma->aim", weights, words, words))
    of_words = (found.sum(axis=2) + found.sum(axis=1)).T
    return of_words / np.maximum(of_words.sum(axis=0), 1e-300), found.sum(axis=(1, 2))


@st.composite
def counts(draw, *, most: int = 8, symmetric: bool = False):
    """Matrices of whole numbers, many of them 0; some rows and columns have nothing else."""
    size = draw(st.integers(1, most))
    length = size if symmetric else draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = random.poisson(draw(st.sampled_from([0.3, 1.0, 20.0])), (size, length)).astype(float)
    matrix[random.integers(size), random.integers(length)] += 1
    return matrix + matrix.T if symmetric else matrix


# -- counts --------------------------------------------------------------------------------------------------------


def document_counts(documents: list[list[list[str]]], content: set[str]) -> Counter:
    """How often each content word stands in each document."""
    return Counter(
        (word, number)
        for number, document in enumerate(documents)
        for sentence in document
        for word in sentence
        if word in content
    )


def window_counts(
    documents: list[list[list[str]]], content: set[str], *, window: int, stop_first: bool, borders: bool = True
) -> Counter:
    """The window is moved word by word over each text, and its middle word paired with each of its words."""
    texts = [[word for sentence in document for word in sentence] for document in documents]
    if not borders:
        texts = [[word for text in texts for word in text]]
    found: Counter = Counter()
    for text in texts:
        if stop_first:
            text = [word for word in text if word in content]
        for middle, word in enumerate(text):
            for other in range(middle - window // 2, middle + window // 2 + 1):
                if 0 <= other < len(text) and {word, text[other]} <= content:
                    found[word, text[other]] += 1
    return found
