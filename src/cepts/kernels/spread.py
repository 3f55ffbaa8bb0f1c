"""A random walk along either sentence, by which words without links of their own come to share their neighbours'."""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel, vector_kernel


@kernel
def _null_shares(size, length, matrix, by_row, null, shares):
    for i in range(size):
        mass = np.float64(null[i])
        for j in range(length):
            mass += matrix[i, j] if by_row else matrix[j, i]
        shares[i] = null[i] / mass if mass > 0.0 else 1.0


@vector_kernel
def _walk_rows(size, length, leave, left, right, matrix, ratio):
    """Solve x_i = m_i + leave_i (left_i x_{i-1} + right_i x_{i+1}) for rows, in place (Thomas' algorithm)."""
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


@vector_kernel
def _walk_columns(size, length, leave, left, right, matrix, ratio):
    """The same for columns."""
    for j in range(length):
        back = np.float32(leave[j] * left[j])
        scale = np.float32(1)
        if j:
            scale = np.float32(1) / (np.float32(1) - back * ratio[j - 1])
            for i in range(size):
                matrix[i, j] = (matrix[i, j] + back * matrix[i, j - 1]) * scale
        ratio[j] = np.float32(leave[j] * right[j]) * scale
    for i in range(size):
        for j in range(length - 2, -1, -1):
            matrix[i, j] += ratio[j] * matrix[i, j + 1]


@allocating_kernel
def spread_pairs(
    source_offsets,
    target_offsets,
    cell_offsets,
    source_left,
    source_right,
    target_left,
    target_right,
    strength,
    values,
    source_null,
    target_null,
):
    """Spread the matrices of all pairs, in place, and take from the null masses what has left them."""
    widest = 1
    for pair in range(len(cell_offsets) - 1):
        widest = max(widest, source_offsets[pair + 1] - source_offsets[pair])
        widest = max(widest, target_offsets[pair + 1] - target_offsets[pair])
    source_leave = np.zeros(widest)
    target_leave = np.zeros(widest)
    ratio = np.zeros(widest, np.float32)
    for pair in range(len(cell_offsets) - 1):
        first_source = source_offsets[pair]
        first_target = target_offsets[pair]
        size = source_offsets[pair + 1] - first_source
        length = target_offsets[pair + 1] - first_target
        if size == 0 or length == 0:
            continue
        matrix = values[cell_offsets[pair] : cell_offsets[pair + 1]].reshape((size, length))
        _null_shares(size, length, matrix, True, source_null[first_source:], source_leave)
        _null_shares(length, size, matrix, False, target_null[first_target:], target_leave)
        for i in range(size):
            source_leave[i] *= strength
        for j in range(length):
            target_leave[j] *= strength
        _walk_rows(size, length, source_leave, source_left[first_source:], source_right[first_source:], matrix, ratio)
        _walk_columns(
            size, length, target_leave, target_left[first_target:], target_right[first_target:], matrix, ratio
        )
    for i in range(len(source_null)):
        source_null[i] *= np.float32(1.0 - strength * (source_left[i] + source_right[i]))
    for j in range(len(target_null)):
        target_null[j] *= np.float32(1.0 - strength * (target_left[j] + target_right[j]))
