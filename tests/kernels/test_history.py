from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.kernels.history import running_weights, window_weights, word_probs
from toy_lm import toy_hidden

ROWS = st.lists(st.integers(-1, 4), min_size=1, max_size=12)
BACKGROUNDS = st.sampled_from([0.0, 0.2, 0.9])


def model_of(seed):
    hidden = toy_hidden(np.random.default_rng(seed), range(5), documents=3)
    plain = hidden.words.astype(np.float64), hidden.priors.astype(np.float64), hidden.marginals.astype(np.float64)
    return (hidden.words, hidden.priors, hidden.marginals), plain


def window(rows, model, size, steps, background, recent=None):
    found = np.full((len(rows), len(model[1])), np.nan, dtype=np.float32)
    recent = np.full(size, -1, dtype=np.int32) if recent is None else recent
    new = np.empty(len(model[1]), dtype=np.float32)
    rows = np.array(rows, dtype=np.int32)
    window_weights(rows, *model, size, steps, np.float32(background), recent, new, found)
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


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), ROWS, st.integers(1, 5), st.lists(st.integers(0, 12), min_size=2, max_size=2))
def test_windows_go_on_from_piece_to_piece(seed, rows, size, cuts):
    model, _ = model_of(seed)
    recent = np.full(size, -1, dtype=np.int32)
    first, second = sorted(cuts)
    pieces = rows[:first], rows[first:second], rows[second:]
    found = np.vstack([window(piece, model, size, 3, 0.2, recent) for piece in pieces])
    np.testing.assert_array_equal(found, window(rows, model, size, 3, 0.2))
    assert recent.tolist() == ([-1] * size + rows)[-size:]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), ROWS)
def test_words_have_the_sum_over_hidden_documents(seed, rows):
    (words, *_), (plain, *_) = model_of(seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(3), len(rows))
    found = np.empty(len(rows))
    word_probs(np.array(rows, dtype=np.int32), words, weights.astype(np.float32), found)
    want = [sum(plain[row] * mine) if row >= 0 else 0 for row, mine in zip(rows, weights, strict=True)]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-9)
