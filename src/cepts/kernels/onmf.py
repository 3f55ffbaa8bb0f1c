"""From PLSA to proper alignments: every word in exactly one cept, every cept with words on both sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, vector_kernel
from cepts.kernels.anneal import anneal, search
from cepts.kernels.plsa import Cells, margins, train

TINY = np.float32(1e-30)
# Share of the whole matrix that cepts are given when one of them is removed.
SHARED = np.float32(0.01)


class Matrices(NamedTuple):
    """The association matrices of sentence pairs, with the null masses of their words."""

    source_offsets: Any
    target_offsets: Any
    cell_offsets: Any
    values: Any
    source_null: Any
    target_null: Any


class Search(NamedTuple):
    """How the cepts of each pair are found.

    The number of cepts is `wanted`, or where that is 0 chosen by AIC (`bayes`: BIC). `noise` < 0 is a model without.
    The starts of a `search` are drawn for pair `first_pair` and those after it.
    """

    annealing: Any
    wanted: Any
    bayes: Any
    noise: Any
    warm: Any
    cold: Any
    restarts: Any
    iterations: Any
    seed: Any
    first_pair: Any


class OnmfRoom(NamedTuple):
    """Buffers for the largest pair."""

    anneal: Any
    rows: Any
    columns: Any
    least: Any
    shares: Any
    curve: Any
    present: Any


class Alignment(NamedTuple):
    """What is found: the cept of each word (-1 for null), how sure that is, the noise of each pair.

    `source_strength[i]` times `target_strength[j]` is the confidence of the link of two words of a cept: the geometric
    mean of P(c, j | i) and P(c, i | j). `curves` (where it has room) receives the log-likelihood by number of cepts.
    """

    source_cept: Any
    target_cept: Any
    source_confidence: Any
    target_confidence: Any
    source_strength: Any
    target_strength: Any
    noises: Any
    curve_offsets: Any
    curves: Any


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
def _remove(cells, rows, columns, cepts, orphan, noise, model):
    """Take a cept out, give its weight to the others and let them all have a little of every word.

    EM keeps what is 0, so a word that the cept alone had would stay without any.
    """
    size, length = cells.matrix.shape
    whole = cells.total
    weights, source, target = model.weights, model.source, model.target
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
def factorise_pairs(pairs, how, room, found, kept):
    """Cepts of the words of every pair; `kept` (where it has room) receives the parameters of the last pair."""
    curve, present, best = room.curve, room.present, room.anneal.best
    rows, columns = room.rows, room.columns
    for pair in range(len(pairs.cell_offsets) - 1):
        first_source = pairs.source_offsets[pair]
        first_target = pairs.target_offsets[pair]
        size = pairs.source_offsets[pair + 1] - first_source
        length = pairs.target_offsets[pair + 1] - first_target
        for i in range(size):
            found.source_cept[first_source + i] = -1
            found.source_confidence[first_source + i] = np.float32(1)
            found.source_strength[first_source + i] = np.float32(0)
        for j in range(length):
            found.target_cept[first_target + j] = -1
            found.target_confidence[first_target + j] = np.float32(1)
            found.target_strength[first_target + j] = np.float32(0)
        found.noises[pair] = np.float32(0)
        if size == 0 or length == 0:
            continue
        total = _share_out(pairs.values[pairs.cell_offsets[pair] : pairs.cell_offsets[pair + 1]], room.shares)
        if not total > 0.0:
            continue
        matrix = room.shares[: size * length].reshape((size, length))
        cells = Cells(matrix, margins(matrix, rows, columns, room.least), room.least)
        own_source_null = pairs.source_null[first_source : first_source + size]
        own_target_null = pairs.target_null[first_target : first_target + length]
        most = min(size, length)
        everything = total
        for i in range(size):
            everything += own_source_null[i]
        for j in range(length):
            everything += own_target_null[j]
        price = (0.5 * np.log(max(everything, 1.0)) if how.bayes else 1.0) / total
        for cepts in range(len(curve)):
            curve[cepts] = np.nan
        if how.annealing:
            wanted = min(how.wanted, most)
            cepts, noise = anneal(
                cells, rows, columns, most, wanted, price, how.noise, how.warm, how.cold, curve, room.anneal
            )
        else:
            seed = how.seed + how.first_pair + pair
            cepts, noise = search(cells, most, price, how.noise, how.restarts, how.iterations, seed, curve, room.anneal)
        for place in range(found.curve_offsets[pair + 1] - found.curve_offsets[pair]):
            found.curves[found.curve_offsets[pair] + place] = total * curve[place + 1]
        own_source_cept = found.source_cept[first_source : first_source + size]
        own_target_cept = found.target_cept[first_target : first_target + length]
        while cepts > 0:
            _assign(size, cepts, total, best.weights, best.source, own_source_null, own_source_cept)
            _assign(length, cepts, total, best.weights, best.target, own_target_null, own_target_cept)
            orphan = _lightest_orphan(size, length, cepts, best.weights, own_source_cept, own_target_cept, present)
            if orphan < 0:
                break
            _remove(cells, rows, columns, cepts, orphan, noise, best)
            cepts -= 1
            if cepts:
                noise = train(cells, cepts, best, noise, how.cold, room.anneal.plsa)
        found.noises[pair] = np.float32(max(noise, 0.0))
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
            best.weights,
            best.source,
            own_source_null,
            own_source_cept,
            found.source_confidence[first_source : first_source + size],
            found.source_strength[first_source : first_source + size],
        )
        _confide(
            length,
            cepts,
            total,
            best.weights,
            best.target,
            own_target_null,
            own_target_cept,
            found.target_confidence[first_target : first_target + length],
            found.target_strength[first_target : first_target + length],
        )
        _order(size, length, cepts, own_source_cept, own_target_cept, present)
        if len(kept.weights):
            for c in range(cepts):
                kept.weights[present[c]] = best.weights[c]
                for i in range(size):
                    kept.source[present[c], i] = best.source[c, i]
                for j in range(length):
                    kept.target[present[c], j] = best.target[c, j]


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
