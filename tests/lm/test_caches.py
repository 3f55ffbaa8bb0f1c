from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.errors import UsageError
from cepts.lm.caches import Cache, CacheTracker

WORDS = 5
CACHES = st.builds(Cache, st.integers(0, 6) | st.just(50), st.sampled_from([1.0, 0.99, 0.5, 1e-3]))
IDS = st.lists(st.integers(0, WORDS - 1), max_size=15)


def followed(caches, ids):
    tracker = CacheTracker(caches, WORDS)
    return tracker, tracker.follow(np.array(ids, dtype=np.int32))


@settings(deadline=None, max_examples=50)
@given(st.lists(CACHES, max_size=3), IDS, IDS, st.integers(0, WORDS - 1))
def test_words_to_come_count_as_those_that_have_come(caches, ids, pending, word):
    tracker, _ = followed(caches, ids)
    before = tracker.copy()
    found = tracker.probs_after(pending, word)
    for cache, prob in zip(caches, found, strict=True):
        want = oracles.cached([*ids, *pending], cache.size, cache.decay, WORDS)
        assert prob == pytest.approx(-1 if want is None else want[word], rel=1e-9, abs=1e-12)
    for name in ("counts", "totals", "scales", "recent"):
        np.testing.assert_array_equal(getattr(tracker, name), getattr(before, name))
    after = tracker.copy()
    np.testing.assert_allclose(
        found, after.follow(np.array([*pending, word], dtype=np.int32))[len(pending)], rtol=1e-9, atol=1e-12
    )
    for name in ("counts", "totals", "scales", "recent"):
        np.testing.assert_array_equal(getattr(tracker, name), getattr(before, name))


@settings(deadline=None, max_examples=50)
@given(st.lists(CACHES, max_size=3), IDS)
def test_distributions_are_counted(caches, ids):
    tracker, _ = followed(caches, ids)
    for cache, found in zip(caches, tracker.distributions(), strict=True):
        want = oracles.cached(ids, cache.size, cache.decay, WORDS)
        np.testing.assert_allclose(found, np.zeros(WORDS) if want is None else want, rtol=1e-9, atol=1e-12)
        assert want is None or abs(found.sum() - 1) < 1e-9


def test_words_to_come_count_rightly_after_the_scales_are_made_small():
    caches = [Cache(0, 0.01), Cache(3, 0.01), Cache(40, 0.5)]
    ids = np.random.default_rng(0).integers(0, WORDS, 1111).tolist()
    for length in range(90, 115):  # round the hundredth word, where 0.01 ** -100 is the largest scale
        tracker, _ = followed(caches, ids[:length])
        for word in range(WORDS):
            want = [oracles.cached([*ids[:length], 2, 3], c.size, c.decay, WORDS)[word] for c in caches]
            np.testing.assert_allclose(tracker.probs_after([2, 3], word), want, rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(st.builds(Cache, st.integers(0, 10**9), st.floats(1e-6, 1)))
def test_a_cache_is_read_from_what_it_is_written_as(cache):
    assert Cache.from_text(str(cache)) == cache


def test_caches_are_named_as_people_write_them():
    assert Cache.from_text("500") == Cache(500)
    assert Cache.from_text("0") == Cache()
    assert Cache.from_text("0.99") == Cache(0, 0.99)
    assert Cache.from_text(".99") == Cache(0, 0.99)
    assert Cache.from_text("1e-3") == Cache(0, 0.001)
    assert Cache.from_text("1.0") == Cache()
    assert Cache.from_text("500:0.99") == Cache(500, 0.99)
    assert [str(cache) for cache in (Cache(500), Cache(0, 0.98), Cache(500, 0.999))] == ["500", "0.98", "500:0.999"]


@pytest.mark.parametrize(
    "text", ["", "a", "-5", "1.5", "5:2", "5:", ":0.9", "0.0", "1e-300", "nan", "inf", "5:0.9:3", "5:nan"]
)
def test_what_names_no_cache_is_refused(text):
    with pytest.raises(UsageError, match=r"^each of `caches` must (be|have) .*Got [^\n]*\.$"):
        Cache.from_text(text)
