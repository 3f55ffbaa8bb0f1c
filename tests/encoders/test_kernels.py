"""Centring, mutual argmax and optimal transport against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

import oracles_encoders as oracles
from cepts.data import offsets_of
from cepts.kernels.encoder_links import centre, mutual_best, transport

SHAPES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4)


def flat(matrices):
    """Lengths of both sides, offsets and the cells of all matrices."""
    lengths = (np.array([matrix.shape[side] for matrix in matrices], dtype=np.int64) for side in (0, 1))
    cells = np.concatenate([matrix.ravel() for matrix in matrices]).astype(np.float32)
    return *lengths, offsets_of([matrix.size for matrix in matrices]), cells


def parts(values, matrices):
    """The cells of all matrices, one by one."""
    bounds = offsets_of([matrix.size for matrix in matrices])
    return [values[a:b].reshape(matrix.shape) for a, b, matrix in zip(bounds, bounds[1:], matrices, strict=False)]


COSINES = st.floats(-1, 1, width=32)


@st.composite
def some_matrices(draw, elements=COSINES):
    return [draw(arrays(np.float32, shape, elements=elements)) for shape in draw(SHAPES)]


@settings(max_examples=60, deadline=None)
@given(some_matrices())
def test_centring_equals_the_products_of_centred_vectors(matrices):
    *shape, values = flat(matrices)
    centre(*shape, values, np.empty(5))
    for found, matrix in zip(parts(values, matrices), matrices, strict=True):
        if matrix.size:
            np.testing.assert_allclose(found, oracles.centred(matrix.astype(np.float64)), atol=1e-5)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 4), st.integers(0, 1000))
def test_mutual_argmax_equals_simalign(rows, columns, rounds, seed):
    # Several matrices, so that nothing may be left over from the one before; without ties.
    random = np.random.default_rng(seed)
    matrices = [random.permutation(size[0] * size[1]).reshape(size) + 1.0 for size in ((rows, columns), (4, 3), (0, 2))]
    *shape, values = flat(matrices)
    kept = np.empty(len(values), dtype=np.bool_)
    mutual_best(*shape, values, rounds, np.full((4, 7), 9, dtype=np.int64), kept)
    for found, matrix in zip(parts(kept, matrices), matrices, strict=True):
        if matrix.size:
            np.testing.assert_array_equal(found, oracles.iterated_argmax(matrix, rounds))


def test_of_equal_cells_the_first_is_the_best():
    kept = np.empty(9, dtype=np.bool_)
    mutual_best(np.array([3]), np.array([3]), np.array([0, 9]), np.ones(9), 1, np.empty((4, 3), dtype=np.int64), kept)
    assert np.flatnonzero(kept).tolist() == [0]


def planned(matrices, null, stay, sweeps=5000):
    *shape, values = flat(matrices)
    plan = np.empty(len(values))
    transport(*shape, values, null, stay, sweeps, np.full((2, 7), np.nan), plan)
    return parts(plan, matrices)


@settings(max_examples=25, deadline=None)
@given(
    some_matrices(elements=st.floats(-3, 3, width=32)).filter(lambda found: all(matrix.size < 10 for matrix in found)),
    st.floats(-1, 1),
    st.floats(0.25, 4),
)
def test_transport_has_the_least_cost(matrices, null, stay):
    for found, matrix in zip(planned(matrices, null, stay), matrices, strict=True):
        if matrix.size:
            logits = matrix.astype(np.float64)
            best = oracles.transport(logits, null, stay)
            cost, least = (oracles.transport_cost(plan, logits, null, stay) for plan in (found, best))
            assert cost <= least + 1e-6
            np.testing.assert_allclose(found, best, rtol=2e-2, atol=1e-4)


def test_without_staying_each_cell_is_its_own():
    logits = np.array([[1.0, -2.0], [0.5, 0.0]])
    np.testing.assert_allclose(planned([logits], 0.5, 0.0)[0], np.exp(logits - 0.5) / 4, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_may_stay_transport_is_a_linear_programme(seed):
    """Where leaving mass costs far more than moving it, and logits are large, only the cost of moving counts."""
    random = np.random.default_rng(seed)
    rows, columns = 3, 4
    gains = random.uniform(size=(rows, columns))
    plan = planned([60 * gains], 0.0, 3000.0, sweeps=200_000)[0]
    sums = np.vstack([np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))])
    masses = np.concatenate([np.full(rows, 1 / rows), np.full(columns, 1 / columns)])
    best = linprog(-gains.ravel(), A_eq=sums, b_eq=masses)
    assert plan.sum() == pytest.approx(1.0, abs=0.02)
    assert (plan * gains).sum() / plan.sum() == pytest.approx(-best.fun, abs=0.03)


def test_transport_of_large_logits_is_finite():
    plan = planned([np.array([[5000.0, -5000.0], [-5000.0, 5000.0]])], 0.0, 2.0)[0]
    assert np.isfinite(plan).all()
    assert plan[0, 0] > plan[0, 1]
