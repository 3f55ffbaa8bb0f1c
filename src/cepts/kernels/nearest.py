"""The best targets of each query: candidates by the float32 products of BLAS, then exact by float64 products."""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel, vector_kernel

# Entries that are compared with a threshold together, before any is looked at alone.
CHUNK = 64


@kernel
def keep_best(block, bias, first, scores, rows):
    """Insert the entries of `block` + `bias`, one line for each query and one column for each target.

    `first` is the number of the first target. `scores` and `rows` hold each query's best targets, the best first; an
    entry must exceed the last of these scores.
    """
    width = block.shape[1]
    last = scores.shape[1] - 1
    whole = width - width % CHUNK
    for i in range(block.shape[0]):
        line = block[i]
        least = scores[i, last]
        for start in range(0, whole, CHUNK):
            if _any_above(line[start : start + CHUNK], bias[start : start + CHUNK], least):
                for j in range(start, start + CHUNK):
                    if line[j] + bias[j] > least:
                        _insert(scores[i], rows[i], line[j] + bias[j], first + j)
                        least = scores[i, last]
        for j in range(whole, width):
            if line[j] + bias[j] > least:
                _insert(scores[i], rows[i], line[j] + bias[j], first + j)
                least = scores[i, last]


@allocating_kernel
def keep_best_of_columns(block, scores, rows):
    """`keep_best` for one column for each query and one line for each target, without bias."""
    width = block.shape[1]
    last = scores.shape[1] - 1
    least = scores[:, last].copy()
    whole = width - width % CHUNK
    for i in range(block.shape[0]):
        line = block[i]
        for start in range(0, whole, CHUNK):
            if _any_above_own(line[start : start + CHUNK], least[start : start + CHUNK]):
                for j in range(start, start + CHUNK):
                    if line[j] > least[j]:
                        _insert(scores[j], rows[j], line[j], i)
                        least[j] = scores[j, last]
        for j in range(whole, width):
            if line[j] > least[j]:
                _insert(scores[j], rows[j], line[j], i)
                least[j] = scores[j, last]


@kernel
def rescore(queries, targets, bias, slack, kept, kept_rows, scores, rows, cuts, doubtful):
    """Fill `scores` and `rows` with the best of each query's kept targets, by float64 products; ties by number.

    The error of a kept score is at most `slack`. So a target that is among the best by float64 has a kept score of at
    least `cuts`: that of the last of the best minus twice the slack. If even the worst kept score is that high, targets
    that were not kept may belong to the best, and the query is `doubtful`.
    """
    count = scores.shape[1]
    last = kept.shape[1] - 1
    for i in range(len(queries)):
        cut = np.float64(kept[i, count - 1]) - 2 * slack[i]
        cuts[i] = cut
        doubtful[i] = kept_rows[i, last] >= 0 and kept[i, last] >= cut
        for place in range(last + 1):
            target = kept_rows[i, place]
            if target < 0 or kept[i, place] < cut:
                break
            _insert_by_number(scores[i], rows[i], _dot(queries[i], targets[target]) + bias[target], target)


@kernel
def rescore_block(block, rounded_bias, bias, first, queries, targets, cuts, scores, rows):
    """Insert the float64 products of all entries of `block` + `rounded_bias` that are at least `cuts`.

    `queries`, `bias` and `targets` are those of the block; `first` is the number of its first target.
    """
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            if block[i, j] + rounded_bias[j] >= cuts[i]:
                _insert_by_number(scores[i], rows[i], _dot(queries[i], targets[j]) + bias[j], first + j)


@kernel
def _any_above(values, bias, least):
    """Whether a chunk of `values` + `bias` has one above `least`; it has no branches, so that it is vectorised."""
    above = np.int32(0)
    for j in range(CHUNK):
        above |= np.int32(values[j] + bias[j] > least)
    return above != 0


@kernel
def _any_above_own(values, least):
    """`_any_above` with a threshold for each value."""
    above = np.int32(0)
    for j in range(CHUNK):
        above |= np.int32(values[j] > least[j])
    return above != 0


@vector_kernel
def _dot(left, right):
    total = 0.0
    for d in range(len(left)):
        total += np.float64(left[d]) * np.float64(right[d])
    return total


@kernel
def _insert(scores, rows, score, row):
    """Insert a row that is better than the last one, after equal scores, and drop the last."""
    place = len(scores) - 1
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    scores[place] = score
    rows[place] = row


@kernel
def _insert_by_number(scores, rows, score, row):
    """Insert a row by its score, among equal scores by its number, and drop the last; nothing if all are better."""
    place = len(scores)
    while place > 0 and (scores[place - 1] < score or (scores[place - 1] == score and rows[place - 1] > row)):
        place -= 1
    if place == len(scores):
        return
    for other in range(len(scores) - 1, place, -1):
        scores[other] = scores[other - 1]
        rows[other] = rows[other - 1]
    scores[place] = score
    rows[place] = row
