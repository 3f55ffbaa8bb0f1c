"""Slow, plain twins of the vectors of sentences: a word at a time."""

from __future__ import annotations

from math import log10

import numpy as np


def row_of(words, token):
    """Where `words` has a token as it is, or else in lower case."""
    for form in (token, token.lower()):
        if form in words:
            return words.index(form)
    return -1


def idf(sentences, words, floor):
    """``max(floor, log10(N / n))`` of each of `words`."""
    weights = []
    for row in range(len(words)):
        having = sum(any(row_of(words, token) == row for token in sentence) for sentence in sentences)
        weights.append(max(floor, log10(len(sentences) / max(having, 1))))
    return weights


def sentence_vector(sentence, words, matrix, weights, *, repeats, mean):
    """The vector of one sentence, or None where no word of it has a vector."""
    rows = [row for row in (row_of(words, token) for token in sentence) if row >= 0]
    if not repeats:
        rows = sorted(set(rows))
    if not rows:
        return None
    total = np.zeros(matrix.shape[1])
    divisor = 0.0
    for row in rows:
        total += float(weights[row]) * matrix[row].astype(float)
        divisor += float(weights[row]) if mean else 1.0
    return total / divisor


def without_common(matrix, directions):
    """Rows without their projections on the first right singular vectors."""
    common = np.linalg.svd(matrix, full_matrices=False)[2][:directions]
    left = matrix.astype(float)
    for direction in common:
        left = np.array([row - (row @ direction) * direction for row in left])
    return left
