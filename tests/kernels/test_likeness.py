from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.kernels.likeness import MEASURES, span_coverage, spelling_likeness

WORDS = st.lists(st.text("abcß", max_size=7), min_size=1, max_size=3)


def flat(words):
    return np.array([ord(c) for word in words for c in word], dtype=np.uint32), np.cumsum([0, *map(len, words)])


def likeness(source, target):
    out = np.full((len(source), len(target), MEASURES), np.nan, dtype=np.float32)
    spelling_likeness(*flat(source), *flat(target), np.ones((2, 8), dtype=np.bool_), np.full(9, -9), out)
    return out


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [("MARTHA", "MARHTA", 0.9611), ("DIXON", "DICKSONX", 0.8133), ("DWAYNE", "DUANE", 0.84), ("abc", "xyz", 0.0)],
)
def test_known_values_of_jaro_winkler(one, other, wanted):
    assert likeness([one], [other])[0, 0, 0] == pytest.approx(wanted, abs=5e-5)
    assert likeness([other], [one])[0, 0, 0] == pytest.approx(wanted, abs=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "levenshtein", "hamming", "jaccard"),
    [("kitten", "sitting", 1 - 3 / 7, 4 / 7, 3 / 7), ("abc", "abcd", 0.75, 0.75, 0.75), ("ab", "ba", 0, 0, 1)],
)
def test_known_values_of_other_measures(one, other, levenshtein, hamming, jaccard):
    for both in ((one, other), (other, one)):
        assert likeness(both[:1], both[1:])[0, 0, 5:].tolist() == pytest.approx([levenshtein, hamming, jaccard])


@settings(deadline=None, max_examples=200)
@given(WORDS, WORDS)
def test_spelling_equals_the_definitions(source, target):
    want = [[oracles.spelling(one, other) for other in target] for one in source]
    np.testing.assert_allclose(likeness(source, target), want, rtol=1e-6)


def test_equal_words_are_quite_alike_and_no_word_is_like_nothing():
    assert likeness(["word", "ab", "a"], ["word"])[0].tolist() == [[1.0] * MEASURES]
    # One letter has no bigram, two have no trigram.
    assert likeness(["a"], ["a"]).tolist() == [[[1.0, 0.0, 0.0, *[1.0] * 5]]]
    assert not likeness(["", "x"], ["", "y"])[[0, 0, 1], [0, 1, 0]].any()


@settings(deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5]),
    st.integers(0),
)
def test_coverage_equals_the_definition(length, width, longest, widest, share, seed):
    random = np.random.default_rng(seed)
    matrix = random.random((length, width)).astype(np.float32)
    matrix[random.random((length, width)) < share] = 0.0
    covered = np.zeros((2, length, longest, width, widest), dtype=np.float32)
    span_coverage(matrix, np.full(widest, np.nan), covered)
    for (i, span, j, wide), got in np.ndenumerate(covered[0]):
        inside = i + span < length and j + wide < width
        want = oracles.coverage(matrix.astype(float), i, span + 1, j, wide + 1) if inside else (0.0, 0.0)
        np.testing.assert_allclose((got, covered[1, i, span, j, wide]), want, rtol=1e-5)
