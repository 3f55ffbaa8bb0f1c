from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_ngrams as oracles
from cepts.kernels.arpa import write_logarithm
from cepts.kernels.ngrams import (
    find_continuation,
    find_entries,
    ngram_distribution,
    ngram_step,
    weighted_masses,
)
from cepts.lm.backoff import BackoffModel
from cepts.lm.kneser_ney import KneserNey


@st.composite
def models(draw):
    """Tries of random texts with random numbers, which sum to nothing in particular."""
    random = np.random.default_rng(draw(st.integers(0, 999)))
    text = oracles.random_text(draw(st.integers(0, 999)), sentences=draw(st.integers(1, 6)), words=4)
    ngrams = KneserNey(order=draw(st.integers(1, 4))).fit(text).ngrams_
    probs = random.random(len(ngrams)).astype(np.float32)
    probs[1] = 0
    backoffs = random.uniform(0.1, 2, len(ngrams)).astype(np.float32)
    backoffs[ngrams.levels[-2] :] = 1
    return replace(ngrams, probs=probs, backoffs=backoffs)


@settings(deadline=None)
@given(models())
def test_every_step_is_that_of_the_dictionary(ngrams):
    want = oracles.Dictionary(ngrams)
    places = {gram: entry for entry, gram in enumerate(want.grams)} | {(): -1}
    trie = BackoffModel(ngrams).trie
    for context in range(-1, int(ngrams.levels[-2])):
        gram = want.grams[context] if context >= 0 else ()
        for word in range(want.size):
            assert find_continuation(ngrams.first, ngrams.words, context, word) == places.get((*gram, word), -1)
            prob, following = ngram_step(*trie, context, word)
            np.testing.assert_allclose(prob, want.prob(word, gram), rtol=1e-12)
            assert following == places[want.shortened((*gram, word))]


@settings(deadline=None)
@given(models(), st.integers(0, 2**7 - 1))
def test_distributions_and_masses_are_enumerated(ngrams, chosen):
    want = oracles.Dictionary(ngrams)
    trie = BackoffModel(ngrams).trie
    members = np.array([chosen >> word & 1 for word in range(want.size)], dtype=bool)
    masses = np.empty(ngrams.levels[-2] + 1)
    weighted_masses(trie, members.astype(np.float32), masses)
    for context in range(-1, len(masses) - 1):
        distribution = np.empty(want.size)
        ngram_distribution(trie, context, np.empty(ngrams.order, dtype=np.int64), distribution)
        expected = want.distribution(want.grams[context] if context >= 0 else ())
        np.testing.assert_allclose(distribution, expected, rtol=1e-12)
        np.testing.assert_allclose(masses[context], expected[members].sum(), rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(models(), st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1))
def test_entries_are_found(ngrams, rows):
    grams = oracles.grams_of(ngrams)
    rows = [[min(word, ngrams.levels[1] - 1) for word in row] for row in rows]
    entries = np.empty(len(rows), dtype=np.int64)
    find_entries(ngrams.first, ngrams.words, np.array(rows, dtype=np.int64), entries)
    assert entries.tolist() == [grams.index(tuple(row)) if tuple(row) in grams else -1 for row in rows]


@settings(deadline=None)
@given(st.floats(-150, 99, exclude_max=True))
def test_logarithms_are_written_with_seven_digits(value):
    out = np.zeros(20, dtype=np.uint8)
    used = write_logarithm(value, out, 0)
    written = out[:used].tobytes().decode()
    assert abs(float(written) - max(value, -99)) <= 0.5000001e-7
    assert len(written.partition(".")[2]) <= 7
    assert not out[used:].any()
