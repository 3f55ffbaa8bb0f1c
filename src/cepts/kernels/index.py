"""Numbering the word pairs that co-occur, so that an E-step needs no hashing.

A *cell* is a (source word, target word) pair that co-occurs in some sentence pair. Each shard numbers its own cells;
these numbers are then merged into numbers for the whole text. Rows are always source words.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel


@kernel
def _same_words(ids, one, other, length):
    k = 0
    while k < length and ids[one + k] == ids[other + k]:
        k += 1
    return k == length


@kernel
def distinct_pairs(source_ids, source_offsets, target_ids, target_offsets, table, place_of, first_of, times):
    """Find the sentence pairs that are the same, word for word.

    Fills `place_of` (the number of each pair among the distinct ones, which are numbered in order of first use),
    `first_of` (the first of each distinct pair) and `times` (how often it occurs); returns the number of distinct
    pairs. `table` (all -1) has a power of two of slots, at least twice as many as there are pairs.
    """
    mask = np.uint64(len(table) - 1)
    kinds = 0
    for pair in range(len(source_offsets) - 1):
        source = source_offsets[pair]
        target = target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        code = np.uint64(size) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(length)
        for i in range(size):
            code = (code ^ np.uint64(source_ids[source + i])) * np.uint64(0xFF51AFD7ED558CCD)
            code ^= code >> np.uint64(32)
        for j in range(length):
            code = (code ^ np.uint64(target_ids[target + j])) * np.uint64(0xC4CEB9FE1A85EC53)
            code ^= code >> np.uint64(32)
        slot = code & mask
        while True:
            kind = table[slot]
            if kind < 0:
                table[slot] = kinds
                first_of[kinds] = pair
                times[kinds] = 1
                place_of[pair] = kinds
                kinds += 1
                break
            other = first_of[kind]
            other_source = source_offsets[other]
            other_target = target_offsets[other]
            if (
                source_offsets[other + 1] - other_source == size
                and target_offsets[other + 1] - other_target == length
                and _same_words(source_ids, other_source, source, size)
                and _same_words(target_ids, other_target, target, length)
            ):
                times[kind] += 1
                place_of[pair] = kind
                break
            slot = (slot + np.uint64(1)) & mask
    return kinds


@allocating_kernel
def occurrences_by_word(ids, starts, order):
    """Fill `order` with the places of each word in `ids`, from `starts[word]` on: a counting sort."""
    starts[:] = 0
    for word in ids:
        starts[word + 1] += 1
    for word in range(len(starts) - 1):
        starts[word + 1] += starts[word]
    place = starts.copy()
    for token in range(len(ids)):
        word = ids[token]
        order[place[word]] = token
        place[word] += 1


@kernel
def token_rows(source_offsets, target_offsets, cell_offsets, sentence_of, row_of):
    """The sentence of each source token, and the start of its row of cells."""
    for pair in range(len(source_offsets) - 1):
        width = target_offsets[pair + 1] - target_offsets[pair]
        row = cell_offsets[pair]
        for token in range(source_offsets[pair], source_offsets[pair + 1]):
            sentence_of[token] = pair
            row_of[token] = row
            row += width


@kernel
def number_cells(starts, order, sentence_of, row_of, target_ids, target_offsets, seen, slot, cells, targets, rows):
    """Number the distinct cells of a shard, source word by source word, in order of first use.

    Fills `cells` (the cell of each token pair), `targets` (the target word of each cell) and `rows` (where the cells of
    each source word start); returns the number of cells. `seen` (all -1) and `slot` are as long as the target
    vocabulary: they serve as a hash table that needs no clearing between source words.
    """
    count = 0
    for word in range(len(starts) - 1):
        rows[word] = count
        for place in range(starts[word], starts[word + 1]):
            token = order[place]
            sentence = sentence_of[token]
            row = row_of[token]
            first = target_offsets[sentence]
            for j in range(target_offsets[sentence + 1] - first):
                target = target_ids[first + j]
                if seen[target] != word:
                    seen[target] = word
                    slot[target] = count
                    targets[count] = target
                    count += 1
                cells[row + j] = slot[target]
    rows[len(starts) - 1] = count
    return count


@kernel
def renumber_by_use(cells, numbers, renamed, out):
    """Renumber the cells of a shard in order of first use, in place.

    A pass over the token pairs then meets new cells in ascending order, and frequent cells, which come early, lie close
    together: both are good for memory caches. `out` receives `numbers` in the new order; `renamed` is a buffer, all -1.
    """
    count = 0
    for place in range(len(cells)):
        cell = cells[place]
        new = renamed[cell]
        if new < 0:
            new = count
            renamed[cell] = new
            out[new] = numbers[cell]
            count += 1
        cells[place] = new


@kernel
def merge_rows(
    members, member_starts, coarse_of_target, fine_rows, fine_targets, seen, slot, coarse_of_cell, targets, rows
):
    """Number the distinct cells of merged rows; `members` lists the fine rows of each coarse row.

    Fills `coarse_of_cell` with the new number of each fine cell, and `targets` and `rows` as `number_cells` does.
    """
    count = 0
    for group in range(len(member_starts) - 1):
        rows[group] = count
        for place in range(member_starts[group], member_starts[group + 1]):
            word = members[place]
            for cell in range(fine_rows[word], fine_rows[word + 1]):
                target = coarse_of_target[fine_targets[cell]]
                if seen[target] != group:
                    seen[target] = group
                    slot[target] = count
                    targets[count] = target
                    count += 1
                coarse_of_cell[cell] = slot[target]
    rows[len(member_starts) - 1] = count
    return count


@allocating_kernel
def sort_rows(rows, targets, order):
    """Fill `order` with the cells of each row, sorted by target word."""
    for row in range(len(rows) - 1):
        start = rows[row]
        stop = rows[row + 1]
        order[start:stop] = start + np.argsort(targets[start:stop], kind="mergesort")
