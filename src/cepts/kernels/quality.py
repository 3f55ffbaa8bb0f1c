"""How well the words of sentence pairs are matched, and how often their links cross."""

from __future__ import annotations

from cepts.kernels import kernel


@kernel
def match_words(offsets, source_lengths, target_lengths, values, least, best, links, out):
    """Fill one row of `out` for each matrix: coverage, crossing weight and weight of all pairs of links.

    Coverage is the mean over the words of both sides of their highest value. Links are the cells of at least `least`;
    two links in different rows and columns weigh the product of their values, and cross if one is further on in one
    sentence and further back in the other.

    Parameters
    ----------
    offsets, source_lengths, target_lengths, values
        The matrices, row by row.
    best
        Buffer as long as the longest target sentence.
    links
        Buffer for the places of links, as long as the largest matrix has cells.
    """
    for pair in range(len(source_lengths)):
        rows, columns, start = source_lengths[pair], target_lengths[pair], offsets[pair]
        out[pair, 0] = out[pair, 1] = out[pair, 2] = 0.0
        if offsets[pair + 1] == start:
            continue
        for j in range(columns):
            best[j] = 0.0
        total, count = 0.0, 0
        for i in range(rows):
            highest = 0.0
            for j in range(columns):
                value = values[start + i * columns + j]
                highest = max(highest, value)
                best[j] = max(best[j], value)
                if value >= least:
                    links[count] = i * columns + j
                    count += 1
            total += highest
        for j in range(columns):
            total += best[j]
        out[pair, 0] = total / (rows + columns)
        for one in range(count):
            i, j = links[one] // columns, links[one] % columns
            for other in range(one):
                k, m = links[other] // columns, links[other] % columns
                if k != i and m != j:  # k < i, because links are in order
                    weight = values[start + links[one]] * values[start + links[other]]
                    out[pair, 2] += weight
                    if m > j:
                        out[pair, 1] += weight
