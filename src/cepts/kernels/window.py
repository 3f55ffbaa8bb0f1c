"""Co-occurrences of words in a window that slides over a text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel


class WindowText(NamedTuple):
    """A text as word numbers; the positions of word `w` are `positions[occurrences[w]:occurrences[w + 1]]`.

    The window of a position is limited by its `starts` and `ends`. Words with a negative number take up a position but
    are not counted.
    """

    occurrences: Any
    positions: Any
    ids: Any
    starts: Any
    ends: Any


@allocating_kernel
def count_neighbours(first, stop, text, reach, sums, touched, lengths, columns, counts):
    """Fill `columns` and `counts` with the rows `first` to `stop` of the co-occurrence matrix; returns their length.

    The window of a position has all positions up to a distance of `reach`. `lengths` receives the number of entries of
    each row. `sums` (all 0 before and after) and `touched` are buffers with one number for each word.
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
