"""Numbers of sentence pairs in which words co-occur, and measures of association from them."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import find


@kernel
def add_pairs_with(items, offsets, times, seen, counts):
    """Add to `counts[item]` the number of sentence pairs that have the item at least once.

    Pair `n`, which counts `times[n]` times, has `items[offsets[n]:offsets[n + 1]]`. `seen` is all -1.
    """
    for pair in range(len(offsets) - 1):
        for place in range(offsets[pair], offsets[pair + 1]):
            item = items[place]
            if seen[item] != pair:
                seen[item] = pair
                counts[item] += np.int32(times[pair])


@kernel
def surprise(seen, rows, columns, total):
    """One cell's part of the log-likelihood ratio: k ln(k N / (row column)), 0 where k is 0."""
    return seen * np.log(seen / rows * (total / columns)) if seen > 0.0 else 0.0


@kernel
def association_of_counts(statistic, together, source, target, pairs):
    """Association of two words, from the numbers of sentence pairs with each of them, with both, and of all `pairs`.

    `statistic` 0 is the count, 1 Dice, 2 pointwise mutual information, 3 Dunning's log-likelihood ratio; the last two
    are 0 for words that co-occur no more often than by chance.
    """
    if together == 0.0 or statistic == 0:
        return together
    if statistic == 1:
        return 2.0 * together / (source + target)
    if together * pairs <= source * target:
        return 0.0
    if statistic == 2:
        return np.log(together / source * (pairs / target))
    ratio = 2.0 * (
        surprise(together, source, target, pairs)
        + surprise(source - together, source, pairs - target, pairs)
        + surprise(target - together, pairs - source, target, pairs)
        + surprise(pairs - source - target + together, pairs - source, pairs - target, pairs)
    )
    # Where the association is weak the parts nearly cancel, and rounding may leave a negative sum.
    return max(ratio, 0.0)


@kernel
def look_up_statistic(tokens, rows, targets, together, source_counts, target_counts, pairs, statistic, out):
    """Fill `out` with the association of each token pair; 0 for words that never co-occur or are unknown (-1)."""
    for pair in range(len(tokens.cell_offsets) - 1):
        cell = tokens.cell_offsets[pair]
        for source in range(tokens.source_offsets[pair], tokens.source_offsets[pair + 1]):
            word = tokens.source[source]
            for target in range(tokens.target_offsets[pair], tokens.target_offsets[pair + 1]):
                other = tokens.target[target]
                found = -1
                if word >= 0 and other >= 0:
                    found = find(rows, targets, word, other)
                value = 0.0
                if found >= 0:
                    value = association_of_counts(
                        statistic, np.float64(together[found]), source_counts[word], target_counts[other], pairs
                    )
                out[cell] = value
                cell += 1
