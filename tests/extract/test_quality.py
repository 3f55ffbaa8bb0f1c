"""The quality of pairs, against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Association, offsets_of
from cepts.extract import pair_quality
from cepts.extract.quality import CROSSING, EXPONENT, LEAST, SMOOTHING


def by_definition(matrix: np.ndarray) -> float:
    if not matrix.size:
        return 0.0
    coverage = (matrix.max(axis=0).sum() + matrix.max(axis=1).sum()) / sum(matrix.shape)
    links = [(i, j) for i, j in zip(*np.nonzero(matrix >= LEAST), strict=True)]
    crossing = total = 0.0
    for i, j in links:
        for k, m in links:
            if k < i and m != j:
                total += matrix[i, j] * matrix[k, m]
                crossing += matrix[i, j] * matrix[k, m] * (m > j)
    return coverage * (1 - max(0.0, crossing / (total + SMOOTHING) - CROSSING)) ** EXPONENT


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=3), st.integers(0, 9))
def test_quality_is_coverage_lowered_by_crossings(shapes, seed):
    rows, columns = (np.array(side) for side in zip(*shapes, strict=True))
    values = np.random.default_rng(seed).random(int((rows * columns).sum())).astype(np.float32)
    association = Association(rows, columns, offsets_of(rows * columns), values)
    found = pair_quality(association)
    wanted = [by_definition(association[pair].astype(np.float64)) for pair in range(len(association))]
    assert found == pytest.approx(wanted, rel=1e-5)
    assert ((found >= 0) & (found <= 1)).all()
