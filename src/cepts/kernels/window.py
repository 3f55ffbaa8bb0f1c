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
def _take_sums(touched, sums, columns, counts, filled):
    """Append the sums of the columns that were `touched`, in order, and set them to 0."""
    order = np.sort(touched)
    for neighbour in order:
        columns[filled] = neighbour
        counts[filled] = sums[neighbour]
        sums[neighbour] = 0.0
        filled += 1
    return filled


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
        lengths[word - first] = found
        filled = _take_sums(touched[:found], sums, columns, counts, filled)
    return filled


class AddedRuns(NamedTuple):
    """Rows of several co-occurrence matrices. The runs of row `r` are `order[bounds[r]:bounds[r + 1]]`.

    Run `n` has the cells `starts[n]:starts[n + 1]`, each with its column and its count.
    """

    bounds: Any
    order: Any
    starts: Any
    columns: Any
    counts: Any


@allocating_kernel
def add_neighbours(runs, sums, touched, lengths, columns, counts):
    """Fill `columns` and `counts` with the sums of the runs of each row; returns their length.

    `lengths` receives the number of entries of each row; `sums` and `touched` are as for `count_neighbours`.
    """
    filled = 0
    for row in range(len(lengths)):
        found = 0
        for place in range(runs.bounds[row], runs.bounds[row + 1]):
            run = runs.order[place]
            for cell in range(runs.starts[run], runs.starts[run + 1]):
                neighbour = runs.columns[cell]
                if sums[neighbour] == 0.0:
                    touched[found] = neighbour
                    found += 1
                sums[neighbour] += runs.counts[cell]
        lengths[row] = found
        filled = _take_sums(touched[:found], sums, columns, counts, filled)
    return filled
