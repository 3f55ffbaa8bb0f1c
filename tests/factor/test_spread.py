"""Spreading null's mass is a linear system, solved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.data import Association
from cepts.errors import UsageError
from cepts.factor import spread
from oracles_factor import joined

STRENGTHS = st.sampled_from([0.1, 0.7, 0.99])


def pulls_of(random: np.random.Generator, lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """P(belongs to the word before), P(to the word after) of the words of all sentences; none beyond the ends."""
    left, right = [], []
    for length in lengths:
        shares = random.dirichlet([0.5, 0.5, 0.5], length)
        shares[:1, 0] = 0
        shares[-1:, 1] = 0
        left.append(shares[:, 0])
        right.append(shares[:, 1])
    return tuple(np.concatenate([np.empty(0), *side]).astype(np.float32) for side in (left, right))


@st.composite
def cases(draw):
    """Matrices with null masses, some words without any mass, and the pulls of their neighbours."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = draw(st.lists(st.sampled_from([(0, 0), (1, 1), (1, 4), (3, 1), (2, 2), (5, 4), (4, 6)]), max_size=3))
    made = [random.exponential(1, shape) * (random.random(shape) < 0.6) for shape in shapes]
    nulls = [
        [random.exponential(3, shape[side]) * (random.random(shape[side]) < 0.7) for shape in shapes] for side in (0, 1)
    ]
    pulls = [pulls_of(random, [shape[side] for shape in shapes]) for side in (0, 1)]
    return joined(made, *nulls), pulls


def parts(association: Association, pulls, pair: int):
    """Matrix, null masses and pulls of one pair."""
    runs = [slice(*offsets[[pair, pair + 1]]) for offsets in (association.source_offsets, association.target_offsets)]
    nulls = association.source_null[runs[0]], association.target_null[runs[1]]
    sides = [tuple(pull[run].astype(float) for pull in side) for side, run in zip(pulls, runs, strict=True)]
    return association[pair].astype(float), tuple(null.astype(float) for null in nulls), tuple(sides)


@settings(deadline=None, max_examples=100)
@given(cases(), STRENGTHS)
def test_spreading_is_the_solution_of_its_equations(case, strength):
    association, pulls = case
    got = spread(association, *pulls, strength)
    for pair in range(len(association)):
        want = oracles.spread(*parts(association, pulls, pair), strength)
        matrix, (source_null, target_null), _ = parts(got, pulls, pair)
        for one, other in zip((matrix, source_null, target_null), want, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=1e-5)
        assert (matrix >= association[pair] - 1e-6).all()


@settings(deadline=None, max_examples=30)
@given(cases(), STRENGTHS)
def test_what_is_given_stays_as_it_is(case, strength):
    association, pulls = case
    before = [array.copy() for array in (association.values, association.source_null, association.target_null)]
    spread(association, *pulls, strength)
    assert spread(association, *pulls, 0.0) is association
    for array, copy in zip((association.values, association.source_null, association.target_null), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@settings(deadline=None, max_examples=60)
@given(cases(), STRENGTHS, st.sampled_from(["source", "target"]))
def test_a_side_without_null_has_no_null_mass(case, strength, side):
    association, pulls = case
    fields = {"source_null": association.source_null, "target_null": association.target_null}
    shape = association.source_lengths, association.target_lengths, association.offsets, association.values
    zeros = Association(*shape, **{**fields, f"{side}_null": np.zeros_like(fields[f"{side}_null"])})
    got, want = spread(Association(*shape, **{**fields, f"{side}_null": None}), *pulls, strength), spread(
        zeros, *pulls, strength
    )  # fmt: skip
    other = "target_null" if side == "source" else "source_null"
    assert getattr(got, f"{side}_null") is None
    np.testing.assert_array_equal(getattr(got, other), getattr(want, other))
    np.testing.assert_array_equal(got.values, want.values)


def test_without_null_nothing_is_spread():
    association = joined([np.eye(2)])
    half = np.full(2, 0.5, np.float32)
    assert spread(association, (half, half), (half, half), 0.5) is association


def test_a_word_of_null_takes_part_in_its_neighbours_links():
    """`de` is null's; it holds to `besoin` before it, which is `need`."""
    association = joined([np.array([[10.0, 0], [0, 0], [0, 10.0]])], [np.array([0, 10.0, 0])], [np.zeros(2)])
    nothing = np.zeros(3, np.float32)
    pulls = (np.array([0, 0.8, 0], np.float32), np.array([0.5, 0.1, 0], np.float32)), (nothing[:2], nothing[:2])
    got = spread(association, *pulls, 0.5)
    np.testing.assert_allclose(got[0], [[10, 0], [4, 0.5], [0, 10]], rtol=1e-6)
    # 0.5 x (0.8 + 0.1) of the null mass has gone with them.
    np.testing.assert_allclose(got.source_null, [0, 5.5, 0], rtol=1e-6)


@pytest.mark.parametrize("strength", [-0.1, 1.0, 2.0, np.nan])
def test_a_strength_out_of_range_is_refused(strength):
    association, half = joined([np.eye(2)]), np.full(2, 0.5, np.float32)
    with pytest.raises(UsageError, match="`strength` must be at least 0 and below 1"):
        spread(association, (half, half), (half, half), strength)
