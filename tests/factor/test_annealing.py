"""Annealing: where cepts split, how they do, and that one pass finds what a search of all numbers of cepts finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.factor import factorise, onmf
from cepts.kernels import anneal as kernels
from cepts.kernels import plsa
from oracles_factor import cells_of, copied, joined, matrices, room_for

SEEDS = st.integers(0, 2**32 - 1)


# -- where a cept splits -------------------------------------------------------------------------------------------


def correlation_of(part):
    part = np.ascontiguousarray(part, dtype=np.float32)
    rows, columns = part.sum(axis=1), part.sum(axis=0)
    x, y = np.zeros_like(rows), np.zeros_like(columns)
    return float(kernels.correlation_of(*part.shape, kernels.Part(part, rows, columns, x), part.sum(), x, y)), x, y


@settings(deadline=None, max_examples=200)
@given(st.one_of(matrices(most=9, decades=1.0), matrices(most=9)))
def test_the_correlation_is_at_most_the_second_singular_value(matrix):
    """And near it, unless the third is nearly as large: then the power method has not got there in its few steps."""
    second, third = oracles.first_correlation(matrix.astype(float))
    got, _, _ = correlation_of(matrix)
    assert 0 <= got <= second + 1e-5
    if third < 0.5 * second:
        assert got == pytest.approx(second, abs=2e-3)


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(2, 9), st.integers(2, 9), st.integers(1, 5))
def test_the_correlation_of_blocks_is_one(seed, size, length, cepts):
    """And nothing of one block, which is a product of its margins."""
    matrix, _ = oracles.blocks(np.random.default_rng(seed), size, length, min(cepts, size, length))
    assert correlation_of(matrix)[0] == pytest.approx(float(min(cepts, size, length) > 1), abs=1e-3)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(matrices(most=8, decades=1.0))
def test_directions_are_the_singular_vectors(matrix):
    second, third = oracles.first_correlation(matrix.astype(float))
    assume(third < 0.5 * second and second > 0.1)
    got, x, y = correlation_of(matrix)
    rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
    # y_j = E[x | j], and the correlation of x and y is the root of the share of x's variance that y has.
    np.testing.assert_allclose(y[columns > 0], (x @ matrix)[columns > 0] / columns[columns > 0], atol=1e-4)
    assert (rows * x).sum() / matrix.sum() == pytest.approx(0, abs=1e-4)
    assert (rows * x**2).sum() / matrix.sum() == pytest.approx(1, abs=1e-3)
    assert (x @ matrix @ y) / matrix.sum() == pytest.approx(got**2, abs=1e-3)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([1, 2, 3]), SEEDS, st.booleans())
def test_the_part_of_a_cept_is_what_it_explains(cepts, seed, noisy):
    random = np.random.default_rng(seed)
    matrix = random.uniform(0, 1, (5, 4)).astype(np.float32)
    noise = 0.1 * noisy
    weights = (1 - noise) * random.dirichlet(np.ones(cepts))
    model = oracles.Model(weights, random.dirichlet(np.ones(5), cepts), random.dirichlet(np.ones(4), cepts), noise)
    for cept in range(cepts):
        part, rows, columns = np.zeros((5, 4), np.float32), np.zeros(5, np.float32), np.zeros(4, np.float32)
        found = plsa.CeptModel(np.float32(model.weights), np.float32(model.source), np.float32(model.target))
        room = kernels.Part(part, rows, columns, np.zeros(4, np.float32))
        total = kernels.part_of(cells_of(matrix, matrix.sum()), cepts, cept, found, plsa.density(noise, 5, 4), room)
        share = weights[cept] * np.outer(model.source[cept], model.target[cept]) / model.joint()
        np.testing.assert_allclose(part, matrix * share, rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(rows, part.sum(axis=1), rtol=1e-5)
        np.testing.assert_allclose(columns, part.sum(axis=0), rtol=1e-5)
        assert total == pytest.approx(part.sum(), rel=1e-5)


def distance_of_copies(matrix, inverse_temperature, steps, size_of_change=0.01):
    """How far two copies of the one cept of a matrix are apart after so many tempered steps, having been changed."""
    part = matrix.astype(float)
    rows, columns = part.sum(axis=1), part.sum(axis=0)
    total = part.sum()
    left, _, right = np.linalg.svd(part / np.sqrt(rows)[:, None] / np.sqrt(columns))
    x, y = left[:, 1] / np.sqrt(rows), right[1] / np.sqrt(columns)
    largest = max(abs(x).max(), abs(y).max())
    x, y = x / largest, y / largest
    signs = np.array([1, -1])[:, None] * size_of_change
    weights = np.array([0.5, 0.5], np.float32)
    source = np.float32(rows / total * (1 + signs * x))
    model = plsa.CeptModel(weights, source, np.float32(columns / total * (1 + signs * y)))
    plsa.train_tempered(
        cells_of(matrix, total), 2, model, copied(model), -1.0, steps, inverse_temperature, room_for(model)
    )
    return float(abs(source[0].astype(float) - source[1]).sum())


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(2, 7), st.integers(2, 7))
def test_copies_part_above_the_critical_temperature_and_meet_below(seed, size, length):
    """They are b (1 + s) times as far apart after a step, s being the second singular value: the derivation."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(0.05, 1, (size, length)) ** 2
    second, third = oracles.first_correlation(matrix)
    assume(second - third > 0.05)
    critical = 1 / (1 + second)
    for factor, parts in ((1.04, True), (0.96, False)):
        few, many = (distance_of_copies(matrix, critical * factor, steps) for steps in (4, 12))
        assert (many > few) == parts
        assert (many / few) ** (1 / 8) == pytest.approx(factor, abs=0.012)


# -- one pass through all numbers of cepts ---------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(matrices(most=8, decades=2.0), st.sampled_from(["anneal", "aic"]))
def test_more_cepts_explain_more(matrix, cepts):
    """EM may end elsewhere, but hardly ever worse; where it does, by thousandths of a count's log-likelihood."""
    found = factorise(100 * matrix, cepts=cepts, restarts=5)
    curve = found.log_likelihoods[~np.isnan(found.log_likelihoods)]
    assert len(curve) >= 1
    assert np.diff(curve).min(initial=0) >= -0.02 * 100 * float(matrix.sum())


@pytest.mark.parametrize("selection", ["anneal", "anneal-bic", "aic", "bic"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_well_separated_blocks_are_the_cepts(selection, noise):
    """Nearly always: where blocks are alike, a split may run through one and come to nothing."""
    random = np.random.default_rng(5)
    made = []
    for _ in range(200):
        size, length = (int(words) for words in random.integers(1, 9, 2))
        cepts = int(random.integers(1, min(size, length) + 1))
        made.append(oracles.blocks(random, size, length, cepts, count=400.0, noise=noise))
    found = onmf(joined([matrix for matrix, _ in made]), cepts=selection, restarts=20)
    assert np.mean([alignment.links == links for alignment, (_, links) in zip(found, made, strict=True)]) >= 0.98


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(2, 8), st.integers(2, 8))
def test_two_blocks_are_two_cepts(seed, size, length):
    matrix, links = oracles.blocks(np.random.default_rng(seed), size, length, 2, count=400.0, noise=0.1)
    for selection in ("anneal", "anneal-bic", "aic", "bic", 2):
        assert factorise(matrix, cepts=selection).alignments[0].links == links


@pytest.fixture(scope="module")
def noisy_blocks():
    """Counts of random alignments, Poisson draws with noise beside them."""
    random = np.random.default_rng(7)
    made = []
    for _ in range(120):
        size, length = random.integers(3, 11, 2)
        most = min(size, length)
        rates, links = oracles.blocks(random, size, length, int(random.integers((most + 1) // 2, most + 1)), noise=3.0)
        made.append((random.poisson(rates).astype(float), links))
    return made


def test_one_pass_agrees_with_the_search_of_all_numbers(noisy_blocks):
    association = joined([matrix for matrix, _ in noisy_blocks])
    for annealed, searched in (("anneal", "aic"), ("anneal-bic", "bic")):
        one, all_of_them = onmf(association, cepts=annealed), onmf(association, cepts=searched)
        alike = [len(one.cepts[n]) == len(all_of_them.cepts[n]) for n in range(len(association))]
        assert np.mean(alike) >= 0.9
        alike = [a.links == b.links for a, b in zip(one, all_of_them, strict=True)]
        assert np.mean(alike) >= 0.9


def test_one_pass_finds_the_blocks_behind_the_noise(noisy_blocks):
    found = onmf(joined([matrix for matrix, _ in noisy_blocks]), cepts="anneal")
    assert np.mean([alignment.links == links for alignment, (_, links) in zip(found, noisy_blocks, strict=True)]) > 0.9


def test_the_number_of_cepts_is_as_large_as_can_be_told_apart():
    """A wanted number that a matrix of fewer blocks cannot have must not end in one cept for all words."""
    matrix = np.kron(np.eye(3), np.ones((2, 2)))
    for wanted in (3, 4, 5, 6):
        found = factorise(100 * matrix, cepts=wanted).alignments[0]
        assert set(found.links) <= {(int(i), int(j)) for i, j in np.argwhere(matrix)}


def test_what_is_one_product_stays_one_cept():
    matrix = np.outer([1, 2, 3, 4], [3, 1, 2])
    for selection in ("anneal", "anneal-bic", "aic", "bic", 1):
        found = factorise(1000 * matrix, cepts=selection)
        assert len(found.alignments.cepts[0]) == 1
        assert found.factors.log_likelihood == pytest.approx(found.log_likelihoods[0], rel=1e-4)
