"""Which neighbour a word belongs to."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


@kernel
def _side_by_side(first, second, rows, followers, times):
    if first < 0 or second < 0:
        return 0
    low = rows[first]
    high = rows[first + 1]
    while low < high:
        middle = (low + high) // 2
        if followers[middle] < second:
            low = middle + 1
        else:
            high = middle
    if low < rows[first + 1] and followers[low] == second:
        return times[low]
    return 0


@kernel
def _lift(first, second, counts, total, rows, followers, times, smoothing):
    """How many times more often than by chance the two words stand side by side."""
    count_first = counts[first] if first >= 0 else 0
    count_second = counts[second] if second >= 0 else 0
    chance = np.float64(count_first) * count_second / total
    return (_side_by_side(first, second, rows, followers, times) + smoothing) / (chance + smoothing)


@kernel
def pulls(ids, offsets, counts, total, rows, followers, times, smoothing, stay, left, right):
    """By token, the lift of the word before and of the word after, each over the sum of both and of `stay`."""
    for sentence in range(len(offsets) - 1):
        start = offsets[sentence]
        stop = offsets[sentence + 1]
        before = 0.0
        for place in range(start, stop):
            after = 0.0
            if place + 1 < stop:
                after = _lift(ids[place], ids[place + 1], counts, total, rows, followers, times, smoothing)
            left[place] = np.float32(before / (before + after + stay))
            right[place] = np.float32(after / (before + after + stay))
            before = after
