from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from cepts.data import offsets_of
from cepts.kernels.lexicon import add_null_counts, gather_null
from cepts.words.null import NullWords

SOURCE, TARGET = np.array([3, 1]), np.array([1, 2, 5])
SOURCE_COUNTS, TARGET_COUNTS = np.array([0.5, 1.5]), np.array([1.0, 0.0, 3.0])


def test_every_word_is_as_likely_before_training():
    null = NullWords(SOURCE, TARGET)
    np.testing.assert_allclose(null.source, [1 / 2] * 2)
    np.testing.assert_allclose(null.target, [1 / 3] * 3)


def test_maximum_likelihood_is_the_share_of_the_counts():
    null = NullWords(SOURCE, TARGET)
    null.estimate(SOURCE_COUNTS, TARGET_COUNTS)
    np.testing.assert_allclose(null.source, [0.25, 0.75])
    np.testing.assert_allclose(null.target, [0.25, 0, 0.75])


def test_smoothing_adds_the_frequencies_of_the_words():
    null = NullWords(SOURCE, TARGET, smoothing=0.5)
    np.testing.assert_allclose(null.target, TARGET / 8)
    null.estimate(SOURCE_COUNTS, TARGET_COUNTS)
    np.testing.assert_allclose(null.target, (TARGET_COUNTS / 4 + 0.5 * TARGET / 8) / 1.5, rtol=1e-6)
    assert null.target.sum() == pytest.approx(1)


def test_bayes_is_the_exponential_of_the_expected_logarithm():
    null = NullWords(SOURCE, TARGET, concentration=0.1)
    null.estimate(SOURCE_COUNTS, TARGET_COUNTS)
    np.testing.assert_allclose(null.target, np.exp(digamma(TARGET_COUNTS + 0.1) - digamma(4.3)), rtol=1e-5)


def test_null_that_explains_nothing_falls_back_on_frequencies():
    null = NullWords(SOURCE, TARGET)
    null.estimate(np.zeros(2), np.zeros(3))
    np.testing.assert_allclose(null.source, SOURCE / 4)
    np.testing.assert_allclose(null.target, TARGET / 8)


def test_an_unknown_word_is_as_rare_as_one_seen_once():
    null = NullWords(SOURCE, TARGET)
    words = np.array([1, -1, 0], dtype=np.int32)
    source, target = null.given(words, words)
    np.testing.assert_allclose(source, [1 / 2, 1 / 5, 1 / 2])
    np.testing.assert_allclose(target, [1 / 3, 1 / 9, 1 / 3])
    assert len(null.given(words, np.empty(0, dtype=np.int32))[1]) == 0


def test_no_words_at_all():
    nothing = np.empty(0, dtype=np.int64)
    null = NullWords(nothing, nothing)
    null.estimate(np.zeros(0), np.zeros(0))
    unknown = np.array([-1], dtype=np.int32)
    np.testing.assert_allclose(null.given(unknown, unknown)[0], 1)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-1, 4), max_size=5), max_size=5), st.randoms())
def test_kernels_of_null_equal_their_definitions(sentences, random):
    words = np.array([word for sentence in sentences for word in sentence], dtype=np.int32)
    given_null = np.array([random.random() for _ in range(5)], dtype=np.float32)
    found = np.empty(len(words), dtype=np.float32)
    gather_null(given_null, words, np.float32(0.25), found)
    assert found.tolist() == [given_null[word] if word >= 0 else 0.25 for word in words]

    known = np.maximum(words, 0)
    values = np.array([random.random() for _ in known], dtype=np.float32)
    times = np.array([random.randint(1, 3) for _ in sentences], dtype=np.float32)
    sums = np.array([random.random() for _ in range(5)])
    wanted = sums.copy()
    place = 0
    for sentence, repeated in zip(sentences, times, strict=True):
        for _ in sentence:
            wanted[known[place]] += float(values[place] * repeated)
            place += 1
    offsets = offsets_of([len(sentence) for sentence in sentences])
    add_null_counts(known, offsets, values, times, sums)
    assert sums.tobytes() == wanted.tobytes()
