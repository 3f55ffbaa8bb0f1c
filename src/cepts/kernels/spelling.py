"""How alike the letters of given pairs of words are."""

from __future__ import annotations

from cepts.kernels import kernel


@kernel
def word_likeness(source, source_offsets, target, target_offsets, pairs, row, out):
    """Fill `out` with 1 minus the edit distance as a share of the longer word, and the common prefix of the shorter.

    Parameters
    ----------
    source, target
        Letters of all words, end to end; word `w` starts at its offset.
    pairs
        Source word and target word of each pair of words.
    row
        Buffer for one row of the table of edit distances: one number more than the longest target word has letters.
    out
        One row for each pair: likeness, and common prefix as a share of the shorter word. Both are 0 if a word has no
        letters.
    """
    for pair in range(len(pairs)):
        first, second = source_offsets[pairs[pair, 0]], target_offsets[pairs[pair, 1]]
        length = source_offsets[pairs[pair, 0] + 1] - first
        width = target_offsets[pairs[pair, 1] + 1] - second
        shorter = width if width < length else length
        longer = length if width < length else width
        out[pair, 0] = out[pair, 1] = 0.0
        if shorter == 0:
            continue
        prefix = 0
        while prefix < shorter and source[first + prefix] == target[second + prefix]:
            prefix += 1
        for j in range(width + 1):
            row[j] = j
        for i in range(length):
            corner = row[0]
            row[0] = i + 1
            for j in range(width):
                least = corner if source[first + i] == target[second + j] else corner + 1
                corner = row[j + 1]
                least = min(least, corner + 1)
                least = min(least, row[j] + 1)
                row[j + 1] = least
        out[pair, 0] = 1.0 - row[width] / longer
        out[pair, 1] = prefix / shorter
