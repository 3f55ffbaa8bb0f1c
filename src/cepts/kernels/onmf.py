"""From PLSA to proper alignments: every word is in one cept (or null), and every cept has words on both sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece, vector_kernel
from cepts.kernels.anneal import Criterion, anneal, search
from cepts.kernels.classify import classify
from cepts.kernels.plsa import Cells, margins, train

TINY = np.float32(1e-30)
# When a cept is removed, the others are mixed with this share of the whole matrix.
SHARED = np.float32(0.01)


class MatrixArrays(NamedTuple):
    """The association matrices of sentence pairs, with the null masses of their words."""

    source_offsets: Any
    target_offsets: Any
    cell_offsets: Any
    values: Any
    source_null: Any
    target_null: Any


class CeptSearch(NamedTuple):
    """How the cepts of each pair are found.

    The number of cepts is `wanted` or, where that is 0, chosen by AIC (`bayes`: BIC; with `unsure` = 1 too: ICL).
    `noise` < 0 means a model without noise. Words of a cept that is removed go to other cepts, which are trained again
    if `retrain`. In the end, words move to better cepts if `classify`. The random starts of a `search` depend on the
    number of the pair; that of the first pair is `first_pair`.
    """

    annealing: Any
    wanted: Any
    bayes: Any
    unsure: Any
    retrain: Any
    classify: Any
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
    entropies: Any
    present: Any
    classify: Any


class CeptResults(NamedTuple):
    """Filled: the cept of each word (-1 for null), its confidence P(cept | word), and the noise of each pair.

    `source_strength[i]` times `target_strength[j]` is the confidence of the link between two words of a cept: the
    geometric mean of P(c, j | i) and P(c, i | j). `curves`, unless empty, receives the log-likelihoods of the models
    with 1, 2, ... cepts; `entropies` the entropies of their cepts, which `CeptSearch` may need.
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
    entropies: Any


class WordCepts(NamedTuple):
    """The words of one side of a pair: their null masses and, filled, their cepts, confidences and strengths."""

    null: Any
    cept: Any
    confidence: Any
    strength: Any


@kernel
def _share_out(values, shares):
    """Fill `shares` with the values over their sum, so that sums and quotients do not overflow; returns the sum."""
    total = 0.0
    for cell in range(len(values)):
        total += values[cell]
    for cell in range(len(values)):
        shares[cell] = np.float32(values[cell] / total) if total > 0.0 else np.float32(0)
    return total


@piece
def _clear(words):
    for i in range(len(words.cept)):
        words.cept[i] = -1
        words.confidence[i] = np.float32(1)
        words.strength[i] = np.float32(0)


@vector_kernel
def _assign(cepts, total, weights, factor, words):
    """The most probable cept of each word, eq. (7) of onmf; -1 for null, which needs a larger mass than every cept."""
    heaviest = 0
    for c in range(1, cepts):
        if weights[c] > weights[heaviest]:
            heaviest = c
    for i in range(len(words.cept)):
        # A word without any mass gets the heaviest cept.
        best = heaviest
        mass = weights[heaviest] * factor[heaviest, i]
        for c in range(cepts):
            if weights[c] * factor[c, i] > mass:
                best = c
                mass = weights[c] * factor[c, i]
        words.cept[i] = -1 if words.null[i] > mass * total else best


@kernel
def _lightest_orphan(cepts, weights, source_cept, target_cept, present):
    """The cept with the least weight among those without words on one side; -1 if there is none."""
    for c in range(cepts):
        present[c] = 0
    for c in source_cept:
        if c >= 0:
            present[c] |= 1
    for c in target_cept:
        if c >= 0:
            present[c] |= 2
    orphan = -1
    for c in range(cepts):
        if present[c] != 3 and (orphan < 0 or weights[c] < weights[orphan]):
            orphan = c
    return orphan


@kernel
def _hand_over(cepts, orphan, total, weights, factor, words):
    """Give the words of a cept each to the best of the others, or to null; the last cept takes its number."""
    heaviest = 1 if orphan == 0 else 0
    for c in range(cepts):
        if c != orphan and weights[c] > weights[heaviest]:
            heaviest = c
    for i in range(len(words.cept)):
        if words.cept[i] != orphan:
            continue
        best = heaviest
        mass = weights[heaviest] * factor[heaviest, i] if cepts > 1 else np.float32(0)
        for c in range(cepts):
            if c != orphan and weights[c] * factor[c, i] > mass:
                best = c
                mass = weights[c] * factor[c, i]
        words.cept[i] = -1 if cepts == 1 or words.null[i] > mass * total else best
    for i in range(len(words.cept)):
        if words.cept[i] == cepts - 1:
            words.cept[i] = orphan


@kernel
def _take_place(size, length, last, orphan, model):
    """Put the last cept in the place of a removed one."""
    model.weights[orphan] = model.weights[last]
    for i in range(size):
        model.source[orphan, i] = model.source[last, i]
    for j in range(length):
        model.target[orphan, j] = model.target[last, j]


@kernel
def _remove(cells, rows, columns, cepts, orphan, noise, model):
    """Remove a cept, give its weight to the others, and give these a small part of every word.

    EM never changes a probability of 0, so words that only the removed cept had would otherwise stay without a cept.
    """
    size, length = cells.matrix.shape
    whole = cells.total
    weights, source, target = model.weights, model.source, model.target
    last = cepts - 1
    _take_place(size, length, last, orphan, model)
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
def _renumber(cepts, source_cept, target_cept, number):
    """Number the cepts by their first source word; `number` receives the new numbers."""
    for c in range(cepts):
        number[c] = -1
    used = 0
    for i in range(len(source_cept)):
        c = source_cept[i]
        if c >= 0:
            if number[c] < 0:
                number[c] = used
                used += 1
            source_cept[i] = number[c]
    for j in range(len(target_cept)):
        if target_cept[j] >= 0:
            target_cept[j] = number[target_cept[j]]


@vector_kernel
def _rate(cepts, total, weights, factor, words):
    """Fill the confidence P(cept | word), and the strength; a word without any mass has confidence 1."""
    for i in range(len(words.cept)):
        mass = 0.0
        for c in range(cepts):
            mass += total * weights[c] * factor[c, i]
        mass += words.null[i]
        if words.cept[i] < 0:
            words.confidence[i] = np.float32(words.null[i] / mass) if mass > 0.0 else np.float32(1)
            words.strength[i] = np.float32(0)
        else:
            c = words.cept[i]
            share = total * weights[c] * factor[c, i] / mass if mass > 0.0 else 1.0
            words.confidence[i] = np.float32(min(share, 1.0))
            words.strength[i] = np.float32(np.sqrt(min(share * factor[c, i], 1.0)))


@kernel
def factorise_pairs(pairs, how, room, found, kept):
    """Find the cepts of all pairs; `kept`, unless empty, receives the parameters of the last pair."""
    curve, present, best = room.curve, room.present, room.anneal.best
    rows, columns = room.rows, room.columns
    for pair in range(len(pairs.cell_offsets) - 1):
        part = slice(pairs.source_offsets[pair], pairs.source_offsets[pair + 1])
        source = WordCepts(
            pairs.source_null[part], found.source_cept[part], found.source_confidence[part], found.source_strength[part]
        )
        part = slice(pairs.target_offsets[pair], pairs.target_offsets[pair + 1])
        target = WordCepts(
            pairs.target_null[part], found.target_cept[part], found.target_confidence[part], found.target_strength[part]
        )
        size, length = len(source.cept), len(target.cept)
        _clear(source)
        _clear(target)
        found.noises[pair] = np.float32(0)
        if size == 0 or length == 0:
            continue
        total = _share_out(pairs.values[pairs.cell_offsets[pair] : pairs.cell_offsets[pair + 1]], room.shares)
        if not total > 0.0:
            continue
        matrix = room.shares[: size * length].reshape((size, length))
        cells = Cells(matrix, margins(matrix, rows, columns, room.least), room.least)
        most = min(size, length)
        everything = total
        for i in range(size):
            everything += source.null[i]
        for j in range(length):
            everything += target.null[j]
        price = (0.5 * np.log(max(everything, 1.0)) if how.bayes else 1.0) / total
        for cepts in range(len(curve)):
            curve[cepts] = np.nan
        for cepts in range(len(room.entropies)):
            room.entropies[cepts] = np.nan
        criterion = Criterion(price, how.unsure, room.entropies)
        if how.annealing:
            wanted = min(how.wanted, most)
            cepts, noise = anneal(
                cells, rows, columns, most, wanted, criterion, how.noise, how.warm, how.cold, curve, room.anneal
            )
        else:
            seed = how.seed + how.first_pair + pair
            cepts, noise = search(
                cells, most, criterion, how.noise, how.restarts, how.iterations, seed, curve, room.anneal
            )
        for place in range(found.curve_offsets[pair + 1] - found.curve_offsets[pair]):
            found.curves[found.curve_offsets[pair] + place] = total * curve[place + 1]
            if len(room.entropies):
                found.entropies[found.curve_offsets[pair] + place] = total * room.entropies[place + 1]
        assigned = False
        while cepts > 0:
            if not assigned:
                _assign(cepts, total, best.weights, best.source, source)
                _assign(cepts, total, best.weights, best.target, target)
            orphan = _lightest_orphan(cepts, best.weights, source.cept, target.cept, present)
            if orphan < 0:
                break
            if how.retrain:
                _remove(cells, rows, columns, cepts, orphan, noise, best)
                if cepts > 1:
                    noise = train(cells, cepts - 1, best, noise, how.cold, room.anneal.plsa)
            else:
                _hand_over(cepts, orphan, total, best.weights, best.source, source)
                _hand_over(cepts, orphan, total, best.weights, best.target, target)
                _take_place(size, length, cepts - 1, orphan, best)
                assigned = True
            cepts -= 1
        found.noises[pair] = np.float32(max(noise, 0.0))
        if cepts == 0:
            _clear(source)
            _clear(target)
            continue
        if how.classify:
            classify(matrix, total, cepts, source, target, room.classify)
        _rate(cepts, total, best.weights, best.source, source)
        _rate(cepts, total, best.weights, best.target, target)
        _renumber(cepts, source.cept, target.cept, present)
        if len(kept.weights):
            for c in range(cepts):
                kept.weights[present[c]] = best.weights[c]
                for i in range(size):
                    kept.source[present[c], i] = best.source[c, i]
                for j in range(length):
                    kept.target[present[c], j] = best.target[c, j]


@kernel
def count_cept_links(words, counts):
    """The number of links that the cepts of each pair make; `words` as in `cept_links`."""
    source_offsets, target_offsets, source_cept, target_cept = words
    for pair in range(len(counts)):
        links = 0
        for i in range(source_offsets[pair], source_offsets[pair + 1]):
            if source_cept[i] >= 0:
                for j in range(target_offsets[pair], target_offsets[pair + 1]):
                    links += target_cept[j] == source_cept[i]
        counts[pair] = links


@kernel
def cept_links(words, strengths, source, target, confidence):
    """The links of all pairs, by source, then target position: all pairs of words with the same cept.

    `words` are the offsets of the source and target words of each pair, and the cepts of these words; `strengths` are
    their strengths.
    """
    source_offsets, target_offsets, source_cept, target_cept = words
    source_strength, target_strength = strengths
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
