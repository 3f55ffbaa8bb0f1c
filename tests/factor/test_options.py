"""The scale on which evidence is counted."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Association, offsets_of
from cepts.errors import UsageError
from cepts.factor import Factoring, in_counts, scaled_to_words


def one(matrix, **nulls):
    matrix = np.array(matrix, dtype=np.float32)
    rows, columns = matrix.shape
    return Association(np.array([rows]), np.array([columns]), offsets_of([matrix.size]), matrix.ravel(), **nulls)


def test_scaling_leaves_zeros_and_missing_nulls():
    scaled = scaled_to_words(one([[0, 0], [0, 0]]))
    assert scaled.values.tolist() == [0, 0, 0, 0]
    assert scaled.source_null is None
    # Four of the matrix and half of four of null are the 4 x 1.5 that is wanted.
    scaled = scaled_to_words(one([[3, 1]], target_null=np.array([1, 3], np.float32)), 4.0)
    assert (scaled.values.tolist(), scaled.target_null.tolist()) == ([3, 1], [1, 3])


def test_evidence_grows_with_the_price_of_a_cept_in_long_pairs():
    lengths = np.array([80, 160])
    made = Association(
        lengths,
        lengths,
        offsets_of(lengths**2),
        np.ones(int((lengths**2).sum()), np.float32),
        np.ones(int(lengths.sum()), np.float32),
    )
    found = in_counts(made)
    np.testing.assert_array_equal(found[0], 200)
    np.testing.assert_array_equal(found[1], 400)
    np.testing.assert_array_equal(found.source_null, np.repeat([200, 400], lengths))
    assert found.target_null is None
    np.testing.assert_array_equal(in_counts(made, 100.0)[1], 4)


def test_matrices_without_a_certain_entry_are_scaled_as_a_whole():
    made = one([[3, 1], [0, 0]])
    np.testing.assert_allclose(in_counts(made, None).values, 200 * scaled_to_words(made).values)


@pytest.mark.parametrize("spread", [-0.1, 1.0, float("nan")])
def test_a_spread_out_of_range_is_refused(spread):
    with pytest.raises(UsageError, match="`spread` must be at least 0 and below 1"):
        Factoring(spread=spread)
