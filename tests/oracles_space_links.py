"""Slow, plain twins of `cepts.spaces.associate`."""

from __future__ import annotations

import numpy as np


def shares(similarities, *, temperature, null, diagonal, support, rounds):
    """Forward and reverse shares of one pair, the masses of null (source, target), and the last logits."""
    rows, columns = similarities.shape
    given = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            distance = abs((i + 0.5) / rows - (j + 0.5) / columns)
            given[i, j] = temperature * similarities[i, j] - diagonal * distance
    logits = given
    for turn in range(rounds + 1):
        weights = np.exp(logits)
        nothing = np.exp(temperature * null)
        forward = weights / (nothing + weights.sum(axis=0, keepdims=True))
        reverse = weights / (nothing + weights.sum(axis=1, keepdims=True))
        if turn < rounds:
            logits = given + support * lent(np.sqrt(forward * reverse))
    return forward, reverse, 1 - reverse.sum(axis=1), 1 - forward.sum(axis=0), logits


def lent(links):
    """What each cell gets of the links within three words on either side."""
    rows, columns = links.shape
    found = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            for k in range(rows):
                for m in range(columns):
                    down, right = k - i, m - j
                    if down == 0 or right == 0 or max(abs(down), abs(right)) > 3:
                        continue
                    found[i, j] += links[k, m] * np.exp(-0.7 * abs(down - right) - 0.5 * (abs(down) + abs(right) - 2))
    return found


def similarities(source, target, words, vectors, *, csls, identical, count=10):
    """Of all words of two sentences. `words` and `vectors` are those of both vocabularies in the shared space."""
    units = [matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in vectors]
    cosines = units[0] @ units[1].T
    near = [np.sort(table, axis=1)[:, -min(count, table.shape[1]) :].mean(axis=1) for table in (cosines, cosines.T)]
    found = np.empty((len(source), len(target)))
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            known = one in words[0] and other in words[1]
            lettered = any(c.isalpha() for c in one), any(c.isalpha() for c in other)
            symbol = [not any(c.isalnum() for c in word) for word in (one, other)]
            if one.lower() == other.lower() and not (known and all(lettered)):
                found[i, j] = identical
            elif not known or symbol[0] != symbol[1]:
                found[i, j] = -np.inf
            else:
                a, b = words[0].index(one), words[1].index(other)
                found[i, j] = 2 * cosines[a, b] - near[0][a] - near[1][b] if csls else cosines[a, b]
    return found
