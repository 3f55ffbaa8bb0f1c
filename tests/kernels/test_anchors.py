"""Segments that hold favoured links, against every item looked at one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.kernels.anchors import favour_links


@settings(deadline=None, max_examples=100)
@given(st.tuples(*(st.integers(1, 4) for _ in range(4))), st.data())
def test_favoured_links_raise_the_segments_that_hold_them(shape, data):
    length, _, width, _ = shape
    places = st.tuples(st.integers(0, length - 1), st.integers(0, width - 1))
    links = np.array(data.draw(st.lists(places, max_size=4)), dtype=np.int64).reshape(-1, 2)
    gains = np.random.default_rng(len(links)).normal(size=len(links))
    emit = np.random.default_rng(1).normal(size=shape)
    want = oracles.favoured(emit, links, gains)
    favour_links(emit, links, gains)
    np.testing.assert_allclose(emit, want, rtol=1e-12)
