"""The truncated SVD is that of NumPy, whichever way it is computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array, random_array

import oracles_poisson as oracles
from cepts.errors import DataError, UsageError
from cepts.factor import svd as svd_module
from cepts.factor import truncated_svd


def check(found, matrix, factors):
    words, values, _ = np.linalg.svd(matrix)
    rank = int((values[:factors] > 1e-6 * values[0]).sum())
    assert len(found) == rank
    np.testing.assert_allclose(found.values, values[:rank], rtol=1e-6)
    np.testing.assert_allclose(found.words.T @ found.words, np.eye(rank), atol=1e-4)
    # Vectors of equal values may be turned among themselves; the projection onto all of them is what counts.
    if factors >= len(values) or values[rank - 1] - values[min(rank, len(values) - 1)] > 1e-6 * values[0]:
        want = words[:, :rank] @ words[:, :rank].T
        np.testing.assert_allclose(found.words @ found.words.T, want, atol=1e-4)


@settings(deadline=None, max_examples=60)
@given(oracles.counts())
def test_small_matrices_have_the_vectors_of_numpy(matrix):
    for factors in range(1, min(matrix.shape) + 1):
        check(truncated_svd(csr_array(matrix), factors), matrix, factors)


@pytest.mark.parametrize("symmetric", [False, True])
def test_large_matrices_do_too(symmetric, monkeypatch):
    monkeypatch.setattr(svd_module, "DENSE", 10)
    matrix = random_array((60, 60), density=0.2, rng=np.random.default_rng(0)).toarray()
    matrix = matrix + matrix.T if symmetric else matrix[:, :45]
    steps = []
    found = truncated_svd(csr_array(matrix), 7, progress=steps.append)
    check(found, matrix, 7)
    assert found.words.tobytes() == truncated_svd(csr_array(matrix), 7).words.tobytes()


def test_a_matrix_and_its_product_have_the_same_vectors():
    """Eq. (5) of nmf_lm."""
    matrix = np.random.default_rng(1).poisson(1, (12, 9)).astype(float)
    one, other = truncated_svd(matrix, 4), truncated_svd(matrix @ matrix.T, 4)
    np.testing.assert_allclose(one.words @ one.words.T, other.words @ other.words.T, atol=1e-4)
    np.testing.assert_allclose(one.values**2, other.values, rtol=1e-6)


def test_bad_input_is_refused_in_one_line():
    with pytest.raises(UsageError, match="must lie between 1 and 2"):
        truncated_svd(np.ones((2, 3)), 3)
    with pytest.raises(DataError, match="nothing but zeros"):
        truncated_svd(np.zeros((2, 3)), 1)
