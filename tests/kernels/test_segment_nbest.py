"""Lists of the best paths: the first of all paths in falling order, without repetition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.kernels.segment_nbest import segment_nbest
from cepts.kernels.segments import segment_path


def lists(lattice, count):
    length = len(lattice[1])
    scores = np.full(count, np.nan)
    starts, stops = np.full((count, length), -9, dtype=np.int32), np.full((count, length, 2), -9, dtype=np.int32)
    found = segment_nbest(*lattice, scores, starts, stops)
    return scores[:found], starts[:found], stops[:found]


@settings(deadline=None, max_examples=60)
@given(oracles.lattices(3), st.integers(1, 40))
def test_lists_are_the_first_of_all_paths(lattice, count):
    got, starts, stops = lists(lattice, count)
    scores = {path: oracles.path_score(path, *lattice) for path in oracles.paths_of(*lattice[:2])}
    want = sorted((score for score in scores.values() if score > -np.inf), reverse=True)[:count]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    paths = list(map(oracles.as_path, starts, stops))
    assert len(set(paths)) == len(paths)
    np.testing.assert_allclose([scores[path] for path in paths], got, rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(oracles.lattices(), st.integers(1, 5))
def test_the_first_is_the_best_path_and_longer_lists_only_go_on(lattice, count):
    got, starts, stops = lists(lattice, count)
    one, spans = np.empty(len(lattice[1]), dtype=np.int32), np.empty((len(lattice[1]), 2), dtype=np.int32)
    assert segment_path(*lattice, one, spans) == got[0]
    np.testing.assert_array_equal(starts[0], one)
    np.testing.assert_array_equal(stops[0], spans)
    longer = lists(lattice, count + 3)
    np.testing.assert_array_equal(longer[0][:count], got)


@pytest.mark.parametrize("memory", [False, True])
def test_there_may_be_fewer_paths(memory):
    lattice = oracles.lattice(np.random.default_rng(5), 2, 1, 1, 1, memory=memory)
    assert [len(lists(lattice, count)[0]) for count in (1, 3, 4, 5, 100)] == [1, 3, 4, 4, 4]


def test_equal_scores_come_in_the_order_in_which_the_best_path_looks_for_them():
    lattice = oracles.lattice(np.random.default_rng(6), 2, 2, 1, 1, memory=True, scale=0.0)
    scores, starts, stops = lists(lattice, 9)
    assert len(scores) == 9 and not scores.any()
    again = lists(lattice, 9)
    np.testing.assert_array_equal(stops, again[2])
    np.testing.assert_array_equal(starts, again[1])
