"""PLSA of small dense matrices by EM: eqs. (2) to (6) of onmf, with its noise component and a tempered E-step.

A model of an I x J matrix is held as `weights` P(c), `source` P(i | c) and `target` P(j | c), a row a cept, and the
level of noise P(noise); weights and noise add up to 1. Null needs no part in it: a null cept explains the null row or
column alone (section 4.2), and no cept but that explains it, so its parameters are the shares of the null masses.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, vector_kernel

# Of what a cept explains of a word, a part so small is not looked at, and so stays nothing.
NEGLIGIBLE = np.float32(1e-6)
TINY = np.float32(1e-30)


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
def expect(matrix, cepts, weights, source, target, uniform, least, new_source, new_target, row, scoring):
    """E-step, eq. (3): masses that the cepts have of each source word, and of each target word but for `target`.

    `uniform` is what noise gives to every cell. Returns the mass that noise explains and, where `scoring`, the
    log-likelihood.
    """
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
def maximise(size, length, cepts, total, weights, source, target, used, new_source, new_target):
    """M-step, eqs. (4) to (6), from what `expect` found with `used` for `target`."""
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
def train(
    matrix, total, cepts, weights, source, target, noise, iterations, least, new_source, new_target, row
):  # fmt: skip
    """`iterations` of EM, in place; returns P(noise)."""
    size, length = matrix.shape
    for _ in range(iterations):
        uniform = density(noise, size, length)
        noisy, _score = expect(
            matrix, cepts, weights, source, target, uniform, least, new_source, new_target, row, False
        )
        maximise(size, length, cepts, total, weights, source, target, target, new_source, new_target)
        if noise >= 0.0:
            noise = noisy / total
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
def train_tempered(
    matrix,
    total,
    cepts,
    weights,
    source,
    target,
    noise,
    iterations,
    inverse_temperature,
    least,
    source_power,
    target_power,
    new_source,
    new_target,
    row,
):
    """`train` with P(c | i, j) in proportion to P(c) [P(i | c) P(j | c)]^b: below b = 1, cepts share their words."""
    size, length = matrix.shape
    exponent = np.float32(inverse_temperature)
    for _ in range(iterations):
        _raise(size, cepts, source, exponent, source_power)
        _raise(length, cepts, target, exponent, target_power)
        uniform = np.float32(max(noise, 0.0) * (1.0 / (size * length)) ** inverse_temperature)
        noisy, _score = expect(
            matrix, cepts, weights, source_power, target_power, uniform, least, new_source, new_target, row, False
        )
        maximise(size, length, cepts, total, weights, source, target, target_power, new_source, new_target)
        if noise >= 0.0:
            noise = noisy / total
    return noise


@kernel
def score(matrix, cepts, weights, source, target, noise, least, new_source, new_target, row):
    """Log-likelihood."""
    uniform = density(noise, matrix.shape[0], matrix.shape[1])
    return expect(matrix, cepts, weights, source, target, uniform, least, new_source, new_target, row, True)[1]


@kernel
def draw(state):
    """The next state of a pseudo-random sequence (xorshift), and a number in (0, 1) from it."""
    state ^= (state << np.uint64(13)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    state ^= state >> np.uint64(7)
    state ^= (state << np.uint64(17)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    return state, (np.float64(state >> np.uint64(11)) + 0.5) / 9007199254740992.0


@kernel
def start_at_random(size, length, cepts, noise, state, weights, source, target):
    """Random parameters (flat Dirichlet); returns the next state of the random sequence."""
    for c in range(cepts):
        weights[c] = np.float32((1.0 - max(noise, 0.0)) / cepts)
        total = 0.0
        for i in range(size):
            state, number = draw(state)
            source[c, i] = -np.log(number)
            total += source[c, i]
        for i in range(size):
            source[c, i] /= total
        total = 0.0
        for j in range(length):
            state, number = draw(state)
            target[c, j] = -np.log(number)
            total += target[c, j]
        for j in range(length):
            target[c, j] /= total
    return state


@vector_kernel
def start_as_one(size, length, rows, columns, total, noise, weights, source, target):
    """The best single cept: independence of the two sides."""
    weights[0] = np.float32(1.0 - max(noise, 0.0))
    for i in range(size):
        source[0, i] = np.float32(rows[i] / total)
    for j in range(length):
        target[0, j] = np.float32(columns[j] / total)
