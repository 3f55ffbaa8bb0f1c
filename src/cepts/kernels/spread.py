"""A random walk along either sentence, by which words without links of their own share those of their neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel, vector_kernel


class SideWalk(NamedTuple):
    """The words of one side of all pairs: their offsets, null masses, and pulls to the word before and after."""

    offsets: Any
    null: Any
    left: Any
    right: Any


@kernel
def _fill_leaves(matrix, null, strength, leave):
    """Fill `leave` with the share of null in the mass of each row, times `strength`."""
    for i in range(matrix.shape[0]):
        mass = np.float64(null[i])
        for j in range(matrix.shape[1]):
            mass += matrix[i, j]
        leave[i] = null[i] / mass if mass > 0.0 else 1.0
        leave[i] *= strength


@vector_kernel
def _walk(leave, left, right, matrix, ratio):
    """Solve x_i = m_i + leave_i (left_i x_{i-1} + right_i x_{i+1}) for rows, in place (Thomas' algorithm)."""
    size, length = matrix.shape
    for i in range(size):
        back = np.float32(leave[i] * left[i])
        scale = np.float32(1)
        if i:
            scale = np.float32(1) / (np.float32(1) - back * ratio[i - 1])
            for j in range(length):
                matrix[i, j] = (matrix[i, j] + back * matrix[i - 1, j]) * scale
        ratio[i] = np.float32(leave[i] * right[i]) * scale
    for i in range(size - 2, -1, -1):
        for j in range(length):
            matrix[i, j] += ratio[i] * matrix[i + 1, j]


@allocating_kernel
def spread_pairs(cell_offsets, values, source, target, strength):
    """Spread the matrices of all pairs, in place, and subtract from the null masses what has left them."""
    widest = 1
    for side in (source, target):
        for pair in range(len(cell_offsets) - 1):
            widest = max(widest, side.offsets[pair + 1] - side.offsets[pair])
    source_leave = np.zeros(widest)
    target_leave = np.zeros(widest)
    ratio = np.zeros(widest, np.float32)
    for pair in range(len(cell_offsets) - 1):
        i, j = source.offsets[pair], target.offsets[pair]
        size, length = source.offsets[pair + 1] - i, target.offsets[pair + 1] - j
        if size == 0 or length == 0:
            continue
        matrix = values[cell_offsets[pair] : cell_offsets[pair + 1]].reshape((size, length))
        _fill_leaves(matrix, source.null[i:], strength, source_leave)
        _fill_leaves(matrix.T, target.null[j:], strength, target_leave)
        _walk(source_leave, source.left[i:], source.right[i:], matrix, ratio)
        _walk(target_leave, target.left[j:], target.right[j:], matrix.T, ratio)
    for side in (source, target):
        for i in range(len(side.null)):
            side.null[i] *= np.float32(1.0 - strength * (side.left[i] + side.right[i]))
