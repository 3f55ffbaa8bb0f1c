"""Orthogonal factors, the likelihood of a proper alignment, and the argument of section 7.4 of onmf."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.errors import DataError, UsageError
from cepts.factor import factorise, orthogonal_factors, proper_model
from oracles_factor import matrices, proper_assignments


@st.composite
def assigned(draw):
    """A matrix and a proper assignment of its words, some of them null's."""
    matrix = draw(matrices(most=4))
    ways = list(proper_assignments(*matrix.shape, null=True))
    return matrix, *draw(st.sampled_from([way for way in ways if way[0].max() >= 0]))


@settings(deadline=None)
@given(assigned())
def test_factors_are_orthogonal_and_give_the_alignment(made):
    """Section 3: rows with one entry, columns that are orthogonal and sum to 1, and A = F E'."""
    _, source, target = made
    found = orthogonal_factors(source, target)
    for factor, cepts in ((found.source, source), (found.target, target)):
        assert ((factor > 0).sum(axis=1) == (cepts >= 0)).all()
        gram = factor.T @ factor
        np.testing.assert_array_equal(gram - np.diag(np.diag(gram)), 0)
        np.testing.assert_allclose(factor.sum(axis=0), 1)
        # Eq. (7): the words of a cept have equal entries.
        assert all(len(set(column[column > 0].tolist())) == 1 for column in factor.T)
    np.testing.assert_array_equal(found.links, (source[:, None] == target) & (source[:, None] >= 0))


def test_factors_of_a_factorisation_are_those_of_its_alignment():
    matrix = [[9, 0, 0], [0, 5, 5], [0, 6, 5]]
    found = factorise(matrix)
    links = np.zeros((3, 3), dtype=bool)
    for i, j in found.alignments[0].links:
        links[i, j] = True
    np.testing.assert_array_equal(found.orthogonal.links, links)
    # The matrix is of two blocks, so the proper model loses nothing but the little that blocks lack to be products.
    assert found.proper(matrix).log_likelihood == pytest.approx(found.factors.log_likelihood, abs=1e-3)


@settings(deadline=None, max_examples=50)
@given(assigned())
def test_the_proper_model_is_the_fixed_point_of_em_within_its_blocks(made):
    """EM of the oracle, started where the blocks are not 0, reaches the same likelihood: a probability of 0 stays 0."""
    matrix, source, target = made
    values = matrix.astype(float)
    found = proper_model(matrix, source, target, iterations=3000, tolerance=0)
    start = orthogonal_factors(source, target)
    model = oracles.Model(0.9 * start.weights, start.source.T, start.target.T, 0.1)
    for _ in range(3000):
        model = oracles.em_step(values, model)
    assert found.log_likelihood == pytest.approx(oracles.log_likelihood(values, model), rel=1e-3, abs=1e-3)
    joint = found.product + found.noise / values.size
    assert joint.sum() == pytest.approx(1)
    assert found.log_likelihood == pytest.approx((values[values > 0] * np.log(joint[values > 0])).sum())


def test_without_noise_an_entry_outside_the_blocks_is_impossible():
    """Why section 4.3 adds noise."""
    matrix, cepts = [[8, 1], [0, 6]], [0, 1]
    assert proper_model(matrix, cepts, cepts, noise=None).log_likelihood == -np.inf
    assert np.isfinite(proper_model(matrix, cepts, cepts).log_likelihood)
    exact = proper_model([[8, 0], [0, 6]], cepts, cepts, noise=None)
    assert exact.log_likelihood == pytest.approx(8 * np.log(8 / 14) + 6 * np.log(6 / 14))


@pytest.mark.parametrize(
    ("cepts", "message"),
    [
        (([0, 1], [0, 0]), "`target_cepts` must have a word of each of 2"),
        (([0, 0, 0], [0, 0]), "must have 2 and 2 words"),
    ],
)
def test_what_is_not_proper_is_refused(cepts, message):
    with pytest.raises(DataError, match=message):
        proper_model([[1, 2], [3, 4]], *cepts)
    with pytest.raises(UsageError, match="`noise` must lie between 0 and 1"):
        proper_model([[1, 2], [3, 4]], [0, 0], [0, 0], noise=1.5)


# -- sentences are independent, section 7.4 --------------------------------------------------------------------------


def best_proper(matrix, cepts):
    """The log-likelihood of the best proper model without noise, by trying all, and its assignments."""
    best, found = -np.inf, []
    for source, target in proper_assignments(*matrix.shape):
        if source.max() + 1 != cepts:
            continue
        value = proper_model(matrix, source, target, noise=None).log_likelihood
        if value > best + 1e-9:
            best, found = value, []
        if abs(value - best) < 1e-9:
            found.append((source.tolist(), target.tolist()))
    return best, found


@settings(deadline=None, max_examples=10)
@given(st.lists(st.sampled_from([(2, 2), (1, 2), (2, 1), (1, 1)]), min_size=2, max_size=2), st.integers(0, 10**6))
def test_the_best_proper_model_of_a_corpus_is_that_of_its_sentences(shapes, seed):
    """Words of different sentences are never associated: the matrix of the corpus has a block for each sentence.

    The likelihood of the whole is the sum of those of the sentences, and of a constant for their sizes.
    """
    random = np.random.default_rng(seed)
    parts = [random.integers(1, 9, shape).astype(float) for shape in shapes]
    whole = np.zeros(np.sum(shapes, axis=0))
    whole[: shapes[0][0], : shapes[0][1]], whole[shapes[0][0] :, shapes[0][1] :] = parts
    one, two = (best_proper(part, 1) for part in parts)
    got, assignments = best_proper(whole, 2)
    masses = np.array([part.sum() for part in parts])
    assert got == pytest.approx(one[0] + two[0] + (masses * np.log(masses / masses.sum())).sum())
    for source, target in one[1]:
        for other_source, other_target in two[1]:
            assert (source + [1 + c for c in other_source], target + [1 + c for c in other_target]) in assignments


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["anneal", "aic"]))
def test_factorising_a_corpus_is_factorising_its_sentences(seed, cepts):
    """The cepts of a block-diagonal matrix are those of its blocks: no word finds its cept in another sentence."""
    random = np.random.default_rng(seed)
    shapes = [(random.integers(2, 5), random.integers(2, 5)) for _ in range(3)]
    parts = [oracles.blocks(random, *shape, min(2, *shape), count=500.0)[0] for shape in shapes]
    starts = np.concatenate([[[0, 0]], np.cumsum(shapes, axis=0)])
    whole = np.zeros(starts[-1])
    for part, start in zip(parts, starts[:-1], strict=True):
        whole[start[0] : start[0] + part.shape[0], start[1] : start[1] + part.shape[1]] = part
    alone = [
        (i + start[0], j + start[1])
        for part, start in zip(parts, starts[:-1], strict=True)
        for i, j in factorise(part, cepts=cepts).alignments[0].links
    ]
    assert factorise(whole, cepts=cepts, restarts=30).alignments[0].links == sorted(alone)
