"""Anchor words are the rows farthest apart, and hidden documents are recovered from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

import oracles_poisson as oracles
from cepts.errors import UsageError
from cepts.factor import anchor_words, symmetric_nmf
from cepts.factor.anchor_words import anchor_start, find_anchors
from cepts.lm import HiddenOptions


def separable(seed, words=40, factors=4):
    """M = Q Z Q', where the first words are anchors: each is in one column of Q only."""
    random = np.random.default_rng(seed)
    shares = random.gamma(0.5, size=(words, factors)) + 1e-3
    shares[:factors] = 3 * np.diag(random.uniform(0.5, 1, factors))
    shares /= shares.sum(axis=0)
    weights = random.uniform(1, 2, factors)
    return shares, weights, shares @ np.diag(weights) @ shares.T


def farthest_rows(matrix, factors, least):
    """Anchor words by least squares: the row with the largest distance from the span of those that were chosen."""
    masses = matrix.sum(axis=1)
    candidates = [word for word in range(len(matrix)) if masses[word] >= least * masses.mean()]
    if len(candidates) < factors:
        candidates = sorted(sorted(range(len(matrix)), key=lambda word: -masses[word])[:factors])
    rows = {word: matrix[word] / max(masses[word], 1e-300) for word in candidates}
    chosen, distances = [], []
    for _ in range(factors):
        left = {}
        for word in candidates:
            row = rows[word]
            if chosen:
                basis = np.array([rows[other] for other in chosen]).T
                row = row - basis @ np.linalg.lstsq(basis, row, rcond=None)[0]
            left[word] = row @ row
        free = {word: distance for word, distance in left.items() if word not in chosen}
        chosen.append(max(free, key=free.__getitem__))
        distances.append(free[chosen[-1]])
    return chosen, distances


@settings(deadline=None, max_examples=60)
@given(oracles.counts(symmetric=True))
def test_anchor_words_are_the_farthest_rows(matrix):
    filled = int((matrix.sum(axis=1) > 0).sum())
    for factors in range(1, filled + 1):
        found = find_anchors(csr_array(matrix), factors).tolist()
        assert len(set(found)) == factors
        want, distances = farthest_rows(matrix, factors, anchor_words.LEAST_COUNTS)
        for place in range(factors):
            if found[place] != want[place]:  # a tie, or all rows left are in the span
                assert distances[place] == pytest.approx(
                    farthest_rows_distance(matrix, found[:place], found[place]), abs=1e-9
                )
                break


def farthest_rows_distance(matrix, chosen, word):
    rows = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-300)
    row = rows[word]
    if chosen:
        basis = rows[chosen].T
        row = row - basis @ np.linalg.lstsq(basis, row, rcond=None)[0]
    return row @ row


@pytest.mark.parametrize("seed", range(5))
def test_a_separable_matrix_is_recovered(seed, monkeypatch):
    """What the theorem of the paper says: with exact counts, Q and Z come back, up to the order of the factors."""
    monkeypatch.setattr(anchor_words, "LEAST_COUNTS", 0.0)
    monkeypatch.setattr(anchor_words, "STEPS", 3000)
    monkeypatch.setattr(anchor_words, "COMMON", 0.0)
    shares, weights, matrix = separable(seed)
    assert sorted(find_anchors(csr_array(matrix), 4).tolist()) == [0, 1, 2, 3]
    found, masses = anchor_start(csr_array(matrix), matrix.sum(), 4, threads=1)
    order = [int(found[:4, factor].argmax()) for factor in range(4)]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(found, shares[:, order], atol=2e-3)
    np.testing.assert_allclose(masses, weights[order], rtol=0.02)


def test_rare_words_are_no_anchors():
    _, _, matrix = separable(0)
    matrix = np.pad(1000 * matrix, (0, 1))
    matrix[-1, -1] = 1e-3  # as far from all others as can be
    assert len(matrix) - 1 not in find_anchors(csr_array(matrix), 4).tolist()


def test_the_start_involves_no_chance_and_is_a_good_one():
    _, _, matrix = separable(3, words=60, factors=8)
    matrix = np.random.default_rng(3).poisson(30_000 * matrix).astype(float)
    matrix += matrix.T
    one, same = (symmetric_nmf(matrix, 8, start="anchors", seed=seed, threads=seed + 1) for seed in (0, 1))
    assert one.words.tobytes() == same.words.tobytes()
    # Few iterations from here are worth more than as many from random numbers.
    few = {start: symmetric_nmf(matrix, 8, start=start, iterations=3).divergence for start in ("anchors", "random")}
    assert few["anchors"] < few["random"]
    assert np.isfinite(one.divergence)


def test_anchor_words_need_windows():
    with pytest.raises(UsageError, match="`start` anchors needs `segmentation` implicit"):
        HiddenOptions(start="anchors", segmentation="explicit")
