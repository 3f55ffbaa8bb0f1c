"""How well the words of sentence pairs are matched, and how far their partners are from their own places."""

from __future__ import annotations

from cepts.kernels import kernel, piece


@piece
def worse_half(best, size):
    """The lower of the means of the first and of the last half of `best[:size]`; a middle word is in both halves."""
    half = (size + 1) // 2
    first = last = 0.0
    for place in range(half):
        first += best[place]
        last += best[size - 1 - place]
    return min(first, last) / half


@kernel
def match_words(offsets, source_lengths, target_lengths, values, smoothing, source_best, target_best, out):
    """Fill one row of `out` for each matrix: coverage, coverage of the worst half, and displacement.

    Coverage is the mean over the words of both sides of their highest value. The worst half is that of the first and
    the last half of either sentence whose words have the lowest mean. Displacement is the mean over all cells, weighted
    by their values, of the distance between the relative places (i + 1/2) / I and (j + 1/2) / J of their words, in
    half sentences and at most 1; a weight of `smoothing` is added at distance 0. A pair without cells has 0 throughout.

    Parameters
    ----------
    offsets, source_lengths, target_lengths, values
        The matrices, row by row.
    smoothing
        So that faint values are not judged by their places.
    source_best, target_best
        Buffers as long as the longest sentences.
    """
    for pair in range(len(source_lengths)):
        rows, columns, start = source_lengths[pair], target_lengths[pair], offsets[pair]
        out[pair, 0] = out[pair, 1] = out[pair, 2] = 0.0
        if offsets[pair + 1] == start:
            continue
        for j in range(columns):
            target_best[j] = 0.0
        covered = mass = moved = 0.0
        for i in range(rows):
            place, highest = (i + 0.5) / rows, 0.0
            for j in range(columns):
                value = values[start + i * columns + j]
                highest = max(highest, value)
                target_best[j] = max(target_best[j], value)
                mass += value
                moved += value * min(2.0 * abs(place - (j + 0.5) / columns), 1.0)
            source_best[i] = highest
            covered += highest
        for j in range(columns):
            covered += target_best[j]
        out[pair, 0] = covered / (rows + columns)
        out[pair, 1] = min(worse_half(source_best, rows), worse_half(target_best, columns))
        out[pair, 2] = moved / (mass + smoothing)
