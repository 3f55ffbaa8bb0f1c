"""Deterministic annealing of PLSA: all numbers of cepts in one pass, by the splits of cepts (onmf, section 7.1).

At a high temperature (small b) all cepts are one. Let two cepts be copies of one but for small changes of P(i | c) by
a factor 1 + x_i and of P(j | c) by 1 + y_j. A tempered EM step makes of them x'_i = b (x_i + E[y | i]) and
y'_j = b (y_j + E[x | j]), with expectations under the part of the matrix that the cept explains. So the copies part
where b (1 + s) > 1, s being the second singular value of that part (the first correlation of its correspondence
analysis), along the singular vectors: no temperature need be tried, the cept that splits next and how it splits are
known, and nothing is random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, vector_kernel
from cepts.kernels.plsa import density, score, start_as_one, start_at_random, train, train_tempered

STEPS = 30
LEAST_STEPS = 8
PATIENCE = 8
CHANGE = np.float32(0.9)
TINY = np.float32(1e-30)


class Part(NamedTuple):
    """The part of a matrix that a cept explains, its margins, and a buffer for a row."""

    matrix: Any
    rows: Any
    columns: Any
    row: Any


class AnnealRoom(NamedTuple):
    """Models and buffers of a search.

    `current` is the model that splits, `tempered` has room for its powers, `cold` is the model of its size trained to
    the end, `best` the best so far. `directions` and `column_directions` have a row a cept: the scores of rows and
    columns along which it would split, as `correlations` says how much. `gains` is what a split explains, `known`
    whether that is of the present model.
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
    """The part of the matrix that `cept` explains, and its margins; returns its sum."""
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
        for j in range(length):
            row[j] = uniform
        for c in range(cepts):
            share = weights[c] * source[c, i]
            if share > least[i]:
                for j in range(length):
                    row[j] += share * target[c, j]
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
def correlation_of(size, length, part, rows, columns, total, x, y):
    """The first correlation of `part` and its scores of rows and columns, by the power method."""
    correlation = np.float32(0)
    for i in range(size):
        # Links tend to lie along the diagonal, so that is where to start. But no word may stand halfway between two
        # others: if these two are alike, the start has nothing of the direction in which the one differs from them.
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
        # A start with little of the right direction stays in a wrong one for some steps, as if it were the right one.
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
def _part_ways(size, cept, other, direction, factor):
    """Two copies of a cept's distribution, changed along `direction`; returns the mass of each."""
    most = TINY
    least = TINY
    for i in range(size):
        # Where the cept has nothing of a word, its place means nothing.
        if factor[cept, i] > np.float32(0):
            most = max(most, direction[i])
            least = max(least, -direction[i])
    one = np.float32(0)
    two = np.float32(0)
    for i in range(size):
        value = factor[cept, i]
        # Of either sign the largest parts most: a rare word must part from all others, and they from it.
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
def anneal(cells, rows, columns, most, wanted, price, noise, warm, cold, curve, room):
    """Models of 1 to `most` cepts, each from the one before by the split of a cept; returns the best's size and noise.

    The best has the highest log-likelihood less `price` for each parameter; where `wanted` > 0, it is that with so
    many cepts, or with as many as can be told apart. After each split come `warm` tempered steps, at one between the
    temperature of the split and the end; from there, `cold` steps of plain EM give the model of that size, whose
    log-likelihood goes to `curve`. Of cepts that could split, the one is taken whose split explains most: its mass
    times the square of its correlation. Where the criterion has long been worse than at its best, the pass ends.
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
        value = curve[cepts] - price * cepts * (size + length - 1)
        if value > highest or wanted > 0 or chosen == 0:
            highest = value
            chosen = cepts
            chosen_noise = level
            _copy(cepts, size, length, room.cold, room.best)
        if cepts in (most, wanted):
            break
        if wanted == 0 and cepts - chosen >= max(PATIENCE, chosen // 4):
            # Long past the best: of long sentences, the models that are left would take most of the time.
            break
        uniform = density(noise, size, length)
        # Steps since a gain was found may have changed it: the best must be found anew before it is taken for the best.
        splits = np.int64(0)
        for c in range(cepts):
            known[c] = False
        while not known[splits]:
            mass = part_of(cells, cepts, splits, model, uniform, part)
            correlations[splits] = np.float32(0)
            if mass > TINY:
                correlations[splits] = correlation_of(
                    size,
                    length,
                    part.matrix,
                    part.rows,
                    part.columns,
                    mass,
                    room.directions[splits],
                    room.column_directions[splits],
                )
            gains[splits] = mass * correlations[splits] * correlations[splits]
            known[splits] = True
            splits = np.argmax(gains[:cepts])
        if gains[splits] <= 0.0:
            # Every cept is a product of its margins: there is nothing left to tell apart.
            break
        # Well above that of the split, and whose powers are cheap.
        critical = 1.0 / (1.0 + correlations[splits])
        inverse_temperature = 0.75 if critical < 0.7 else (0.875 if critical < 0.83 else 1.0)
        one, two = _part_ways(size, splits, cepts, room.directions[splits], model.source)
        _part_ways(length, splits, cepts, room.column_directions[splits], model.target)
        mass = weights[splits]
        weights[splits] = mass * one / (one + two)
        weights[cepts] = mass * two / (one + two)
        gains[splits] = np.inf
        gains[cepts] = np.inf
        noise = train_tempered(cells, cepts + 1, model, room.tempered, noise, warm, inverse_temperature, room.plsa)
    return chosen, chosen_noise


@kernel
def search(cells, most, price, noise, restarts, iterations, seed, curve, room):
    """Models of 1 to `most` cepts, each from `restarts` random starts; returns the best's size and noise."""
    size, length = cells.matrix.shape
    state = np.uint64(seed) * np.uint64(2654435761) + np.uint64(88172645463325252)
    chosen = 0
    chosen_noise = noise
    highest = -np.inf
    for cepts in range(1, most + 1):
        curve[cepts] = -np.inf
        for _ in range(restarts if cepts > 1 else 1):
            state = start_at_random(size, length, cepts, noise, state, room.current)
            level = train(cells, cepts, room.current, noise, iterations, room.plsa)
            found = score(cells, cepts, room.current, level, room.plsa)
            curve[cepts] = max(curve[cepts], found)
            value = found - price * cepts * (size + length - 1)
            if value > highest:
                highest = value
                chosen = cepts
                chosen_noise = level
                _copy(cepts, size, length, room.current, room.best)
    return chosen, chosen_noise
