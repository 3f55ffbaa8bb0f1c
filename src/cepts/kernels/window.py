"""Words that stand together in a window that slides over a text."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


@kernel
def count_neighbours(
    first,
    stop,
    occurrences,
    positions,
    ids,
    starts,
    ends,
    weights,
    diagonal,
    centre,
    sums,
    touched,
    lengths,
    columns,
    counts,
):
    """Rows `first` to `stop` of the co-occurrence matrix, one after the other in `columns` and `counts`.

    The positions of word `w` are `positions[occurrences[w]:occurrences[w + 1]]`. The window of a position reaches over
    all others at a distance below `len(weights)` that lie between `starts` and `ends` of the position; a pair at the
    distance `d` counts `weights[d]`. Words below 0 take up places but do not count. `diagonal` keeps the entries of a
    word with itself, `centre` the pair of a position with itself. `lengths` receives how many entries each row has;
    `sums`, a number a word, is all zeros before and after; `touched` is as long. Returns the number of entries.
    """
    reach = len(weights) - 1
    filled = 0
    for word in range(first, stop):
        found = 0
        for place in range(occurrences[word], occurrences[word + 1]):
            position = positions[place]
            low = max(position - reach, starts[position])
            high = min(position + reach + 1, ends[position])
            for other in range(low, high):
                neighbour = ids[other]
                if neighbour < 0 or (neighbour == word and not diagonal) or (other == position and not centre):
                    continue
                if sums[neighbour] == 0.0:
                    touched[found] = neighbour
                    found += 1
                sums[neighbour] += weights[abs(other - position)]
        order = np.sort(touched[:found])
        for place in range(found):
            neighbour = order[place]
            columns[filled + place] = neighbour
            counts[filled + place] = sums[neighbour]
            sums[neighbour] = 0.0
        lengths[word - first] = found
        filled += found
    return filled
