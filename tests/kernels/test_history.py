from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.kernels.history import (
    IMPOSSIBLE,
    product_weights,
    running_sums,
    running_weights,
    window_sums,
    window_weights,
    word_probs,
)
from toy_lm import toy_hidden

ROWS = st.lists(st.integers(-1, 4), min_size=1, max_size=12)
BACKGROUNDS = st.sampled_from([0.0, 0.2, 0.9])


def model_of(seed):
    hidden = toy_hidden(np.random.default_rng(seed), range(5), documents=3)
    plain = hidden.words.astype(np.float64), hidden.priors.astype(np.float64), hidden.marginals.astype(np.float64)
    return (hidden.words, hidden.priors, hidden.marginals), plain


def lined(rows, size):
    """The line of a text's rows after `size` words of no row, and the places of the text in it."""
    return np.array([-1] * size + list(rows), dtype=np.int32), np.arange(size, size + len(rows))


def window(rows, model, size, steps, background):
    found = np.full((len(rows), len(model[1])), np.nan, dtype=np.float32)
    new = np.empty(len(model[1]), dtype=np.float32)
    window_weights(*lined(rows, size), *model, size, steps, np.float32(background), new, found)
    return found


def run(rows, model, decay, strength, background, seen, weights):
    found = np.full((len(rows), len(model[1])), np.nan, dtype=np.float32)
    options = np.float32(decay), np.float32(strength), np.float32(background)
    running_weights(np.array(rows, dtype=np.int32), *model, *options, seen, weights, found)
    return found


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 99), st.lists(st.integers(0, 4), min_size=2, max_size=10))
def test_one_step_is_what_the_paper_prints(seed, rows):
    model, (words, priors, marginals) = model_of(seed)
    rows = [row for row in rows if marginals[row] > 0]
    found = window([*rows, 0], model, 20, 1, 0.0)
    np.testing.assert_array_equal(found[0], model[1])
    for place in range(1, len(rows) + 1):
        want = oracles.weights_by_the_paper(rows[:place], words, priors)
        np.testing.assert_allclose(found[place], want, rtol=1e-5, atol=1e-7)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 99), ROWS, st.integers(1, 5), st.integers(1, 8), BACKGROUNDS)
def test_more_steps_are_those_of_em(seed, rows, size, steps, background):
    model, plain = model_of(seed)
    found = window(rows, model, size, steps, background)
    for place in range(len(rows)):
        want = oracles.folded_in(rows[max(0, place - size) : place], *plain, steps, background)
        np.testing.assert_allclose(found[place], want, rtol=1e-4, atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), ROWS, BACKGROUNDS)
def test_no_step_lowers_the_likelihood_of_the_history(seed, rows, background):
    model, (words, _, marginals) = model_of(seed)
    rows = [row for row in rows if row < 0 or marginals[row] > 0]
    reached = [
        oracles.likelihood(rows, words, marginals, window([*rows, -1], model, 20, steps, background)[-1], background)
        for steps in range(10)
    ]
    assert np.diff(reached).min() >= -1e-5


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 99),
    ROWS,
    st.sampled_from([1.0, 0.9, 0.3]),
    st.sampled_from([0.01, 0.5, 30.0]),
    BACKGROUNDS,
    st.integers(0, 12),
)
def test_running_weights_are_their_definition_in_any_pieces(seed, rows, decay, strength, background, cut):
    model, plain = model_of(seed)
    seen, weights = np.zeros(3, dtype=np.float32), model[1].copy()
    options = decay, strength, background
    found = np.vstack([run(part, model, *options, seen, weights) for part in (rows[:cut], rows[cut:])])
    for place in range(len(rows)):
        np.testing.assert_allclose(found[place], oracles.running(rows[:place], *plain, *options), rtol=1e-4, atol=1e-6)
    # Words of no row tell nothing, and nothing decays by them.
    told = [row for row in rows if row >= 0]
    alone = run(told, model, *options, np.zeros(3, dtype=np.float32), model[1].copy())
    np.testing.assert_array_equal(found[np.array(rows) >= 0], alone)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 99), ROWS, st.integers(1, 5))
def test_products_are_what_the_paper_prints(seed, rows, size):
    (words, priors, _), (plain, plain_priors, _) = model_of(seed)
    logs = np.full_like(words, IMPOSSIBLE)
    np.log(words, out=logs, where=words > 0)
    found = np.full((len(rows), len(priors)), np.nan, dtype=np.float32)
    product_weights(*lined(rows, size), logs, priors, size, found)
    for place in range(len(rows)):
        want = oracles.product_of_the_paper(rows[max(0, place - size) : place], plain, plain_priors)
        np.testing.assert_allclose(found[place], want, rtol=1e-4, atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), ROWS, st.integers(1, 5), st.sampled_from([1.0, 0.5]), st.integers(0, 12))
def test_sums_of_vectors_are_those_of_the_words_before(seed, rows, size, decay, cut):
    vectors = np.random.default_rng(seed).normal(size=(5, 3)).astype(np.float32)
    plain = [vectors[row].astype(np.float64) if row >= 0 else np.zeros(3) for row in rows]
    found = np.full((len(rows), 3), np.nan, dtype=np.float32)
    window_sums(*lined(rows, size), vectors, size, found)
    for place in range(len(rows)):
        want = sum(plain[max(0, place - size) : place], np.zeros(3))
        np.testing.assert_allclose(found[place], want, rtol=1e-4, atol=1e-5)
    seen = np.zeros(3, dtype=np.float32)
    for part in (slice(cut), slice(cut, None)):
        running_sums(np.array(rows[part], dtype=np.int32), vectors, np.float32(decay), seen, found[part])
    for place in range(len(rows)):
        told = [vector for vector, row in zip(plain[:place], rows, strict=False) if row >= 0]
        want = sum((decay**age * vector for age, vector in enumerate(reversed(told))), np.zeros(3))
        np.testing.assert_allclose(found[place], want, rtol=1e-4, atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), ROWS)
def test_words_have_the_sum_over_hidden_documents(seed, rows):
    (words, *_), (plain, *_) = model_of(seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(3), len(rows))
    found = np.empty(len(rows))
    word_probs(np.array(rows, dtype=np.int32), words, weights.astype(np.float32), found)
    want = [sum(plain[row] * mine) if row >= 0 else 0 for row, mine in zip(rows, weights, strict=True)]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-9)
