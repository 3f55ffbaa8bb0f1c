"""Classification EM: words move only to where the counts with their classes are more likely, as long as any can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.factor import factorise
from cepts.kernels import classify as kernels
from cepts.kernels.onmf import WordCepts
from oracles_factor import matrices, proper_assignments


def words_of(null, cept):
    ones = np.ones(len(null), np.float32)
    return WordCepts(np.asarray(null, dtype=np.float32), np.array(cept, dtype=np.int32), ones, ones)


def classified(matrix, nulls, source, target):
    """What the kernel makes of an assignment."""
    cepts = max(source) + 1
    sides = words_of(nulls[0], source), words_of(nulls[1], target)
    total = float(matrix.sum(dtype=np.float64))
    size, length = matrix.shape
    counts = np.zeros((2, cepts), dtype=np.int64)
    room = kernels.ClassifyRoom(np.zeros(size), np.zeros(length), np.zeros(cepts), *counts)
    kernels.classify((matrix / total).astype(np.float32), total, cepts, *sides, room)
    return sides[0].cept, sides[1].cept


@st.composite
def starts(draw):
    matrix = draw(matrices(most=4, decades=2.0)).astype(float)
    ways = [way for way in proper_assignments(*matrix.shape, null=True) if way[0].max() >= 0]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    level = draw(st.sampled_from([0.0, 0.1, 1.0])) * matrix.mean()
    nulls = tuple((level * random.exponential(1, words)).astype(np.float32).astype(float) for words in matrix.shape)
    return matrix, nulls, *draw(st.sampled_from(ways))


@settings(deadline=None, max_examples=150)
@given(starts())
def test_no_single_move_is_better_in_the_end_and_none_was_worse(made):
    matrix, nulls, source, target = made
    got = classified(matrix, nulls, source, target)
    before, after = (oracles.classified(matrix, nulls, *both) for both in ((source, target), got))
    rounding = 1e-4 * (matrix.sum() + sum(null.sum() for null in nulls))
    assert after >= before - rounding
    assert {*got[0].tolist()} - {-1} == {*got[1].tolist()} - {-1} == {*source.tolist()} - {-1}
    for side in (0, 1):
        for place, old in enumerate(got[side]):
            if old >= 0 and (got[side] == old).sum() == 1:
                continue  # the last word of its cept must stay
            # A word without null mass stays linked, if it was.
            for cept in range(-1 if nulls[side][place] > 0 else 0, max(source) + 1):
                moved = [cepts.copy() for cepts in got]
                moved[side][place] = cept
                assert oracles.classified(matrix, nulls, *moved) <= after + rounding


def test_a_word_between_two_cepts_goes_where_it_leaves_less_to_noise():
    matrix = np.array([[200.0, 0, 0], [60, 50, 50], [0, 20, 20]])
    start = np.array([0, 0, 1]), np.array([0, 1, 1])
    nulls = np.zeros(3), np.zeros(3)
    source, target = classified(matrix, nulls, *start)
    assert source.tolist() == [0, 1, 1]
    assert target.tolist() == [0, 1, 1]
    assert oracles.classified(matrix, nulls, source, target) > oracles.classified(matrix, nulls, *start) + 40


@pytest.mark.parametrize("cepts", ["anneal", "aic", 3])
def test_assignments_by_classification_are_at_least_as_likely(cepts):
    random = np.random.default_rng(7)
    better = 0
    for _ in range(20):
        matrix = oracles.blocks(random, 6, 7, 4, count=20.0, noise=2.0)[0] * random.uniform(0.3, 1.7, (6, 7))
        likely = []
        for assign in ("map", "classify"):
            found = factorise(matrix, cepts=cepts, assign=assign).alignments.cepts
            nulls = np.zeros(6), np.zeros(7)
            likely.append(oracles.classified(matrix, nulls, found.source, found.target))
        assert likely[1] >= likely[0] - 1e-3
        better += likely[1] > likely[0] + 1e-3
    assert better
