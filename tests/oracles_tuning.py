"""Features of tuned models, cell by cell, straight from their definitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def edit_distance(one: str, other: str) -> int:
    """Fewest insertions, deletions and substitutions, by recursion over prefixes."""
    table = {(0, 0): 0}
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            ways = [table[i, j]] if (i, j) in table else []
            if i:
                ways.append(table[i - 1, j] + 1)
            if j:
                ways.append(table[i, j - 1] + 1)
            if i and j:
                ways.append(table[i - 1, j - 1] + (one[i - 1] != other[j - 1]))
            table[i, j] = min(ways)
    return table[len(one), len(other)]


def likeness(one: str, other: str) -> tuple[float, float]:
    """1 - edit distance / longer word, and common prefix / shorter word."""
    if not one or not other:
        return 0.0, 0.0
    prefix = 0
    while prefix < min(len(one), len(other)) and one[: prefix + 1] == other[: prefix + 1]:
        prefix += 1
    return 1.0 - edit_distance(one, other) / max(len(one), len(other)), prefix / min(len(one), len(other))


def best_rival(matrix: NDArray, i: int, j: int, *, by_target: bool) -> float:
    """The highest of the other values in the row or column of a cell."""
    line = np.delete(matrix[:, j], i) if by_target else np.delete(matrix[i], j)
    return float(line.max(initial=0.0))


def best_elsewhere(matrix: NDArray, i: int, j: int, *, by_target: bool) -> float:
    """The highest value in the row or column of a cell that is not next to it."""
    line, own = (matrix[:, j], i) if by_target else (matrix[i], j)
    return float(max((value for place, value in enumerate(line) if abs(place - own) > 1), default=0.0))


def chains(matrix: NDArray, i: int, j: int) -> float:
    """Sum of a[i, j'] a[i', j'] a[i', j] over all i' and j'."""
    rows, columns = matrix.shape
    return float(sum(matrix[i, b] * matrix[a, b] * matrix[a, j] for a in range(rows) for b in range(columns)))
