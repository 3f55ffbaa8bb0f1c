"""Slow, plain twins of `cepts.spaces`."""

from __future__ import annotations

import numpy as np

# -- retrieval -----------------------------------------------------------------------------------------------


def unit(matrix: np.ndarray) -> np.ndarray:
    """Rows of length 1 as float32 holds them, for float64 arithmetic; rows of zeros stay."""
    matrix = matrix.astype(np.float64)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(lengths == 0, 1, lengths)).astype(np.float32).astype(np.float64)


def score_matrix(queries, targets, measure, *, sources=None, neighbourhood=10, temperature=30.0) -> np.ndarray:
    """Scores of all targets for all queries; minus infinity where a query or a target has no direction."""
    queries, targets = unit(queries), unit(targets)
    sources = queries if sources is None else unit(sources)
    there = np.outer(queries.any(axis=1), targets.any(axis=1))
    sources, real_targets = sources[sources.any(axis=1)], targets[targets.any(axis=1)]
    cosines = queries @ targets.T
    if measure == "csls" and there.any():
        of_queries = mean_of_highest(queries @ real_targets.T, neighbourhood)
        of_targets = mean_of_highest(targets @ sources.T, neighbourhood)
        scores = 2 * cosines - of_queries[:, None] - of_targets[None, :]
    elif measure == "inverted-softmax" and there.any():
        exponents = temperature * targets @ sources.T
        peaks = exponents.max(axis=1)
        scores = temperature * cosines - peaks - np.log(np.exp(exponents - peaks[:, None]).sum(axis=1))
    else:
        scores = cosines
    return np.where(there, scores, -np.inf)


def mean_of_highest(scores: np.ndarray, count: int) -> np.ndarray:
    return np.sort(scores, axis=1)[:, ::-1][:, :count].mean(axis=1)


def best(scores: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The `count` highest of each line, ties by number; -1 and minus infinity where there are no more."""
    rows = np.full((len(scores), count), -1)
    values = np.full((len(scores), count), -np.inf)
    for place, line in enumerate(scores):
        order = [row for row in np.argsort(-line, kind="stable")[:count] if line[row] > -np.inf]
        rows[place, : len(order)], values[place, : len(order)] = order, line[order]
    return rows, values
