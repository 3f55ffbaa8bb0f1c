"""Extrapolation of fixed-point iterations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.spaces.mbfa import Anderson


def linear_map(seed, width, radius=0.95):
    """x -> A x + b with the largest eigenvalue `radius`, and its fixed point.

    A is symmetric, and b is not nearly 0 along any eigenvector: else two steps can be nearly parallel, and the
    extrapolation from them, in single precision, needs one step more.
    """
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.standard_normal((width, width)))[0]
    slope = turn * np.linspace(radius, -0.5, width) @ turn.T
    shift = turn @ (random.choice([-1.0, 1.0], width) * random.uniform(0.5, 2.0, width))
    return slope, shift, np.linalg.solve(np.eye(width) - slope, shift)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_lands_on_the_fixed_point_of_a_linear_map_in_as_many_steps_as_dimensions(seed, width):
    slope, shift, fixed = linear_map(seed, width)
    anderson = Anderson(memory=width)
    point = np.zeros(width)
    for _ in range(width + 1):  # the first step has nothing to extrapolate from
        point = anderson.extrapolate(point, slope @ point + shift)
    # Directions are kept in single precision.
    assert np.linalg.norm(point - fixed) < 1e-3 * np.linalg.norm(fixed)
    for _ in range(3):
        point = anderson.extrapolate(point, slope @ point + shift)
    assert np.linalg.norm(point - fixed) < 1e-7 * np.linalg.norm(fixed)


def test_a_short_memory_still_beats_plain_steps():
    slope, shift, fixed = linear_map(0, 12, radius=0.99)
    anderson = Anderson(memory=3)
    plain = fast = np.zeros(12)
    for _ in range(60):
        plain = slope @ plain + shift
        fast = anderson.extrapolate(fast, slope @ fast + shift)
    assert np.linalg.norm(fast - fixed) < 1e-2 * np.linalg.norm(plain - fixed)


def test_the_first_step_is_the_map_itself_also_after_forgetting():
    slope, shift, _ = linear_map(1, 3)
    anderson = Anderson(memory=3)
    point = np.ones(3)
    there = slope @ point + shift
    assert anderson.extrapolate(point, there).tolist() == there.tolist()
    anderson.extrapolate(there, slope @ there + shift)
    anderson.forget()
    assert anderson.extrapolate(point, there).tolist() == there.tolist()
    fresh = Anderson(memory=3)
    fresh.extrapolate(point, there)
    ahead = slope @ there + shift
    assert anderson.extrapolate(there, ahead).tolist() == fresh.extrapolate(there, ahead).tolist()


@pytest.mark.parametrize("memory", [1, 4])
def test_steps_that_repeat_each_other_do_no_harm(memory):
    """Once there, residuals are 0 and so are their changes."""
    anderson = Anderson(memory)
    point = np.zeros(2)
    for _ in range(6):
        point = anderson.extrapolate(point, point / 2 + 1)
    np.testing.assert_allclose(point, 2.0)
    here = anderson.extrapolate(point, point)
    assert np.isfinite(here).all()


def test_what_is_given_is_not_changed():
    anderson = Anderson(memory=2)
    here, there = np.array([1.0, 2.0]), np.array([0.5, 1.5])
    for _ in range(3):
        anderson.extrapolate(here, there)
    assert here.tolist() == [1.0, 2.0]
    assert there.tolist() == [0.5, 1.5]
