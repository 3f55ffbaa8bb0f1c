"""Slow, plain twins of the association matrices: lists counted entry by entry, word pairs sentence by sentence."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import NDArray

Entries = list[tuple[float, list[int]]]  # log-probability and positions (-1 null), the best first
SentencePair = tuple[list[str], list[str]]


def weights(entries: Entries, name: str) -> list[float]:
    """The weight of each entry; they sum to the number of entries."""
    if name in {"nbest", "nbest-plain"}:
        return [1.0] * len(entries)
    if name == "nbest-rank":
        raw = [1 / rank for rank in range(1, len(entries) + 1)]
    else:
        raw = [exp(log_probability) for log_probability, _ in entries]
    return [len(entries) * weight / sum(raw) for weight in raw]


def nbest(size: int, length: int, forward: Entries, reverse: Entries, name: str) -> tuple[NDArray, NDArray, NDArray]:
    """Matrix, mass of null by source word, mass of null by target word of one pair.

    A link counts in both directions, null in that alone which explains the word; so there it counts twice, except in
    the plain counts of onmf, section 5.
    """
    times = 1 if name == "nbest-plain" else 2
    ahead, back = np.zeros((size, length)), np.zeros((size, length))
    source_null, target_null = np.zeros(size), np.zeros(length)
    for (_, positions), weight in zip(forward, weights(forward, name), strict=True):
        for j, i in enumerate(positions):
            if i == -1:
                target_null[j] += times * weight
            else:
                ahead[i, j] += weight
    for (_, positions), weight in zip(reverse, weights(reverse, name), strict=True):
        for i, j in enumerate(positions):
            if j == -1:
                source_null[i] += times * weight
            else:
                back[i, j] += weight
    return 2 * np.sqrt(ahead * back) if name == "nbest-agreement" else ahead + back, source_null, target_null


def statistic(pairs: list[SentencePair], word: str, other: str, name: str) -> float:
    """One statistic of one source and one target word over all pairs that have words on both sides."""
    full = [(set(source), set(target)) for source, target in pairs if source and target]
    both = sum(word in source and other in target for source, target in full)
    of_source = sum(word in source for source, _ in full)
    of_target = sum(other in target for _, target in full)
    if both == 0:
        return 0.0
    if name == "counts":
        return both
    if name == "dice":
        return 2 * both / (of_source + of_target)
    apart = of_target - both
    # P(target word) where the source word stands, and where it does not.
    if both * len(full) <= of_source * of_target:
        return 0.0
    if name == "pmi":
        return log(both / len(full)) - log(of_source / len(full)) - log(of_target / len(full))
    rest = len(full) - of_source
    p, p_with, p_without = of_target / len(full), both / of_source, apart / rest if rest else 0.0
    return 2 * (
        binomial(both, of_source, p_with)
        + binomial(apart, rest, p_without)
        - binomial(both, of_source, p)
        - binomial(apart, rest, p)
    )


def binomial(seen: int, of: int, p: float) -> float:
    """Log-likelihood of `seen` in `of` draws, as Dunning (1993) writes it."""
    return (seen * log(p) if seen else 0.0) + ((of - seen) * log(1 - p) if of > seen else 0.0)


def shares(matrix: NDArray) -> NDArray:
    """Geometric mean of each value's share in its row and in its column."""
    out = np.zeros(matrix.shape)
    for i, j in np.argwhere(matrix > 0):
        out[i, j] = np.sqrt(matrix[i, j] / matrix[i].sum() * (matrix[i, j] / matrix[:, j].sum()))
    return out
