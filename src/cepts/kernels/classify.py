"""Classification EM of proper alignments: words move between cepts while the classification likelihood rises.

In a proper alignment every count is classified: as one of its block, if its two words share a cept, and as noise
otherwise. With M_c the mass of block c, r_i and s_j the masses of the words within their blocks, M_0 the mass of noise
and N the sum of all, the best parameters are these masses over each other, and the log-likelihood of the counts with
their classes is, apart from a constant,

    sum_i r_i log r_i + sum_j s_j log s_j - sum_c M_c log M_c + M_0 log(M_0 / cells).

A word of null has its null mass in place of r_i; the null mass of all other words is noise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel

LEAST_GAIN = 1e-9  # in shares of the whole mass
ROUNDS = 20


class ClassifyRoom(NamedTuple):
    """Buffers: the masses of words and cepts within their blocks, and the numbers of words of each cept."""

    rows: Any
    columns: Any
    masses: Any
    source_counts: Any
    target_counts: Any


@kernel
def _entropic(mass):
    return mass * np.log(mass) if mass > 0.0 else 0.0


@kernel
def _noise(mass, cells):
    return mass * np.log(mass / cells) if mass > 0.0 else 0.0


@kernel
def _measure(matrix, scale, cepts, source, target, room):
    """Fill the masses of words and cepts; returns the mass outside all blocks, that of null included."""
    size, length = matrix.shape
    for c in range(cepts):
        room.masses[c] = 0.0
        room.source_counts[c] = 0
        room.target_counts[c] = 0
    for j in range(length):
        room.columns[j] = 0.0
        if target.cept[j] >= 0:
            room.target_counts[target.cept[j]] += 1
    outside = 0.0
    for i in range(size):
        room.rows[i] = 0.0
        if source.cept[i] >= 0:
            room.source_counts[source.cept[i]] += 1
        for j in range(length):
            if source.cept[i] >= 0 and source.cept[i] == target.cept[j]:
                room.rows[i] += matrix[i, j]
                room.columns[j] += matrix[i, j]
                room.masses[source.cept[i]] += matrix[i, j]
            else:
                outside += matrix[i, j]
    for words in (source, target):
        for i in range(len(words.cept)):
            if words.cept[i] >= 0:
                outside += words.null[i] / scale
    return outside


@kernel
def _move(matrix, cepts, words, others, masses, state, scale, cells):
    """Move each word of one side to the cept, or to null, where the likelihood is highest.

    `matrix` has a row for each of `words`; `masses` are those of the cepts, `state` what `_measure` filled: masses of
    the words and of the others, and the numbers of words of the cepts. Returns the mass of noise, whose value before is
    `state[3]`, and whether a word has moved.
    """
    rows, columns, counts, outside = state
    moved = False
    for i in range(len(words.cept)):
        old = words.cept[i]
        if old >= 0 and counts[old] == 1:
            continue  # the cept would have no words on this side
        null = words.null[i] / scale
        own = rows[i] if old >= 0 else null
        # What is lost where the word has no class, and all of its mass is noise.
        lost = _entropic(own)
        if old >= 0:
            lost -= _entropic(masses[old]) - _entropic(masses[old] - own)
            for j in range(len(others.cept)):
                if others.cept[j] == old:
                    lost += _entropic(columns[j]) - _entropic(columns[j] - matrix[i, j])
        rest = outside + own
        best = old
        best_mass = own
        highest = LEAST_GAIN
        for c in range(-1, cepts):
            if c == old or (c < 0 and null <= 0.0):
                continue  # a word without null mass stays linked
            mass = null
            gain = _entropic(null)
            if c >= 0:
                mass = 0.0
                gain = 0.0
                for j in range(len(others.cept)):
                    if others.cept[j] == c:
                        mass += matrix[i, j]
                        gain += _entropic(columns[j] + matrix[i, j]) - _entropic(columns[j])
                gain += _entropic(mass) - _entropic(masses[c] + mass) + _entropic(masses[c])
            gain += _noise(rest - mass, cells) - _noise(outside, cells) - lost
            if gain > highest:
                highest = gain
                best = c
                best_mass = mass
        if best == old:
            continue
        moved = True
        if old >= 0:
            masses[old] -= own
            counts[old] -= 1
        if best >= 0:
            masses[best] += best_mass
            counts[best] += 1
        for j in range(len(others.cept)):
            if old >= 0 and others.cept[j] == old:
                columns[j] -= matrix[i, j]
            if best >= 0 and others.cept[j] == best:
                columns[j] += matrix[i, j]
        words.cept[i] = best
        rows[i] = best_mass if best >= 0 else 0.0
        outside = rest - best_mass
    return outside, moved


@kernel
def classify(matrix, scale, cepts, source, target, room):
    """Move words between cepts, and to and from null, until no move of one word raises the classification likelihood.

    `matrix` has shares of the sum of the counts, which is `scale`; null masses are counts. Every cept keeps words on
    both sides.
    """
    size, length = matrix.shape
    cells = (size + 1.0) * (length + 1.0)
    for _ in range(ROUNDS):
        # Measured anew in each round, so that rounding errors do not add up.
        outside = _measure(matrix, scale, cepts, source, target, room)
        state = room.rows, room.columns, room.source_counts, outside
        outside, moved = _move(matrix, cepts, source, target, room.masses, state, scale, cells)
        state = room.columns, room.rows, room.target_counts, outside
        outside, other_moved = _move(matrix.T, cepts, target, source, room.masses, state, scale, cells)
        if not (moved or other_moved):
            break
