"""Symmetric NMF is EM of a model in which both words of a pair are drawn from the same hidden document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import oracles_poisson as oracles
from cepts.errors import DataError, UsageError
from cepts.factor import poisson as poisson_module
from cepts.factor import poisson_nmf, symmetric_nmf

SEEDS = st.integers(0, 2**32 - 1)


def model_of(found):
    return (found.words.astype(float) * found.weights) @ found.words.T.astype(float)


@settings(deadline=None, max_examples=100)
@given(oracles.counts(symmetric=True), st.integers(1, 4), SEEDS, st.integers(1, 6))
def test_steps_are_those_of_the_equations(matrix, factors, seed, iterations):
    factors = min(factors, len(matrix))
    random = np.random.default_rng(seed)
    words, weights = random.uniform(0.1, 1, (len(matrix), factors)), random.uniform(0.1, 1, factors)
    found = symmetric_nmf(
        csr_array(matrix), factors, start=(words, weights), iterations=iterations, tolerance=0, long_steps=False
    )
    words, weights = words / words.sum(axis=0), weights * matrix.sum() / weights.sum()
    objectives = []
    for _ in range(iterations):
        objectives.append(oracles.objective(matrix, (words * weights) @ words.T))
        words, weights = oracles.symmetric_step(matrix, words, weights)
    np.testing.assert_allclose(found.words, words, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.objectives, objectives, rtol=1e-5, atol=1e-4 * matrix.sum())


@settings(deadline=None, max_examples=60)
@given(oracles.counts(symmetric=True), st.integers(1, 4), SEEDS)
def test_long_steps_go_farther_than_those_of_the_equations(matrix, factors, seed):
    """The first of two iterations: the last is EM's own."""
    factors = min(factors, len(matrix))
    random = np.random.default_rng(seed)
    words, weights = random.uniform(0.1, 1, (len(matrix), factors)), random.uniform(0.1, 1, factors)
    found = symmetric_nmf(matrix, factors, start=(words, weights), iterations=1)
    words, weights = words / words.sum(axis=0), weights * matrix.sum() / weights.sum()
    farther = oracles.long_symmetric_step(matrix, words, weights)
    before, after = (oracles.objective(matrix, (q * z) @ q.T) for q, z in ((words, weights), farther))
    if after < before + 1e-4 * matrix.sum():
        return
    words, weights = oracles.symmetric_step(matrix, *farther)
    np.testing.assert_allclose(found.words, words, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-3, atol=1e-3)


@settings(deadline=None, max_examples=100)
@given(oracles.counts(most=12, symmetric=True), st.booleans(), st.integers(1, 5), SEEDS)
def test_no_step_lowers_the_objective(matrix, long_steps, factors, seed):
    options = {"long_steps": long_steps, "seed": seed}
    found = symmetric_nmf(matrix, min(factors, len(matrix)), iterations=40, tolerance=0, **options)
    assert len(found.objectives) == 40
    assert np.diff([*found.objectives, found.objective]).min() >= -2e-6 * matrix.sum()


@settings(deadline=None, max_examples=60)
@given(oracles.counts(symmetric=True), st.integers(1, 4), st.sampled_from([1e-30, 1.0, 1e30]))
def test_factors_say_what_they_say(matrix, factors, scale):
    matrix = matrix * scale
    found = symmetric_nmf(csr_array(matrix), min(factors, len(matrix)), iterations=20)
    assert len(found) == len(found.weights) == found.words.shape[1]
    assert (found.words >= 0).all()
    np.testing.assert_allclose(found.words.sum(axis=0)[found.weights > 0], 1, atol=1e-5)
    np.testing.assert_allclose(found.weights.sum(), matrix.sum(), rtol=1e-5)
    assert not found.words[matrix.sum(axis=1) == 0].any()
    model = model_of(found)
    # A word's mass is kept: sums of the model's rows are those of the matrix.
    np.testing.assert_allclose(model.sum(axis=1), matrix.sum(axis=1), rtol=1e-3, atol=1e-4 * matrix.sum())
    tolerance = {"rel": 1e-4, "abs": 1e-4 * matrix.sum()}
    assert found.objective == pytest.approx(oracles.objective(matrix, model), **tolerance)
    assert found.divergence == pytest.approx(oracles.divergence(matrix, model), **tolerance)


def test_it_finds_groups_of_words():
    groups = np.repeat(np.arange(3), 4)
    matrix = 5.0 * (groups[:, None] == groups)
    found = symmetric_nmf(matrix, 3, iterations=300, tolerance=0)
    other = poisson_nmf(matrix, 3, iterations=300, tolerance=0)
    assert len(set(found.words.argmax(axis=1))) == 3
    assert found.divergence == pytest.approx(other.divergence, abs=1e-2)
    np.testing.assert_allclose(found.weights, 80, rtol=1e-3)


def test_threads_and_shards_give_the_same_bytes(monkeypatch):
    matrix = np.random.default_rng(0).poisson(0.5, (60, 60)).astype(float)
    monkeypatch.setattr(poisson_module, "SHARD", 512)
    one, three = (symmetric_nmf(matrix + matrix.T, 7, iterations=5, threads=threads) for threads in (1, 3))
    assert one.words.tobytes() == three.words.tobytes()
    assert one.weights.tobytes() == three.weights.tobytes()
    assert one.objectives == three.objectives


BAD = {
    "no square": (csr_array(np.ones((2, 3))), "words by words. Got 2 x 3 instead"),
    "not symmetric": (
        csr_array([[1.0, 2.0], [3.0, 1.0]]),
        r"Got 2\.0 at position 1, 2 but 3\.0 at position 2, 1 \(counted from 1\) instead",
    ),
    "half of it": (csr_array([[1.0, 2.0], [0.0, 1.0]]), r"Got 2\.0 at position 1, 2 but 0\.0 at position 2, 1"),
    "negative": (csr_array([[1.0, -2.0], [-2.0, 1.0]]), r"Got -2\.0 at position 1, 2"),
    "zeros": (np.zeros((2, 2)), "nothing but zeros"),
}


@pytest.mark.parametrize(("matrix", "message"), BAD.values(), ids=BAD)
def test_a_bad_matrix_is_refused_in_one_line(matrix, message):
    with pytest.raises(DataError, match=message) as raised:
        symmetric_nmf(matrix, 1)
    assert "\n" not in str(raised.value)


def test_bad_options_are_refused_in_one_line():
    with pytest.raises(UsageError, match=r"must lie between 1 and 2, .* Got 3 instead"):
        symmetric_nmf(np.ones((2, 2)), 3)
    with pytest.raises(DataError, match="`start` must have 1 x 2 numbers"):
        symmetric_nmf(np.ones((2, 2)), 2, start=(np.ones((2, 2)), np.ones(3)))
