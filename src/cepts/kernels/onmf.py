"""From PLSA to proper alignments: every word in exactly one cept, every cept with words on both sides."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, vector_kernel
from cepts.kernels.anneal import anneal, search
from cepts.kernels.plsa import margins, train

TINY = np.float32(1e-30)
# Share of the whole matrix that cepts are given when one of them is removed.
SHARED = np.float32(0.01)


@kernel
def _share_out(values, shares):
    """The values as shares of their sum, so that no sum or quotient of them overflows or vanishes; returns the sum."""
    total = 0.0
    for cell in range(len(values)):
        total += values[cell]
    for cell in range(len(values)):
        shares[cell] = np.float32(values[cell] / total) if total > 0.0 else np.float32(0)
    return total


@vector_kernel
def _assign(size, cepts, total, weights, factor, null, cept):
    """MAP cept of each word, eq. (7); -1 for null, which must have more of the word than any cept."""
    heaviest = 0
    for c in range(1, cepts):
        if weights[c] > weights[heaviest]:
            heaviest = c
    for i in range(size):
        # A word of which nothing is known goes with the most.
        best = heaviest
        mass = weights[heaviest] * factor[heaviest, i]
        for c in range(cepts):
            if weights[c] * factor[c, i] > mass:
                best = c
                mass = weights[c] * factor[c, i]
        cept[i] = -1 if null[i] > mass * total else best


@kernel
def _lightest_orphan(size, length, cepts, weights, source_cept, target_cept, present):
    """The cept of least weight that lacks words on a side (-1: none does)."""
    for c in range(cepts):
        present[c] = 0
    for i in range(size):
        if source_cept[i] >= 0:
            present[source_cept[i]] |= 1
    for j in range(length):
        if target_cept[j] >= 0:
            present[target_cept[j]] |= 2
    orphan = -1
    for c in range(cepts):
        if present[c] != 3 and (orphan < 0 or weights[c] < weights[orphan]):
            orphan = c
    return orphan


@kernel
def _remove(size, length, cepts, orphan, noise, rows, columns, whole, weights, source, target):
    """Take a cept out, give its weight to the others and let them all have a little of every word.

    For EM keeps what is 0: a word that the cept alone had would stay without any.
    """
    last = cepts - 1
    weights[orphan] = weights[last]
    for i in range(size):
        source[orphan, i] = source[last, i]
    for j in range(length):
        target[orphan, j] = target[last, j]
    for c in range(last):
        for i in range(size):
            source[c, i] += SHARED * (np.float32(rows[i] / whole) - source[c, i])
        for j in range(length):
            target[c, j] += SHARED * (np.float32(columns[j] / whole) - target[c, j])
    total = 0.0
    for c in range(last):
        total += weights[c]
    for c in range(last):
        if total > 0.0:
            weights[c] *= np.float32((1.0 - max(noise, 0.0)) / total)
        else:
            weights[c] = np.float32((1.0 - max(noise, 0.0)) / last)


@kernel
def _order(size, length, cepts, source_cept, target_cept, number):
    """Number the cepts by their first source word."""
    for c in range(cepts):
        number[c] = -1
    used = 0
    for i in range(size):
        c = source_cept[i]
        if c >= 0:
            if number[c] < 0:
                number[c] = used
                used += 1
            source_cept[i] = number[c]
    for j in range(length):
        if target_cept[j] >= 0:
            target_cept[j] = number[target_cept[j]]


@vector_kernel
def _confide(size, cepts, total, weights, factor, null, cept, confidence, strength):
    """P(cept | word), and the root of it times P(word | cept); 1 and 0 for a word of which nothing is known."""
    for i in range(size):
        mass = 0.0
        for c in range(cepts):
            mass += total * weights[c] * factor[c, i]
        mass += null[i]
        if cept[i] < 0:
            confidence[i] = np.float32(null[i] / mass) if mass > 0.0 else np.float32(1)
            strength[i] = np.float32(0)
        else:
            c = cept[i]
            share = total * weights[c] * factor[c, i] / mass if mass > 0.0 else 1.0
            confidence[i] = np.float32(min(share, 1.0))
            strength[i] = np.float32(np.sqrt(min(share * factor[c, i], 1.0)))


@kernel
def factorise_pairs(
    source_offsets,
    target_offsets,
    cell_offsets,
    values,
    source_null,
    target_null,
    first_pair,
    annealing,
    wanted,
    bayes,
    noise_start,
    warm,
    cold,
    restarts,
    iterations,
    seed,
    source_cept,
    target_cept,
    source_confidence,
    target_confidence,
    source_strength,
    target_strength,
    noises,
    chosen_counts,
    curve_offsets,
    curves,
    kept_weights,
    kept_source,
    kept_target,
):
    """Cepts of the words of every pair.

    The number of cepts is `wanted`, or where that is 0 chosen by AIC (`bayes`: BIC). `source_strength[i]` times
    `target_strength[j]` is the confidence of the link of two words of a cept: the geometric mean of P(c, j | i) and
    P(c, i | j). `chosen_counts` receives the number of cepts before orphans are removed, `curves` (where it has room)
    the log-likelihood by number of cepts, `kept_weights` and the two after it (where they have room) the parameters of
    the last pair.
    """
    widest = 1
    longest = 1
    most_of_all = 1
    for pair in range(len(cell_offsets) - 1):
        size = source_offsets[pair + 1] - source_offsets[pair]
        length = target_offsets[pair + 1] - target_offsets[pair]
        widest = max(widest, size)
        longest = max(longest, length)
        most_of_all = max(most_of_all, min(size, length))
    weights = np.zeros(most_of_all, np.float32)
    source = np.zeros((most_of_all, widest), np.float32)
    target = np.zeros((most_of_all, longest), np.float32)
    best_weights = np.zeros(most_of_all, np.float32)
    best_source = np.zeros((most_of_all, widest), np.float32)
    best_target = np.zeros((most_of_all, longest), np.float32)
    cold_weights = np.zeros(most_of_all, np.float32)
    cold_source = np.zeros((most_of_all, widest), np.float32)
    cold_target = np.zeros((most_of_all, longest), np.float32)
    source_power = np.zeros((most_of_all, widest), np.float32)
    target_power = np.zeros((most_of_all, longest), np.float32)
    new_source = np.zeros((most_of_all, widest), np.float32)
    new_target = np.zeros((most_of_all, longest), np.float32)
    directions = np.zeros((most_of_all, widest), np.float32)
    column_directions = np.zeros((most_of_all, longest), np.float32)
    part = np.zeros((widest, longest), np.float32)
    part_rows = np.zeros(widest, np.float32)
    part_columns = np.zeros(longest, np.float32)
    rows = np.zeros(widest, np.float32)
    columns = np.zeros(longest, np.float32)
    shares = np.zeros(widest * longest, np.float32)
    least = np.zeros(widest, np.float32)
    row = np.zeros(longest, np.float32)
    curve = np.zeros(most_of_all + 1)
    present = np.zeros(most_of_all, np.int64)
    for pair in range(len(cell_offsets) - 1):
        first_source = source_offsets[pair]
        first_target = target_offsets[pair]
        size = source_offsets[pair + 1] - first_source
        length = target_offsets[pair + 1] - first_target
        for i in range(size):
            source_cept[first_source + i] = -1
            source_confidence[first_source + i] = np.float32(1)
            source_strength[first_source + i] = np.float32(0)
        for j in range(length):
            target_cept[first_target + j] = -1
            target_confidence[first_target + j] = np.float32(1)
            target_strength[first_target + j] = np.float32(0)
        noises[pair] = np.float32(0)
        chosen_counts[pair] = 0
        if size == 0 or length == 0:
            continue
        total = _share_out(values[cell_offsets[pair] : cell_offsets[pair + 1]], shares)
        if not total > 0.0:
            continue
        matrix = shares[: size * length].reshape((size, length))
        whole = margins(matrix, rows, columns, least)
        own_source_null = source_null[first_source : first_source + size]
        own_target_null = target_null[first_target : first_target + length]
        most = min(size, length)
        everything = total
        for i in range(size):
            everything += own_source_null[i]
        for j in range(length):
            everything += own_target_null[j]
        price = (0.5 * np.log(max(everything, 1.0)) if bayes else 1.0) / total
        for cepts in range(len(curve)):
            curve[cepts] = np.nan
        if annealing:
            cepts, noise = anneal(
                matrix,
                rows,
                columns,
                whole,
                least,
                most,
                min(wanted, most),
                price,
                noise_start,
                warm,
                cold,
                curve,
                weights,
                source,
                target,
                best_weights,
                best_source,
                best_target,
                cold_weights,
                cold_source,
                cold_target,
                source_power,
                target_power,
                new_source,
                new_target,
                row,
                part,
                part_rows,
                part_columns,
                directions,
                column_directions,
            )
        else:
            cepts, noise = search(
                matrix,
                whole,
                least,
                most,
                price,
                noise_start,
                restarts,
                iterations,
                seed + first_pair + pair,
                curve,
                weights,
                source,
                target,
                best_weights,
                best_source,
                best_target,
                new_source,
                new_target,
                row,
            )
        chosen_counts[pair] = cepts
        for place in range(curve_offsets[pair + 1] - curve_offsets[pair]):
            curves[curve_offsets[pair] + place] = total * curve[place + 1]
        own_source_cept = source_cept[first_source : first_source + size]
        own_target_cept = target_cept[first_target : first_target + length]
        while cepts > 0:
            _assign(size, cepts, total, best_weights, best_source, own_source_null, own_source_cept)
            _assign(length, cepts, total, best_weights, best_target, own_target_null, own_target_cept)
            orphan = _lightest_orphan(size, length, cepts, best_weights, own_source_cept, own_target_cept, present)
            if orphan < 0:
                break
            _remove(size, length, cepts, orphan, noise, rows, columns, whole, best_weights, best_source, best_target)
            cepts -= 1
            if cepts:
                noise = train(
                    matrix,
                    whole,
                    cepts,
                    best_weights,
                    best_source,
                    best_target,
                    noise,
                    cold,
                    least,
                    new_source,
                    new_target,
                    row,
                )
        noises[pair] = np.float32(max(noise, 0.0))
        if cepts == 0:
            # All that is left is null's.
            for i in range(size):
                own_source_cept[i] = -1
            for j in range(length):
                own_target_cept[j] = -1
            continue
        _confide(
            size,
            cepts,
            total,
            best_weights,
            best_source,
            own_source_null,
            own_source_cept,
            source_confidence[first_source : first_source + size],
            source_strength[first_source : first_source + size],
        )
        _confide(
            length,
            cepts,
            total,
            best_weights,
            best_target,
            own_target_null,
            own_target_cept,
            target_confidence[first_target : first_target + length],
            target_strength[first_target : first_target + length],
        )
        _order(size, length, cepts, own_source_cept, own_target_cept, present)
        if len(kept_weights):
            for c in range(cepts):
                kept_weights[present[c]] = best_weights[c]
                for i in range(size):
                    kept_source[present[c], i] = best_source[c, i]
                for j in range(length):
                    kept_target[present[c], j] = best_target[c, j]


@kernel
def count_cept_links(source_offsets, target_offsets, source_cept, target_cept, counts):
    """How many links the cepts of each pair make."""
    for pair in range(len(counts)):
        links = 0
        for i in range(source_offsets[pair], source_offsets[pair + 1]):
            if source_cept[i] >= 0:
                for j in range(target_offsets[pair], target_offsets[pair + 1]):
                    links += target_cept[j] == source_cept[i]
        counts[pair] = links


@kernel
def cept_links(
    source_offsets,
    target_offsets,
    source_cept,
    target_cept,
    source_strength,
    target_strength,
    source,
    target,
    confidence,
):
    """The links of all pairs, by source, then target position: each word of a cept with all of the other side."""
    link = 0
    for pair in range(len(source_offsets) - 1):
        for i in range(source_offsets[pair], source_offsets[pair + 1]):
            if source_cept[i] < 0:
                continue
            for j in range(target_offsets[pair], target_offsets[pair + 1]):
                if target_cept[j] == source_cept[i]:
                    source[link] = i - source_offsets[pair]
                    target[link] = j - target_offsets[pair]
                    confidence[link] = min(source_strength[i] * target_strength[j], np.float32(1))
                    link += 1
