"""Which neighbour a word belongs to."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import find


@kernel
def _lift(first, second, counts, total, rows, followers, times, smoothing):
    """How many times more often than by chance the two words stand side by side."""
    count_first = counts[first] if first >= 0 else 0
    count_second = counts[second] if second >= 0 else 0
    chance = np.float64(count_first) * count_second / total
    place = find(rows, followers, first, second) if first >= 0 and second >= 0 else -1
    return ((times[place] if place >= 0 else 0) + smoothing) / (chance + smoothing)


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
