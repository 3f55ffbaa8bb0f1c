"""Whether a word belongs to the word before it or to the word after it, and whether it has been seen there."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import find


@kernel
def _lift(first, second, counts, total, bigrams, smoothing):
    """How many times more often than by chance the two words occur side by side, smoothed."""
    count_first = counts[first] if first >= 0 else 0
    count_second = counts[second] if second >= 0 else 0
    chance = np.float64(count_first) * count_second / total
    place = find(bigrams.rows, bigrams.others, first, second) if first >= 0 and second >= 0 else -1
    return ((bigrams.counts[place] if place >= 0 else 0) + smoothing) / (chance + smoothing)


@kernel
def pulls(ids, offsets, counts, total, bigrams, smoothing, stay, left, right):
    """For each token, its lift with the word before and with the word after, each over the sum of both and `stay`."""
    for sentence in range(len(offsets) - 1):
        start = offsets[sentence]
        stop = offsets[sentence + 1]
        before = 0.0
        for place in range(start, stop):
            after = 0.0
            if place + 1 < stop:
                after = _lift(ids[place], ids[place + 1], counts, total, bigrams, smoothing)
            left[place] = np.float32(before / (before + after + stay))
            right[place] = np.float32(after / (before + after + stay))
            before = after


@kernel
def seen_sentences(ids, offsets, bigrams, seen):
    """Whether all words of each sentence are known (not -1), and each one has followed the one before it."""
    for sentence in range(len(offsets) - 1):
        seen[sentence] = True
        for place in range(offsets[sentence], offsets[sentence + 1]):
            follows = ids[place] >= 0
            if follows and place > offsets[sentence]:
                follows = find(bigrams.rows, bigrams.others, ids[place - 1], ids[place]) >= 0
            if not follows:
                seen[sentence] = False
                break
