"""Links of sentence pairs from the similarity of encoded words: centring, mutual argmax, and optimal transport."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

SMALLEST_CHANGE = 1e-7  # of the logarithm of a scaling, after which transport stops
LARGEST_LOG = 60.0  # of the mass of a cell, so that it fits into float32


@kernel
def centre(source_lengths, target_lengths, cell_offsets, values, room):
    """Turn dot products of the words of two sentences into those of vectors without what their sentence has in common.

    From each vector of a sentence of n words, (n - 1) / n of the sentence's mean vector is subtracted; so the vector of
    a single word stays as it is. `room` is a buffer with a place for each column of the widest matrix.
    """
    for pair in range(len(cell_offsets) - 1):
        rows = source_lengths[pair]
        columns = target_lengths[pair]
        start = cell_offsets[pair]
        if start == cell_offsets[pair + 1]:
            continue
        for j in range(columns):
            room[j] = 0.0
        whole = 0.0
        for i in range(rows):
            for j in range(columns):
                value = np.float64(values[start + i * columns + j])
                room[j] += value
                whole += value
        down = (rows - 1.0) / rows
        right = (columns - 1.0) / columns
        whole *= down * right / (rows * columns)
        for i in range(rows):
            own = 0.0
            for j in range(columns):
                own += values[start + i * columns + j]
            own *= right / columns
            for j in range(columns):
                values[start + i * columns + j] += whole - own - down * room[j] / rows


@kernel
def mutual_best(source_lengths, target_lengths, cell_offsets, logits, rounds, room, kept):
    """Set `kept` where a cell is the best one of its row and of its column (Sabet et al., 2020).

    In each further round, cells of which both words are linked are taken out, and the mutually best of those that
    remain are added, until all words of a side are linked. There is one round if a sentence has two words or fewer. Of
    equal cells the first is the best. `room` is a buffer of four rows, as long as the longest sentence.
    """
    for pair in range(len(cell_offsets) - 1):
        rows = source_lengths[pair]
        columns = target_lengths[pair]
        start = cell_offsets[pair]
        stop = cell_offsets[pair + 1]
        for cell in range(start, stop):
            kept[cell] = False
        if start == stop:
            continue
        for word in range(max(rows, columns)):
            room[2, word] = 0
            room[3, word] = 0
        for _ in range(rounds if min(rows, columns) > 2 else 1):
            if not _add_mutual_best(rows, columns, logits[start:stop], room, kept[start:stop]):
                break


@kernel
def _add_mutual_best(rows, columns, logits, room, kept):
    """One round of `mutual_best`; returns whether another one could add links.

    `room` has the best column of each row, the best row of each column, and whether rows and columns are linked.
    """
    for i in range(rows):
        room[0, i] = -1
    for j in range(columns):
        room[1, j] = -1
    for i in range(rows):
        for j in range(columns):
            if room[2, i] and room[3, j]:
                continue
            value = logits[i * columns + j]
            if room[0, i] < 0 or value > logits[i * columns + room[0, i]]:
                room[0, i] = j
            if room[1, j] < 0 or value > logits[room[1, j] * columns + j]:
                room[1, j] = i
    for i in range(rows):
        j = room[0, i]
        if j >= 0 and room[1, j] == i:
            kept[i * columns + j] = True
    for i in range(rows):
        for j in range(columns):
            if kept[i * columns + j]:
                room[2, i] = 1
                room[3, j] = 1
    source = 0
    target = 0
    for i in range(rows):
        source += room[2, i]
    for j in range(columns):
        target += room[3, j]
    return source < rows and target < columns


@kernel
def transport(source_lengths, target_lengths, cell_offsets, logits, null, stay, sweeps, room, plan):
    """Fill `plan` with the unbalanced, entropic optimal transport of each matrix.

    The plan P minimises, with a = 1 / rows and b = 1 / columns for each word,

        sum P (null - logits) + KL(P | a b) + stay KL(P 1 | a) + stay KL(P' 1 | b),

    where KL(p | q) = sum p log(p / q) - p + q (Chizat et al., 2018). With u and v the logarithms of the scalings, each
    of at most `sweeps` sets u = -r log sum_j b exp(logits - null + v), r = stay / (1 + stay), and v likewise. `room` is
    a buffer of two rows, as long as the longest sentence.
    """
    share = stay / (1.0 + stay)
    for pair in range(len(cell_offsets) - 1):
        rows = source_lengths[pair]
        columns = target_lengths[pair]
        start = cell_offsets[pair]
        if start == cell_offsets[pair + 1]:
            continue
        u = room[0]
        v = room[1]
        for j in range(columns):
            v[j] = 0.0
        for _ in range(sweeps):
            change = 0.0
            for i in range(rows):
                row = logits[start + i * columns : start + (i + 1) * columns]
                u[i] = share * (np.log(columns) - _log_sum(row, v) + null)
            for j in range(columns):
                column = logits[start + j : start + rows * columns : columns]
                new = share * (np.log(rows) - _log_sum(column, u) + null)
                change = max(change, abs(new - v[j]))
                v[j] = new
            if change < SMALLEST_CHANGE:
                break
        for i in range(rows):
            for j in range(columns):
                cell = start + i * columns + j
                plan[cell] = np.exp(min(u[i] + logits[cell] - null + v[j], LARGEST_LOG)) / (rows * columns)


@kernel
def _log_sum(values, more):
    """The logarithm of the sum of exp(values + more)."""
    peak = values[0] + more[0]
    for place in range(1, len(values)):
        peak = max(peak, values[place] + more[place])
    total = 0.0
    for place in range(len(values)):
        total += np.exp(values[place] + more[place] - peak)
    return peak + np.log(total)
