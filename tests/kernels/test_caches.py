from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.kernels.caches import LARGEST, cache_probs

WORDS = 5
CACHES = st.lists(
    st.tuples(st.integers(0, 6) | st.just(400), st.sampled_from([1.0, 0.99, 0.5, 1e-3])), min_size=1, max_size=3
)
IDS = st.lists(st.integers(0, WORDS - 1), max_size=30)


class Caches:
    """What is carried on from one run of the kernel to the next."""

    def __init__(self, caches):
        self.sizes = np.array([size for size, _ in caches], dtype=np.int64)
        self.decays = np.array([decay for _, decay in caches])
        self.recent = np.full(max(self.sizes), -1, dtype=np.int32)
        self.counts, self.totals = np.zeros((len(caches), WORDS)), np.zeros(len(caches))
        self.scales = np.ones(len(caches))

    def probs(self, ids):
        found = np.full((len(ids), len(self.sizes)), np.nan)
        carried = self.recent, self.counts, self.totals, self.scales
        cache_probs(np.array(ids, dtype=np.int32), self.sizes, self.decays, *carried, found)
        return found


def counted(ids, caches):
    found = np.full((len(ids), len(caches)), -1.0)
    for place, word in enumerate(ids):
        for column, (size, decay) in enumerate(caches):
            distribution = oracles.cached(ids[:place], size, decay, WORDS)
            if distribution is not None:
                found[place, column] = distribution[word]
    return found


@settings(deadline=None, max_examples=50)
@given(CACHES, IDS, st.integers(0, 30))
def test_probabilities_are_those_of_counting_in_any_pieces(caches, ids, cut):
    carried = Caches(caches)
    found = np.vstack([carried.probs(ids[:cut]), carried.probs(ids[cut:])])
    np.testing.assert_allclose(found, counted(ids, caches), rtol=1e-9, atol=1e-12)
    assert carried.recent.tolist() == ([-1] * len(carried.recent) + ids)[len(ids) :]


def test_scales_are_made_small_again_before_they_overflow():
    caches = [(0, 0.01), (3, 0.01), (0, 0.5), (40, 0.5)]
    ids = np.random.default_rng(1).integers(0, WORDS, 1500).tolist()
    carried = Caches(caches)
    np.testing.assert_allclose(carried.probs(ids), counted(ids, caches), rtol=1e-9, atol=1e-12)
    assert carried.scales.max() <= LARGEST
    np.testing.assert_allclose(carried.counts.sum(axis=1), carried.totals, rtol=1e-9)
