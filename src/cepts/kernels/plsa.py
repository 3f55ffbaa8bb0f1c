"""PLSA of small dense matrices by EM: eqs. (2) to (6) of onmf, with its noise component and a tempered E-step.

A model of an I x J matrix is `weights` P(c), `source` P(i | c) and `target` P(j | c), with one row for each cept, and
P(noise); weights and noise sum to 1. Null is not part of it: a null cept explains nothing but the null row or column,
and no other cept explains these (section 4.2), so its parameters are just the shares of the null masses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece, vector_kernel

# If a cept explains less than this share of a word, the share counts as 0 (and stays 0).
NEGLIGIBLE = np.float32(1e-6)
TINY = np.float32(1e-30)


class Cells(NamedTuple):
    """An I x J matrix, its sum, and for each row the P(c) P(i | c) below which a cept is ignored."""

    matrix: Any
    total: Any
    least: Any


class CeptModel(NamedTuple):
    """P(c), P(i | c) and P(j | c)."""

    weights: Any
    source: Any
    target: Any


class PlsaRoom(NamedTuple):
    """Buffers of EM: the mass of each word that each cept explains, and one row of the matrix."""

    new_source: Any
    new_target: Any
    row: Any


@vector_kernel
def margins(matrix, rows, columns, least):
    """Fill the sums of `rows` and `columns`, and `least` (see `Cells`); returns the sum of the matrix."""
    size, length = matrix.shape
    for j in range(length):
        columns[j] = np.float32(0)
    total = 0.0
    for i in range(size):
        mass = np.float32(0)
        for j in range(length):
            mass += matrix[i, j]
            columns[j] += matrix[i, j]
        rows[i] = mass
        total += mass
    for i in range(size):
        least[i] = NEGLIGIBLE * np.float32(rows[i] / max(total, 1e-30))
    return total


@piece
def mix_row(i, cells, cepts, model, uniform, row):
    """Fill `row` with the model's P(i, j) of row i; cepts with a negligible part of the row are ignored."""
    length = cells.matrix.shape[1]
    for j in range(length):
        row[j] = uniform
    for c in range(cepts):
        share = model.weights[c] * model.source[c, i]
        if share > cells.least[i]:
            for j in range(length):
                row[j] += share * model.target[c, j]


@vector_kernel
def expect(cells, cepts, model, uniform, room, scoring):
    """E-step, eq. (3) of onmf: the mass of each source word that each cept explains, in `room.new_source`.

    `room.new_target` holds the same for target words, but without the factor P(j | c). `uniform` is the probability of
    each cell under noise. Returns the mass that noise explains and, where `scoring`, the log-likelihood.
    """
    matrix, least = cells.matrix, cells.least
    weights, source, target = model.weights, model.source, model.target
    new_source, new_target, row = room.new_source, room.new_target, room.row
    size, length = matrix.shape
    for c in range(cepts):
        for j in range(length):
            new_target[c, j] = np.float32(0)
    noisy = 0.0
    log_likelihood = 0.0
    for i in range(size):
        mix_row(i, cells, cepts, model, uniform, row)
        if scoring:
            for j in range(length):
                if matrix[i, j] > np.float32(0):
                    log_likelihood += np.float64(matrix[i, j]) * np.log(np.float64(max(row[j], TINY)))
        ratios = np.float32(0)
        mass = np.float32(0)
        for j in range(length):
            mass += matrix[i, j]
            row[j] = matrix[i, j] / max(row[j], TINY)
            ratios += row[j]
        noisy += np.float64(ratios) * uniform
        for c in range(cepts):
            share = weights[c] * source[c, i]
            explained = np.float32(0)
            if share > least[i]:
                for j in range(length):
                    explained += row[j] * target[c, j]
                    new_target[c, j] += share * row[j]
            explained *= share
            new_source[c, i] = explained if explained > NEGLIGIBLE * mass else np.float32(0)
    return noisy, log_likelihood


@vector_kernel
def maximise(cells, cepts, model, used, room):
    """M-step, eqs. (4) to (6) of onmf, from the masses that `expect` found with `used` in place of `model.target`."""
    size, length = cells.matrix.shape
    total, new_source, new_target = cells.total, room.new_source, room.new_target
    weights, source, target = model.weights, model.source, model.target
    for c in range(cepts):
        mass = np.float32(0)
        for i in range(size):
            mass += new_source[c, i]
        weights[c] = np.float32(mass / total)
        scale = np.float32(1) / max(mass, TINY)
        for i in range(size):
            source[c, i] = new_source[c, i] * scale
        # The sums differ: negligible masses are dropped from the source side only.
        mass = np.float32(0)
        for j in range(length):
            target[c, j] = used[c, j] * new_target[c, j]
            mass += target[c, j]
        scale = np.float32(1) / max(mass, TINY)
        for j in range(length):
            target[c, j] *= scale


@kernel
def density(noise, size, length):
    """Probability of each cell under noise; `noise` < 0 means a model without noise."""
    return np.float32(max(noise, 0.0) / (size * length))


@kernel
def train(cells, cepts, model, noise, iterations, room):
    """`iterations` of EM, in place; returns P(noise)."""
    size, length = cells.matrix.shape
    for _ in range(iterations):
        noisy, _score = expect(cells, cepts, model, density(noise, size, length), room, False)
        maximise(cells, cepts, model, model.target, room)
        if noise >= 0.0:
            noise = noisy / cells.total
    return noise


@vector_kernel
def _raise(size, cepts, base, exponent, power):
    # Square roots are so much faster than powers that annealing uses only exponents that can be made of them.
    for c in range(cepts):
        if exponent == np.float32(0.75):
            for i in range(size):
                root = np.sqrt(base[c, i])
                power[c, i] = root * np.sqrt(root)
        elif exponent == np.float32(0.875):
            for i in range(size):
                root = np.sqrt(base[c, i])
                half = np.sqrt(root)
                power[c, i] = root * half * np.sqrt(half)
        else:
            for i in range(size):
                power[c, i] = base[c, i] ** exponent


@kernel
def train_tempered(cells, cepts, model, tempered, noise, iterations, inverse_temperature, room):
    """`train` with P(c | i, j) proportional to P(c) [P(i | c) P(j | c)]^b: below b = 1, cepts share their words.

    `tempered` has the same weights as `model`; its other parameters are buffers for their powers.
    """
    size, length = cells.matrix.shape
    exponent = np.float32(inverse_temperature)
    for _ in range(iterations):
        _raise(size, cepts, model.source, exponent, tempered.source)
        _raise(length, cepts, model.target, exponent, tempered.target)
        uniform = np.float32(max(noise, 0.0) * (1.0 / (size * length)) ** inverse_temperature)
        noisy, _score = expect(cells, cepts, tempered, uniform, room, False)
        maximise(cells, cepts, model, tempered.target, room)
        if noise >= 0.0:
            noise = noisy / cells.total
    return noise


@kernel
def score(cells, cepts, model, noise, room):
    """Log-likelihood."""
    uniform = density(noise, cells.matrix.shape[0], cells.matrix.shape[1])
    return expect(cells, cepts, model, uniform, room, True)[1]


@kernel
def entropy(cells, cepts, model, noise, row):
    """Sum over cells of entry times the entropy of P(c | i, j), noise included: how unsure the cepts of the cells are.

    With p_c = P(c) P(i | c) P(j | c) and their sum p, it is log p - sum_c p_c log(p_c) / p for a cell.
    """
    matrix, weights, source, target = cells.matrix, model.weights, model.source, model.target
    size, length = matrix.shape
    uniform = np.float64(density(noise, size, length))
    total = 0.0
    for i in range(size):
        for j in range(length):
            row[j] = np.float32(uniform)
        for c in range(cepts):
            for j in range(length):
                row[j] += weights[c] * source[c, i] * target[c, j]
        for j in range(length):
            if not matrix[i, j] > np.float32(0):
                continue
            whole = np.float64(max(row[j], TINY))
            unsure = 0.0
            for c in range(-1, cepts):
                part = uniform
                if c >= 0:
                    part = np.float64(weights[c]) * source[c, i] * target[c, j]
                share = part / whole
                if share > 0.0:
                    unsure -= share * np.log(share)
            total += matrix[i, j] * max(unsure, 0.0)
    return total


@kernel
def draw(state):
    """The next state of a pseudo-random sequence (xorshift), and a number in (0, 1) from it."""
    state ^= (state << np.uint64(13)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    state ^= state >> np.uint64(7)
    state ^= (state << np.uint64(17)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    return state, (np.float64(state >> np.uint64(11)) + 0.5) / 9007199254740992.0


@kernel
def start_at_random(size, length, cepts, noise, state, model):
    """Random parameters (flat Dirichlet); returns the next state of the random sequence."""
    for c in range(cepts):
        model.weights[c] = np.float32((1.0 - max(noise, 0.0)) / cepts)
        for factor, words in ((model.source, size), (model.target, length)):
            total = 0.0
            for i in range(words):
                state, number = draw(state)
                factor[c, i] = -np.log(number)
                total += factor[c, i]
            for i in range(words):
                factor[c, i] /= total
    return state


@vector_kernel
def start_as_one(cells, rows, columns, noise, model):
    """The best single cept: independence of the two sides."""
    size, length = cells.matrix.shape
    model.weights[0] = np.float32(1.0 - max(noise, 0.0))
    for i in range(size):
        model.source[0, i] = np.float32(rows[i] / cells.total)
    for j in range(length):
        model.target[0, j] = np.float32(columns[j] / cells.total)
