"""Direct maps against NumPy's and SciPy's own solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes

from cepts.spaces.methods import least_squares, procrustes
from cepts.spaces.moments import gather_moments


def pairs(seed, widths, count):
    """Vectors with a mean, which these maps do not take away."""
    random = np.random.default_rng(seed)
    views = [(random.standard_normal((count, width)) + 0.5).astype(np.float32) for width in widths]
    weights = random.uniform(0.5, 2.0, count)
    (moments,) = gather_moments(views, np.stack([np.arange(count)] * 2, axis=1), weights)
    return moments, views[0].astype(float), views[1].astype(float), weights


problems = st.tuples(
    st.integers(0, 2**32 - 1), st.tuples(st.integers(1, 5), st.integers(1, 5)), st.sampled_from([2, 8, 30])
)
some = settings(max_examples=40, deadline=None)


@some
@given(problems)
def test_least_squares_is_that_of_numpy_also_with_fewer_entries_than_dimensions(problem):
    seed, widths, count = problem
    moments, x, y, weights = pairs(seed, widths, count)
    roots = np.sqrt(weights)[:, None]
    wanted = np.linalg.lstsq(x * roots, y * roots, rcond=1e-5)[0]
    np.testing.assert_allclose(least_squares(moments, widths), wanted, rtol=1e-4, atol=1e-5)


@some
@given(problems, st.floats(1e-3, 10))
def test_ridge_solves_its_normal_equations(problem, ridge):
    seed, widths, count = problem
    moments, x, y, weights = pairs(seed, widths, count)
    inner = (x * weights[:, None]).T @ x / weights.sum()
    inner += ridge * np.trace(inner) / len(inner) * np.eye(len(inner))
    wanted = np.linalg.solve(inner, (x * weights[:, None]).T @ y / weights.sum())
    np.testing.assert_allclose(least_squares(moments, widths, ridge=ridge), wanted, rtol=1e-6, atol=1e-8)


@some
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_procrustes_is_that_of_scipy(seed, width):
    moments, x, y, weights = pairs(seed, (width, width), 30)
    roots = np.sqrt(weights)[:, None]
    wanted, _ = orthogonal_procrustes(x * roots, y * roots)
    np.testing.assert_allclose(procrustes(moments, (width, width)), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("widths", [(3, 5), (5, 3)])
def test_procrustes_between_other_widths_has_orthonormal_rows_or_columns(widths):
    moments, x, y, weights = pairs(0, widths, 30)
    found = procrustes(moments, widths)
    assert found.shape == widths
    narrow = found if widths[0] > widths[1] else found.T
    np.testing.assert_allclose(narrow.T @ narrow, np.eye(min(widths)), atol=1e-12)
    # Of all such maps it takes x nearest to y in direction: the largest inner product.
    cross = (x * weights[:, None]).T @ y
    random = np.random.default_rng(1)
    for _ in range(50):
        other = np.linalg.qr(random.standard_normal((max(widths), max(widths))))[0][: widths[0], : widths[1]]
        assert np.sum(other * cross) <= np.sum(found * cross) + 1e-9


def test_procrustes_finds_a_rotation_again():
    random = np.random.default_rng(2)
    turn = np.linalg.qr(random.standard_normal((4, 4)))[0]
    x = random.standard_normal((20, 4)).astype(np.float32)
    (moments,) = gather_moments([x, (x @ turn).astype(np.float32)], np.stack([np.arange(20)] * 2, axis=1))
    np.testing.assert_allclose(procrustes(moments, (4, 4)), turn, atol=1e-6)
    np.testing.assert_allclose(least_squares(moments, (4, 4)), turn, atol=1e-6)
