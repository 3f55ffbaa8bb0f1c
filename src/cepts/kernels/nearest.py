"""The best targets of each query: chosen by float32 products that BLAS makes, settled by float64 ones made here."""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel, vector_kernel

# Entries that are held against a threshold at once, before any is looked at alone.
CHUNK = 64


@kernel
def keep_best(block, bias, first, scores, rows):
    """Put the entries of `block` + `bias` (a line a query, a column a target from `first` on) among the best so far.

    `scores` and `rows` hold each query's best, the best first; a query's last score is what an entry must exceed.
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
    """The same for columns, without bias: the best lines of each."""
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
def settle(queries, targets, bias, slack, kept, kept_rows, scores, rows, cuts, doubtful):
    """Fill `scores` and `rows` with each query's best among those kept, by float64 products; ties by number.

    A kept score is off by at most `slack`. So whoever is among the best by float64 was within twice that of the last
    of the best, at `cuts` or above; where the worst that was kept is too, others may be, and the query is `doubtful`.
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
def settle_from_block(block, rounded_bias, bias, first, queries, targets, cuts, scores, rows):
    """Settle by float64 products all entries of `block` + `rounded_bias` that are at `cuts` or above.

    `queries`, `bias` and `targets` are those of the block; the number of its first target is `first`.
    """
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            if block[i, j] + rounded_bias[j] >= cuts[i]:
                _insert_by_number(scores[i], rows[i], _dot(queries[i], targets[j]) + bias[j], first + j)


@kernel
def _any_above(values, bias, least):
    """Whether a chunk of `values` + `bias` has one above `least`, without a branch: the compiler vectorises that."""
    above = np.int32(0)
    for j in range(CHUNK):
        above |= np.int32(values[j] + bias[j] > least)
    return above != 0


@kernel
def _any_above_own(values, least):
    """The same where each has a threshold of its own."""
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
    """Insert after all that are as good, and drop the last."""
    place = len(scores) - 1
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    scores[place] = score
    rows[place] = row


@kernel
def _insert_by_number(scores, rows, score, row):
    """Insert, of equal scores the lower row first, and drop the last; or nothing, where all are better."""
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
