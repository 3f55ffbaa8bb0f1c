"""The lexicon for sentence pairs that were not in training: found where known, backed off where not."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel


@kernel
def likeness(source_bytes, source, source_end, target_bytes, target, target_end, least):
    """Common prefix of two words over the longer one; 0 where it is below `least` or under four bytes.

    Identical words have likeness 1 however short they are.
    """
    length = source_end - source
    other = target_end - target
    longest = max(length, other)
    common = 0
    for place in range(min(length, other)):
        if source_bytes[source + place] != target_bytes[target + place]:
            break
        common += 1
    if longest == 0 or (common < longest and (common < 4 or common < least * longest)):
        return 0.0
    return common / longest


@kernel
def backed_off(count, total, prior, strength, floor):
    """Mean of the Dirichlet posterior: a count drawn towards its prior, and never below `floor`."""
    return np.float32(max((np.float64(count) + strength * prior) / (total + strength), floor))


@kernel
def find(rows, targets, row, target):
    """Place of `target` in the sorted cells of `row`, or -1."""
    low = rows[row]
    high = rows[row + 1]
    while low < high:
        middle = (low + high) // 2
        if targets[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low < rows[row + 1] and targets[low] == target:
        return low
    return -1


@kernel
def look_up(
    source_words,
    target_words,
    source_offsets,
    target_offsets,
    cell_offsets,
    level_rows,
    level_row_starts,
    level_targets,
    level_lexicon,
    level_cell_starts,
    source_totals,
    target_totals,
    source_total_starts,
    target_total_starts,
    source_share,
    target_share,
    strengths,
    floor,
    out,
):
    """Fill `out[cell]` with both directions' lexicon entries of each token pair.

    Word numbers are given for every level (level 0 the forms, then ever coarser words, -1 where unknown), one row of
    `source_words` and `target_words` a level; so are the shares of each token in its coarser word. What a level does
    not know is taken from the next one, weighed as in training; a word that no level knows has the root's share.
    """
    levels = source_words.shape[0]
    for pair in range(len(source_offsets) - 1):
        first_target = target_offsets[pair]
        length = target_offsets[pair + 1] - first_target
        row_start = cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            for j in range(length):
                target = first_target + j
                # Climb until a level knows the pair ...
                found = -1
                level = 0
                while level < levels:
                    word = source_words[level, source]
                    other = target_words[level, target]
                    if word >= 0 and other >= 0:
                        first = level_cell_starts[level]
                        found = find(
                            level_rows[level_row_starts[level] : level_row_starts[level + 1]],
                            level_targets[first : level_cell_starts[level + 1]],
                            word,
                            other,
                        )
                        if found >= 0:
                            break
                    level += 1
                if found >= 0:
                    ahead = level_lexicon[level_cell_starts[level] + found, 0]
                    back = level_lexicon[level_cell_starts[level] + found, 1]
                else:
                    ahead = np.float32(1)
                    back = np.float32(1)
                # ... and come down again through those that do not.
                while level > 0:
                    level -= 1
                    word = source_words[level, source]
                    other = target_words[level, target]
                    total = source_totals[source_total_starts[level] + word] if word >= 0 else 0.0
                    ahead = backed_off(
                        0.0,
                        total,
                        np.float64(target_share[level, target] * ahead),
                        strengths[level, 0],
                        floor,
                    )
                    total = target_totals[target_total_starts[level] + other] if other >= 0 else 0.0
                    back = backed_off(
                        0.0, total, np.float64(source_share[level, source] * back), strengths[level, 1], floor
                    )
                cell = row_start + j
                out[cell, 0] = ahead
                out[cell, 1] = back
            row_start += length


@kernel
def look_up_flat(
    source_words,
    target_words,
    source_offsets,
    target_offsets,
    cell_offsets,
    rows,
    targets,
    lexicon,
    floor,
    out,
):
    """As `look_up` for a lexicon without levels: an unknown pair gets `floor`."""
    for pair in range(len(source_offsets) - 1):
        first_target = target_offsets[pair]
        length = target_offsets[pair + 1] - first_target
        cell = cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            for j in range(length):
                word = source_words[source]
                other = target_words[first_target + j]
                found = -1
                if word >= 0 and other >= 0:
                    found = find(rows, targets, word, other)
                out[cell, 0] = lexicon[found, 0] if found >= 0 else floor
                out[cell, 1] = lexicon[found, 1] if found >= 0 else floor
                cell += 1


@kernel
def add_likeness(
    source_words,
    target_words,
    source_bytes,
    source_bounds,
    target_bytes,
    target_bounds,
    source_ids,
    target_ids,
    source_offsets,
    target_offsets,
    cell_offsets,
    least,
    trust,
    out,
):
    """Raise the entries of like-spelt words of which one is unknown: `trust` is P(translation | identical)."""
    for pair in range(len(source_offsets) - 1):
        first_target = target_offsets[pair]
        length = target_offsets[pair + 1] - first_target
        cell = cell_offsets[pair]
        for source in range(source_offsets[pair], source_offsets[pair + 1]):
            for j in range(length):
                target = first_target + j
                if source_words[source] < 0 or target_words[target] < 0:
                    word = source_ids[source]
                    other = target_ids[target]
                    like = likeness(
                        source_bytes,
                        source_bounds[word],
                        source_bounds[word + 1],
                        target_bytes,
                        target_bounds[other],
                        target_bounds[other + 1],
                        least,
                    )
                    if like > 0.0:
                        share = trust * like
                        if source_words[source] < 0:
                            out[cell, 0] = share + (1.0 - share) * out[cell, 0]
                        if target_words[target] < 0:
                            out[cell, 1] = share + (1.0 - share) * out[cell, 1]
                cell += 1
