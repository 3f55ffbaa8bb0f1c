"""Sufficient statistics against sums over entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oracles_spaces_models as oracles
from cepts.engine import ThreadEngine, Workplace
from cepts.errors import ModelError
from cepts.spaces import moments as module
from cepts.spaces.moments import gather_moments, spans_of

WORDS = 4

tables = st.integers(1, 3).flatmap(
    lambda views: hnp.arrays(
        np.int64, st.tuples(st.integers(0, 9), st.just(views)), elements=st.integers(-1, WORDS - 1)
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(0, 2**32 - 1), st.booleans())
def test_moments_equal_sums_over_entries(rows, seed, weighted):
    random = np.random.default_rng(seed)
    views = [random.standard_normal((WORDS, 2 + view)).astype(np.float32) for view in range(rows.shape[1])]
    weights = random.uniform(0.1, 2.0, len(rows)) if weighted else None
    found = gather_moments(views, rows, weights)
    wanted = oracles.moments(views, rows, np.ones(len(rows)) if weights is None else weights)
    assert {part.views for part in found} == set(wanted)
    for part in found:
        mass, mean, covariance = wanted[part.views]
        np.testing.assert_allclose(part.weight, mass)
        np.testing.assert_allclose(part.mean, mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(part.covariance, covariance, rtol=1e-9, atol=1e-12)
        assert (part.covariance == part.covariance.T).all()


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_shards_of_entries_add_up_to_the_sums_over_all(rows, seed, size):
    random = np.random.default_rng(seed)
    views = [10 + random.standard_normal((WORDS, 2 + view)).astype(np.float32) for view in range(rows.shape[1])]
    weights = random.uniform(0.1, 2.0, len(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHARD_ENTRIES", size)
        found = gather_moments(views, rows, weights)
    wanted = oracles.moments(views, rows, weights)
    assert {part.views for part in found} == set(wanted)
    assert len(found) == len(wanted)
    for part in found:
        mass, mean, covariance = wanted[part.views]
        np.testing.assert_allclose(part.weight, mass)
        np.testing.assert_allclose(part.mean, mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(part.covariance, covariance, rtol=1e-9, atol=1e-11)


def test_files_and_what_is_left_of_them_give_the_same_bytes(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    monkeypatch.setattr(module, "SHARD_ENTRIES", 7)
    views = [random.standard_normal((50, width)).astype(np.float32) for width in (3, 4)]
    rows = random.integers(-1, 50, (60, 2))
    weights = random.uniform(0.1, 2.0, len(rows))

    def found(workplace=None):
        moments = gather_moments(views, rows, weights, workplace)
        return [(part.views, part.weight, part.mean.tobytes(), part.covariance.tobytes()) for part in moments]

    wanted = found()
    assert len(wanted) == 3
    for threads, missing in ((1, ()), (2, ("sums/00000", "sums/00003")), (1, ("entries/00002",))):
        for name in missing:
            (tmp_path / f"{name}.piece").unlink()
        assert found(Workplace(ThreadEngine(threads), tmp_path)) == wanted
    weights[0] += 1
    with pytest.raises(ModelError, match="`weights` differs"):
        found(Workplace(ThreadEngine(1), tmp_path))


def test_an_entry_of_weight_two_is_the_same_entry_twice():
    views = [np.random.default_rng(view).standard_normal((5, 3)).astype(np.float32) for view in range(2)]
    rows = np.array([[0, 1], [2, 3], [4, 0]])
    (once,) = gather_moments(views, rows, np.array([2.0, 1.0, 1.0]))
    (twice,) = gather_moments(views, rows[[0, 0, 1, 2]])
    np.testing.assert_allclose(once.mean, twice.mean)
    np.testing.assert_allclose(once.covariance, twice.covariance)


def test_spans_lie_one_after_the_other():
    assert spans_of([2, 3, 1]) == [slice(0, 2), slice(2, 5), slice(5, 6)]
