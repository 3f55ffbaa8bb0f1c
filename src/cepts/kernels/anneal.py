"""Deterministic annealing of PLSA: one pass splits cepts and gives models of all sizes (onmf, section 7.1).

At a high temperature (small b) all cepts are the same. Take two copies of a cept and change P(i | c) of one by a small
factor 1 + x_i, and P(j | c) by 1 + y_j. A tempered EM step turns these changes into x'_i = b (x_i + E[y | i]) and
y'_j = b (y_j + E[x | j]), with expectations under the part of the matrix that the cept explains. So the copies separate
where b (1 + s) > 1, along the singular vectors, where s is the second singular value of that part (the first
correlation of its correspondence analysis). This tells which cept splits next and how, so no temperatures have to be
tried and nothing is random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, vector_kernel
from cepts.kernels.plsa import (
    density,
    entropy,
    mix_row,
    score,
    start_as_one,
    start_at_random,
    train,
    train_tempered,
)

STEPS = 30
LEAST_STEPS = 8
PATIENCE = 8
CHANGE = np.float32(0.9)
TINY = np.float32(1e-30)


class Part(NamedTuple):
    """The part of a matrix that a cept explains, the sums of its rows and columns, and a buffer for one row."""

    matrix: Any
    rows: Any
    columns: Any
    row: Any


class Criterion(NamedTuple):
    """What makes one model better than another: its log-likelihood minus `price` for each parameter.

    With `unsure` = 1, the entropy of P(c | i, j) is subtracted too (ICL). `entropies`, unless empty, receives the
    entropies of the models with 0, 1, 2, ... cepts.
    """

    price: Any
    unsure: Any
    entropies: Any


class AnnealRoom(NamedTuple):
    """Models and buffers of a search.

    `current` is the model whose cepts are split, `tempered` a buffer for its powers, `cold` the model of the same size
    after plain EM, `best` the best of these so far. For each cept, `directions` and `column_directions` are the scores
    of the rows and columns along which it would split, `correlations` their correlation, `gains` what the split would
    explain, and `known` says whether these were computed from the current model.
    """

    current: Any
    tempered: Any
    cold: Any
    best: Any
    plsa: Any
    part: Any
    directions: Any
    column_directions: Any
    correlations: Any
    gains: Any
    known: Any


@vector_kernel
def part_of(cells, cepts, cept, model, uniform, found):
    """Fill `found` with the part of the matrix that `cept` explains; returns its sum."""
    matrix, least = cells.matrix, cells.least
    weights, source, target = model.weights, model.source, model.target
    part, rows, columns, row = found.matrix, found.rows, found.columns, found.row
    size, length = matrix.shape
    for j in range(length):
        columns[j] = np.float32(0)
    total = np.float32(0)
    for i in range(size):
        rows[i] = np.float32(0)
        own = weights[cept] * source[cept, i]
        if own <= least[i]:
            for j in range(length):
                part[i, j] = np.float32(0)
            continue
        mix_row(i, cells, cepts, model, uniform, row)
        mass = np.float32(0)
        for j in range(length):
            value = matrix[i, j] * own * target[cept, j] / max(row[j], TINY)
            part[i, j] = value
            columns[j] += value
            mass += value
        rows[i] = mass
        total += mass
    return total


@vector_kernel
def correlation_of(size, length, found, total, x, y):
    """The first correlation of a part, and in `x` and `y` its scores of rows and columns, by the power method."""
    part, rows, columns = found.matrix, found.rows, found.columns
    correlation = np.float32(0)
    for i in range(size):
        # Links tend to lie along the diagonal, so start there. But no word may start halfway between two others: if
        # these two are alike, the start has no component in the direction in which the word differs from them.
        x[i] = np.float32(i + (0.7548777 * i * i) % 1.0)
    for step in range(STEPS):
        mean = np.float32(0)
        for i in range(size):
            mean += rows[i] * x[i]
        mean /= total
        spread = np.float32(0)
        for i in range(size):
            x[i] -= mean
            spread += rows[i] * x[i] * x[i]
        if spread <= np.float32(1e-12) * total:
            return np.float32(0)
        scale = np.float32(1) / np.sqrt(spread / total)
        for j in range(length):
            y[j] = np.float32(0)
        for i in range(size):
            x[i] *= scale
            if rows[i] > TINY:
                for j in range(length):
                    y[j] += part[i, j] * x[i]
        spread = np.float32(0)
        for j in range(length):
            y[j] = y[j] / columns[j] if columns[j] > TINY else np.float32(0)
            spread += columns[j] * y[j] * y[j]
        before = correlation
        correlation = np.sqrt(spread / total)
        # From a start with a small component in the right direction, the first steps may seem to converge elsewhere.
        if step >= LEAST_STEPS and abs(correlation - before) < np.float32(1e-5):
            break
        for i in range(size):
            value = np.float32(0)
            if rows[i] > TINY:
                for j in range(length):
                    value += part[i, j] * y[j]
                value /= rows[i]
            x[i] = value
    return correlation


@vector_kernel
def _split(size, cept, other, direction, factor):
    """Make `cept` and `other` two copies of `cept`, changed along `direction` and against it; returns their masses."""
    most = TINY
    least = TINY
    for i in range(size):
        # The score of a word that the cept does not have is meaningless.
        if factor[cept, i] > np.float32(0):
            most = max(most, direction[i])
            least = max(least, -direction[i])
    one = np.float32(0)
    two = np.float32(0)
    for i in range(size):
        value = factor[cept, i]
        # Scale each sign by its own largest score, so that one rare word and all others separate equally far.
        change = np.float32(0)
        if value > np.float32(0):
            if direction[i] > np.float32(0):
                change = CHANGE * np.sqrt(direction[i] / most)
            else:
                change = -CHANGE * np.sqrt(-direction[i] / least)
        factor[cept, i] = value * (np.float32(1) + change)
        factor[other, i] = value * (np.float32(1) - change)
        one += factor[cept, i]
        two += factor[other, i]
    for i in range(size):
        factor[cept, i] /= max(one, TINY)
        factor[other, i] /= max(two, TINY)
    return one, two


@vector_kernel
def _copy(cepts, size, length, model, to):
    for c in range(cepts):
        to.weights[c] = model.weights[c]
        for i in range(size):
            to.source[c, i] = model.source[c, i]
        for j in range(length):
            to.target[c, j] = model.target[c, j]


@kernel
def _value(cells, cepts, model, noise, criterion, found, room):
    """The criterion of a model with the log-likelihood `found`."""
    size, length = cells.matrix.shape
    value = found - criterion.price * cepts * (size + length - 1)
    if len(criterion.entropies):
        criterion.entropies[cepts] = entropy(cells, cepts, model, noise, room.plsa.row)
        value -= criterion.unsure * criterion.entropies[cepts]
    return value


@kernel
def anneal(cells, rows, columns, most, wanted, criterion, noise, warm, cold, curve, room):
    """Models of 1 to `most` cepts, each by splitting a cept of the last one; returns the size and noise of the best.

    The best model has the highest value of `criterion`; where `wanted` > 0, it is the one with that many cepts, or the
    largest if fewer can be told apart. After each split come `warm` tempered steps at a
    temperature between that of the split and 1. From there, `cold` steps of plain EM give the model of that size, whose
    log-likelihood goes to `curve`. The cept to split is the one whose split explains most: its mass times the square
    of its correlation. The pass ends early when the criterion has been worse than its best for long.
    """
    size, length = cells.matrix.shape
    model, weights = room.current, room.current.weights
    correlations, gains, known, part = room.correlations, room.gains, room.known, room.part
    start_as_one(cells, rows, columns, noise, model)
    for c in range(most):
        gains[c] = np.inf
    chosen = 0
    chosen_noise = noise
    highest = -np.inf
    for cepts in range(1, most + 1):
        _copy(cepts, size, length, model, room.cold)
        level = train(cells, cepts, room.cold, noise, cold, room.plsa)
        curve[cepts] = score(cells, cepts, room.cold, level, room.plsa)
        value = _value(cells, cepts, room.cold, level, criterion, curve[cepts], room)
        if value > highest or wanted > 0 or chosen == 0:
            highest = value
            chosen = cepts
            chosen_noise = level
            _copy(cepts, size, length, room.cold, room.best)
        if cepts in (most, wanted):
            break
        if wanted == 0 and cepts - chosen >= max(PATIENCE, chosen // 4):
            # Long past the best. In long sentences the remaining models would take most of the time.
            break
        uniform = density(noise, size, length)
        # Later steps may have changed a gain, so the largest is computed again before it counts as the largest.
        splits = np.int64(0)
        for c in range(cepts):
            known[c] = False
        while not known[splits]:
            mass = part_of(cells, cepts, splits, model, uniform, part)
            correlations[splits] = np.float32(0)
            if mass > TINY:
                correlations[splits] = correlation_of(
                    size, length, part, mass, room.directions[splits], room.column_directions[splits]
                )
            gains[splits] = mass * correlations[splits] * correlations[splits]
            known[splits] = True
            splits = np.argmax(gains[:cepts])
        if gains[splits] <= 0.0:
            # In every cept the two sides are independent: there is nothing left to split.
            break
        # Well above the critical value, and one of those whose powers are cheap.
        critical = 1.0 / (1.0 + correlations[splits])
        inverse_temperature = 0.75 if critical < 0.7 else (0.875 if critical < 0.83 else 1.0)
        one, two = _split(size, splits, cepts, room.directions[splits], model.source)
        _split(length, splits, cepts, room.column_directions[splits], model.target)
        mass = weights[splits]
        weights[splits] = mass * one / (one + two)
        weights[cepts] = mass * two / (one + two)
        gains[splits] = np.inf
        gains[cepts] = np.inf
        noise = train_tempered(cells, cepts + 1, model, room.tempered, noise, warm, inverse_temperature, room.plsa)
    return chosen, chosen_noise


@kernel
def search(cells, most, criterion, noise, restarts, iterations, seed, curve, room):
    """Models of 1 to `most` cepts, each from `restarts` random starts; returns the size and noise of the best.

    Of the starts with the same number of cepts, the one with the highest likelihood counts.
    """
    size, length = cells.matrix.shape
    state = np.uint64(seed) * np.uint64(2654435761) + np.uint64(88172645463325252)
    chosen = 0
    chosen_noise = noise
    highest = -np.inf
    for cepts in range(1, most + 1):
        curve[cepts] = -np.inf
        best_level = noise
        for _ in range(restarts if cepts > 1 else 1):
            state = start_at_random(size, length, cepts, noise, state, room.current)
            level = train(cells, cepts, room.current, noise, iterations, room.plsa)
            found = score(cells, cepts, room.current, level, room.plsa)
            if found > curve[cepts]:
                curve[cepts] = found
                best_level = level
                _copy(cepts, size, length, room.current, room.cold)
        value = _value(cells, cepts, room.cold, best_level, criterion, curve[cepts], room)
        if value > highest:
            highest = value
            chosen = cepts
            chosen_noise = best_level
            _copy(cepts, size, length, room.cold, room.best)
    return chosen, chosen_noise
