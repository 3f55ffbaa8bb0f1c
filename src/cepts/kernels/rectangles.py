"""Rectangles in which all cells are links."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


@kernel
def grow_rectangles(offsets, source, target, confidence, longest, every_link, matrix, spans, means, ends):
    """Grow rectangles from the links of each pair, in the order of source, then target positions.

    From a link, rows and columns are added in turn, a row first, while all their cells are links, up to `longest`
    (source, target) words. With `every_link`, each link is in exactly one rectangle. Without it, each row is in at most
    one rectangle, and its links outside of the rectangle are dropped. Fills `spans` (four columns) and `means` (of the
    links' confidences) for each rectangle, and `ends` with the number of rectangles up to each pair. `matrix` is a
    buffer for the links of one pair.
    """
    found = 0
    for pair in range(len(offsets) - 1):
        start, stop = offsets[pair], offsets[pair + 1]
        rows = columns = 0
        for link in range(start, stop):
            rows = max(rows, source[link] + 1)
            columns = max(columns, target[link] + 1)
        for cell in range(rows * columns):
            matrix[cell] = -1.0
        for link in range(start, stop):
            matrix[source[link] * columns + target[link]] = confidence[link]
        free = 0
        for link in range(start, stop):
            top, left = source[link], target[link]
            if top < free or matrix[top * columns + left] < 0:
                continue
            bottom, right = top + 1, left + 1
            down = across = True
            while down or across:
                if down:
                    down = bottom < rows and bottom - top < longest[0]
                    for j in range(left, right):
                        down = down and matrix[bottom * columns + j] >= 0
                    bottom += down
                if across:
                    across = right < columns and right - left < longest[1]
                    for i in range(top, bottom):
                        across = across and matrix[i * columns + right] >= 0
                    right += across
            total = 0.0
            for i in range(top, bottom):
                for j in range(left, right):
                    total += matrix[i * columns + j]
                    matrix[i * columns + j] = -1.0
            spans[found, 0] = top
            spans[found, 1] = bottom
            spans[found, 2] = left
            spans[found, 3] = right
            means[found] = np.float32(total / ((bottom - top) * (right - left)))
            found += 1
            if not every_link:
                free = bottom
        ends[pair] = found
