"""Lexicon entries of sentence pairs that were not in training: looked up where known, backed off where not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece


class TokenPairs(NamedTuple):
    """Word numbers of the tokens of sentence pairs, and where the words and the matrix of each pair start."""

    source: Any
    target: Any
    source_offsets: Any
    target_offsets: Any
    cell_offsets: Any


class Spellings(NamedTuple):
    """The bytes of the words of either side; those of word `w` lie between bounds `w` and `w + 1`."""

    source: Any
    source_bounds: Any
    target: Any
    target_bounds: Any


class Levels(NamedTuple):
    """Lexicons of ever coarser words, end to end: their cells, sorted within rows, and the total counts of their words.

    The part of level `n` starts at place `n` of each of the `starts`.
    """

    rows: Any
    row_starts: Any
    targets: Any
    lexicon: Any
    cell_starts: Any
    source_totals: Any
    target_totals: Any
    source_total_starts: Any
    target_total_starts: Any


@kernel
def likeness(spellings, word, other, least):
    """Common prefix of two words over the longer one; 0 where it is below `least` or under four bytes.

    Identical words have likeness 1 however short they are.
    """
    source, target = spellings.source_bounds[word], spellings.target_bounds[other]
    length, other_length = spellings.source_bounds[word + 1] - source, spellings.target_bounds[other + 1] - target
    longest = max(length, other_length)
    common = 0
    for place in range(min(length, other_length)):
        if spellings.source[source + place] != spellings.target[target + place]:
            break
        common += 1
    if longest == 0 or (common < longest and (common < 4 or common < least * longest)):
        return 0.0
    return common / longest


@kernel
def backed_off(count, total, prior, strength, floor):
    """Mean of the Dirichlet posterior: a count drawn towards its prior, and never below `floor`."""
    return np.float32(max((np.float64(count) + strength * prior) / (total + strength), floor))


@piece
def find_sorted(values, start, stop, wanted):
    """Place of `wanted` among the ascending ``values[start:stop]``, or -1."""
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and values[low] == wanted else -1


@kernel
def find(rows, targets, row, target):
    """Place of `target` in the sorted cells of `row`, or -1."""
    return find_sorted(targets, rows[row], rows[row + 1], target)


@kernel
def look_up(tokens, levels, shares, strengths, floor, out):
    """Fill `out[cell]` with the lexicon entries of each token pair in both directions.

    `tokens.source` and `tokens.target` have one row of word numbers for each level (0: the forms, then ever coarser
    words; -1 for unknown words), and the source and target `shares` have one row with the share of each token in its
    coarser word. A pair that a level does not know gets its entry from the next level, backed off as in training; a
    pair that no level knows gets the shares alone.
    """
    source_offsets, target_offsets = tokens.source_offsets, tokens.target_offsets
    row_starts, cell_starts = levels.row_starts, levels.cell_starts
    source_share, target_share = shares
    for pair in range(len(source_offsets) - 1):
        cell = tokens.cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            for target in range(target_offsets[pair], target_offsets[pair + 1]):
                # Go up until a level knows the pair ...
                found = -1
                level = 0
                while level < len(tokens.source):
                    word = tokens.source[level, source]
                    other = tokens.target[level, target]
                    if word >= 0 and other >= 0:
                        found = find(
                            levels.rows[row_starts[level] : row_starts[level + 1]],
                            levels.targets[cell_starts[level] : cell_starts[level + 1]],
                            word,
                            other,
                        )
                        if found >= 0:
                            break
                    level += 1
                ahead = back = np.float32(1)
                if found >= 0:
                    ahead = levels.lexicon[cell_starts[level] + found, 0]
                    back = levels.lexicon[cell_starts[level] + found, 1]
                # ... and come down again through those that do not.
                while level > 0:
                    level -= 1
                    word = tokens.source[level, source]
                    other = tokens.target[level, target]
                    total = levels.source_totals[levels.source_total_starts[level] + word] if word >= 0 else 0.0
                    prior = np.float64(target_share[level, target] * ahead)
                    ahead = backed_off(0.0, total, prior, strengths[level, 0], floor)
                    total = levels.target_totals[levels.target_total_starts[level] + other] if other >= 0 else 0.0
                    prior = np.float64(source_share[level, source] * back)
                    back = backed_off(0.0, total, prior, strengths[level, 1], floor)
                out[cell, 0] = ahead
                out[cell, 1] = back
                cell += 1


@kernel
def look_up_flat(tokens, rows, targets, lexicon, floor, out):
    """`look_up` for a lexicon without levels: an unknown pair gets `floor`."""
    source_offsets, target_offsets = tokens.source_offsets, tokens.target_offsets
    for pair in range(len(source_offsets) - 1):
        cell = tokens.cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            word = tokens.source[source]
            for target in range(target_offsets[pair], target_offsets[pair + 1]):
                other = tokens.target[target]
                found = -1
                if word >= 0 and other >= 0:
                    found = find(rows, targets, word, other)
                out[cell, 0] = lexicon[found, 0] if found >= 0 else floor
                out[cell, 1] = lexicon[found, 1] if found >= 0 else floor
                cell += 1


@kernel
def add_likeness(tokens, spellings, source_known, target_known, least, trust, out):
    """Raise the entries of similarly spelt words, one of them unknown; `trust` is P(translation | identical words)."""
    source_offsets, target_offsets = tokens.source_offsets, tokens.target_offsets
    for pair in range(len(source_offsets) - 1):
        cell = tokens.cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            word = tokens.source[source]
            for target in range(target_offsets[pair], target_offsets[pair + 1]):
                other = tokens.target[target]
                if source_known[word] < 0 or target_known[other] < 0:
                    like = likeness(spellings, word, other, least)
                    if like > 0.0:
                        share = trust * like
                        if source_known[word] < 0:
                            out[cell, 0] = share + (1.0 - share) * out[cell, 0]
                        if target_known[other] < 0:
                            out[cell, 1] = share + (1.0 - share) * out[cell, 1]
                cell += 1
