"""Slow, plain twins of `cepts.encoders` and its kernels."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def centred(values):
    """The products of vectors minus (n - 1) / n of the means of their sentences, given the products of the vectors."""
    rows, columns = values.shape
    left = np.eye(rows) - (rows - 1) / rows * np.full((rows, rows), 1 / rows)
    right = np.eye(columns) - (columns - 1) / columns * np.full((columns, columns), 1 / columns)
    return left @ values @ right


def iterated_argmax(similarity, max_count):
    """`iter_max` of SimAlign, as Sabet et al. (2020) published it, for similarities above 0 without ties."""
    ratio = 0.9
    rows, columns = similarity.shape
    forward = np.eye(columns)[similarity.argmax(axis=1)]
    backward = np.eye(rows)[similarity.argmax(axis=0)]
    found = forward * backward.transpose()
    if min(rows, columns) <= 2:
        return found > 0
    count = 1
    while count < max_count:
        mask_x = 1.0 - np.tile(found.sum(1)[:, np.newaxis], (1, columns)).clip(0.0, 1.0)
        mask_y = 1.0 - np.tile(found.sum(0)[np.newaxis, :], (rows, 1)).clip(0.0, 1.0)
        mask = ((ratio * mask_x) + (ratio * mask_y)).clip(0.0, ratio)
        mask_zeros = 1.0 - ((1.0 - mask_x) * (1.0 - mask_y))
        if mask_x.sum() < 1.0 or mask_y.sum() < 1.0:
            mask *= 0.0
            mask_zeros *= 0.0
        new = similarity * mask
        more = np.eye(columns)[new.argmax(axis=1)] * mask_zeros
        more = more * (np.eye(rows)[new.argmax(axis=0)].transpose() * mask_zeros)
        if np.array_equal(found + more, found):
            break
        found = found + more
        count += 1
    return found > 0


def divergence(mass, wanted):
    """Generalised Kullback-Leibler divergence of positive masses."""
    return float((mass * np.log(mass / wanted) - mass + wanted).sum())


def transport_cost(plan, logits, null, stay):
    """The objective of unbalanced, entropic optimal transport."""
    rows, columns = logits.shape
    source, target = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    return (
        float((plan * (null - logits)).sum())
        + divergence(plan, np.outer(source, target))
        + stay * divergence(plan.sum(axis=1), source)
        + stay * divergence(plan.sum(axis=0), target)
    )


def transport(logits, null, stay):
    """The plan of least cost, found by a general optimiser over the logarithms of its cells."""

    def cost(logs):
        return transport_cost(np.exp(logs).reshape(logits.shape), logits, null, stay)

    best = minimize(cost, np.full(logits.size, -np.log(logits.size)), method="BFGS", options={"gtol": 1e-9})
    return np.exp(best.x).reshape(logits.shape)


def word_means(sentences, pieces_of, encode, longest):
    """Mean vector of the sub-words of each word, for sentences that fit into one window."""
    found = []
    for sentence in sentences:
        pieces = [pieces_of(word) for word in sentence]
        flat = [piece for word in pieces for piece in word]
        assert len(flat) <= longest
        vectors = iter(encode([flat])[0]) if flat else iter(())
        for word in pieces:
            own = [next(vectors) for _ in word]
            found.append(np.mean(own, axis=0) if own else None)
    return found
