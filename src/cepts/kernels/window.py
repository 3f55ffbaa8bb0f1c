"""Words that stand together in a window that slides over a text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel


class WindowText(NamedTuple):
    """A text as numbers of words: the positions of word `w` are `positions[occurrences[w]:occurrences[w + 1]]`.

    Windows of a position stay between its `starts` and `ends`. Words below 0 take up places but do not count.
    """

    occurrences: Any
    positions: Any
    ids: Any
    starts: Any
    ends: Any


@allocating_kernel
def count_neighbours(first, stop, text, reach, sums, touched, lengths, columns, counts):
    """Rows `first` to `stop` of the co-occurrence matrix, one after the other in `columns` and `counts`.

    The window of a position has the positions up to a distance of `reach`. `lengths` receives how many entries each row
    has; `sums`, a number a word, is all zeros before and after; `touched` is as long. Returns the number of entries.
    """
    occurrences, positions, ids, starts, ends = text
    filled = 0
    for word in range(first, stop):
        found = 0
        for place in range(occurrences[word], occurrences[word + 1]):
            position = positions[place]
            low = max(position - reach, starts[position])
            high = min(position + reach + 1, ends[position])
            for other in range(low, high):
                neighbour = ids[other]
                if neighbour < 0:
                    continue
                if sums[neighbour] == 0.0:
                    touched[found] = neighbour
                    found += 1
                sums[neighbour] += 1.0
        order = np.sort(touched[:found])
        for place in range(found):
            neighbour = order[place]
            columns[filled + place] = neighbour
            counts[filled + place] = sums[neighbour]
            sums[neighbour] = 0.0
        lengths[word - first] = found
        filled += found
    return filled
