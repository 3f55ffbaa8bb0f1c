"""PLSA of small dense matrices by EM: eqs. (2) to (6) of onmf, with its noise component and a tempered E-step.

A model of an I x J matrix is held as `weights` P(c), `source` P(i | c) and `target` P(j | c), a row a cept, and the
level of noise P(noise); weights and noise add up to 1. Null needs no part in it: a null cept explains the null row or
column alone (section 4.2), and no cept but that explains it, so its parameters are the shares of the null masses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, vector_kernel

# Of what a cept explains of a word, a part so small is not looked at, and so stays nothing.
NEGLIGIBLE = np.float32(1e-6)
TINY = np.float32(1e-30)


class Cells(NamedTuple):
    """An I x J matrix, its sum, and the share of each row below which a cept's part is negligible."""

    matrix: Any
    total: Any
    least: Any


class Cepts(NamedTuple):
    """P(c), P(i | c) and P(j | c)."""

    weights: Any
    source: Any
    target: Any


class PlsaRoom(NamedTuple):
    """Buffers of EM: what cepts have of each word, and a row of the matrix."""

    new_source: Any
    new_target: Any
    row: Any


@vector_kernel
def margins(matrix, rows, columns, least):
    """Sums of the rows and columns, the share of each word below which a cept's part is negligible; returns the sum."""
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


@vector_kernel
def expect(cells, cepts, model, uniform, room, scoring):
    """E-step, eq. (3): masses that the cepts have of each source word, and of each target word but for its factor.

    `uniform` is what noise gives to every cell. Returns the mass that noise explains and, where `scoring`, the
    log-likelihood.
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
        for j in range(length):
            row[j] = uniform
        for c in range(cepts):
            share = weights[c] * source[c, i]
            if share > least[i]:
                for j in range(length):
                    row[j] += share * target[c, j]
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
    """M-step, eqs. (4) to (6), from what `expect` found with `used` for `model.target`."""
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
        # Not by the same mass: what was negligible of a source word is left out there alone.
        mass = np.float32(0)
        for j in range(length):
            target[c, j] = used[c, j] * new_target[c, j]
            mass += target[c, j]
        scale = np.float32(1) / max(mass, TINY)
        for j in range(length):
            target[c, j] *= scale


@kernel
def density(noise, size, length):
    """What noise gives to every cell; `noise` < 0 is a model without."""
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
    # Roots are so much faster than powers that annealing keeps to those that are made of them.
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
    """`train` with P(c | i, j) in proportion to P(c) [P(i | c) P(j | c)]^b: below b = 1, cepts share their words.

    `tempered` has the weights of `model` and room for the powers of its other parameters.
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
