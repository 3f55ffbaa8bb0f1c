from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import block_of_pairs, pair_cases, random_pair, split
from cepts.words.mixture import DiagonalPrior, Shapes
from cepts.words.text import TextFacts

GRID = np.geomspace(*DiagonalPrior.TENSIONS, 2000)


def prior_matrices(positions, block):
    """Forward and reverse prior of every pair, the explained side in the columns."""
    shapes = Shapes.of(block.pairs)
    priors = positions.priors(shapes)
    sizes = list(zip(shapes.source_lengths, shapes.target_lengths, strict=True))
    return split(priors.forward, sizes), [table.T for table in split(priors.reverse, sizes)]


@settings(deadline=None, max_examples=50)
@given(
    pair_cases(min_length=1, max_length=9),
    st.floats(0.01, 0.9),
    st.floats(*DiagonalPrior.TENSIONS),
)
def test_prior_equals_its_formula_and_leaves_null_its_share(cases, null_prob, tension):
    positions = DiagonalPrior(null_prob=null_prob, tension=tension)
    for tables in prior_matrices(positions, block_of_pairs(cases)):
        for table in tables:
            want, _ = oracles.diagonal_prior(*table.shape, tension, null_prob)
            np.testing.assert_allclose(table, want, rtol=1e-4, atol=1e-7)
            np.testing.assert_allclose(table.sum(axis=0), 1 - null_prob, rtol=1e-5)


def expected_log_prior(tension, links, direction):
    """Expected log-probability of the positions that `links` (posteriors, I x J) take."""
    total = 0.0
    for matrix in links:
        matrix = matrix if direction == 0 else matrix.T
        prior, _ = oracles.diagonal_prior(*matrix.shape, tension, 0.1)
        total += (matrix * np.log(prior)).sum()
    return total


@settings(deadline=None, max_examples=20)
@given(pair_cases(min_length=1, max_length=6), st.floats(0.5, 20))
def test_update_finds_the_tension_of_highest_expected_likelihood(cases, tension):
    positions = DiagonalPrior(tension=tension)
    block = block_of_pairs(cases)
    positions.prepare(TextFacts.of(block.pairs))
    posterior = positions.posterior(block)
    positions.update(positions.expect(block, agreeing=False).statistics)
    shapes = [case.forward.shape for case in cases]
    for direction, values in enumerate((posterior.forward, posterior.reverse)):
        links = [matrix.astype(float) for matrix in split(values, shapes)]
        found = expected_log_prior(positions.tension[direction], links, direction)
        best = max(expected_log_prior(value, links, direction) for value in GRID[::20])
        assert found >= best - 1e-5 * max(1.0, abs(best))
        assert found >= expected_log_prior(tension, links, direction) - 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize(("shift", "rises"), [(0, True), (4, False)])
def test_tension_rises_for_links_on_the_diagonal_and_falls_for_others(shift, rises):
    case = random_pair(8, 8, np.random.default_rng(1))
    case.forward[:] = case.reverse[:] = 1e-6 + np.roll(np.eye(8), shift, axis=1)
    block = block_of_pairs([case])
    positions = DiagonalPrior()
    before = positions.tension.copy()
    positions.prepare(TextFacts.of(block.pairs))
    positions.update(positions.expect(block, agreeing=False).statistics)
    assert ((positions.tension > before) == rises).all()
