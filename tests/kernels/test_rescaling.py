from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.kernels.rescaling import excess_probs, factored_masses, lift_words, raise_powers, spread_factors
from cepts.lm.backoff import BackoffModel
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import LEAST_WEIGHT
from oracles_ngrams import Dictionary, random_text
from toy_lm import toy_hidden


@pytest.mark.parametrize("exponent", [0.05, 0.3, 0.5, 0.77, 1.0, 1.5, 2.0, 4.0])
def test_powers_are_those_of_numpy(exponent):
    random = np.random.default_rng(int(100 * exponent))
    special = [1e-4, 1e6, 1, 2, 0.5, np.nextafter(1, 0), np.nextafter(2, 0), np.nextafter(1, 2)]
    values = np.array([*special, *10 ** random.uniform(-4, 6, 5000)], dtype=np.float32)
    want = values.astype(np.float64) ** exponent
    whole, scale = np.empty((2, len(values)), dtype=np.float32)
    bits = values.view(np.int32), whole.view(np.int32), scale.view(np.int32)
    raise_powers(values, bits[0], np.float32(exponent), whole, bits[1], scale, bits[2])
    np.testing.assert_allclose(values, want, rtol=1e-5)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 999), st.integers(1, 5), st.floats(0.05, 1))
def test_words_are_lifted_as_defined(seed, histories, evenness):
    random = np.random.default_rng(seed)
    hidden = toy_hidden(random, range(6), documents=5)
    rare = random.random(hidden.words.shape) < 0.2
    hidden = replace(hidden, words=np.where(rare, np.float32(5e-7), hidden.words))
    weights = random.dirichlet(np.full(5, evenness), histories).astype(np.float32)
    weights[np.abs(weights - LEAST_WEIGHT) < 1e-6] = 0
    lifted = np.empty((6, histories), dtype=np.float32)
    lift_words(weights, *hidden.lifts, np.float32(LEAST_WEIGHT), np.empty(len(weights), dtype=np.float32), lifted)
    plain = hidden.words.astype(np.float64), hidden.marginals.astype(np.float64)
    for place in range(histories):
        want = oracles.lifted(weights[place].astype(np.float64), *plain)
        np.testing.assert_allclose(lifted[:, place], want, rtol=1e-5, atol=2e-6)


def test_factors_go_to_the_columns_of_their_words():
    factors = np.full((2, 6), 9, dtype=np.float32)
    spread_factors(np.array([[1, 2], [3, 4]], dtype=np.float32), np.array([1, 4], dtype=np.int32), factors)
    assert factors.tolist() == [[9, 1, 9, 9, 3, 9], [9, 2, 9, 9, 4, 9]]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 99), st.integers(1, 4))
def test_masses_are_sums_over_all_words(seed, order):
    ngrams = KneserNey(order=order).fit(random_text(seed, sentences=6, words=5)).ngrams_
    size = len(ngrams.vocabulary)
    excess = np.full(len(ngrams), np.nan, dtype=np.float32)
    trie = BackoffModel(ngrams).trie
    excess_probs(trie, size, excess)
    want = Dictionary(ngrams)
    for gram, found in zip(want.grams, excess, strict=True):
        backed_off = want.backoffs[gram[:-1]] * want.prob(gram[-1], gram[1:-1]) if len(gram) > 1 else 0
        assert abs(found - (want.probs[gram] - backed_off)) < 1e-6

    contexts = np.arange(-1, ngrams.levels[-2])
    factors = np.random.default_rng(seed).gamma(0.5, size=(len(contexts), size)).astype(np.float32)
    found = np.full(len(contexts), np.nan)
    path = np.empty(order, dtype=np.int64)
    factored_masses(trie, excess, contexts, factors, path, found)
    model = BackoffModel(ngrams)
    sums = [model.distribution(context) @ row for context, row in zip(contexts.tolist(), factors, strict=True)]
    np.testing.assert_allclose(found, sums, rtol=2e-6, atol=1e-7)
