"""Poisson NMF is EM as the paper writes it, of whatever is not 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array

import oracles_factor
import oracles_poisson as oracles
from cepts.engine import run_em
from cepts.errors import DataError, UsageError
from cepts.factor import plsa, poisson_nmf
from cepts.factor import poisson as poisson_module
from cepts.factor.poisson import Climb, Counts
from cepts.factor.starts import random_start
from cepts.kernels import plsa as plsa_kernels

SEEDS = st.integers(0, 2**32 - 1)
STEPS = {"two": oracles.two_block_step, "joint": oracles.joint_step, "sequential": oracles.sequential_step}


@st.composite
def cases(draw):
    """A matrix, and W and H to start from."""
    matrix = draw(oracles.counts())
    factors = draw(st.integers(1, min(matrix.shape)))
    random = np.random.default_rng(draw(SEEDS))
    start = (random.uniform(0.1, 1, (length, factors)) for length in matrix.shape)
    return matrix, *start


def normalised(matrix, words, documents):
    scale = words.sum(axis=0)
    return words / scale, documents * scale * matrix.sum() / (documents * scale).sum()


def model_of(found):
    return found.words.astype(float) @ found.documents.T.astype(float)


@settings(deadline=None, max_examples=100)
@given(cases(), st.sampled_from(sorted(STEPS)), st.integers(1, 6))
def test_steps_are_those_of_the_equations(case, blocks, iterations):
    matrix, words, documents = case
    found = poisson_nmf(
        csr_array(matrix),
        words.shape[1],
        start=(words, documents),
        blocks=blocks,
        iterations=iterations,
        tolerance=0,
        long_steps=False,
    )
    words, documents = normalised(matrix, words, documents)
    objectives = []
    for _ in range(iterations):
        objectives.append(oracles.objective(matrix, words @ documents.T))
        words, documents = STEPS[blocks](matrix, words, documents)
    close = {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(found.words, words, **close)
    np.testing.assert_allclose(found.documents, documents, **close)
    np.testing.assert_allclose(found.objectives, objectives, rtol=1e-5, atol=1e-4 * matrix.sum())


@settings(deadline=None, max_examples=60)
@given(cases())
def test_long_steps_go_farther_than_those_of_the_equations(case):
    """The first of two iterations: the last is EM's own."""
    matrix, words, documents = case
    found = poisson_nmf(matrix, words.shape[1], start=(words, documents), iterations=1, tolerance=0)
    words, documents = normalised(matrix, words, documents)
    first = oracles.objective(matrix, words @ documents.T)
    assert found.objectives == [pytest.approx(first, rel=1e-5, abs=1e-4 * matrix.sum())]
    farther = oracles.long_two_block_step(matrix, words, documents)
    if oracles.objective(matrix, farther[0] @ farther[1].T) < first + 1e-4 * matrix.sum():
        return
    words, documents = oracles.two_block_step(matrix, *farther)
    np.testing.assert_allclose(found.words, words, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.documents, documents, rtol=1e-3, atol=1e-3)


class Scripted(Climb):
    """Parameters are numbers, of which EM adds 1 and a long step 10; the likelihood is scripted."""

    def __init__(self, likelihoods):
        counts = Counts.of(csr_array(np.ones((1, 1))), 1.0)
        super().__init__(counts, (np.array([0]),), long=True)
        self.likelihoods = likelihoods

    def expect(self, tick):
        return self.likelihoods[int(self.parameters[0][0])]

    def maximise(self):
        return (self.parameters[0] + (10 if self.long else 1),)


def test_a_long_step_that_leads_downwards_is_taken_back():
    problem = Scripted({0: -5.0, 10: -4.0, 20: -4.5, 11: -3.5, 12: -3.0})
    assert [value + 1 for value in run_em(problem, iterations=4)] == [-5, -4, -3.5, -3]
    assert not problem.long
    assert problem.parameters[0] == [13]


@settings(deadline=None, max_examples=100)
@given(
    oracles.counts(most=12),
    st.sampled_from(sorted(STEPS)),
    st.booleans(),
    st.sampled_from(["columns", "random"]),
    st.integers(1, 5),
    SEEDS,
)
def test_no_step_lowers_the_objective(matrix, blocks, long_steps, start, factors, seed):
    factors = min(factors, *matrix.shape)
    options = {"blocks": blocks, "long_steps": long_steps, "start": start, "seed": seed}
    found = poisson_nmf(matrix, factors, iterations=40, tolerance=0, **options)
    assert len(found.objectives) == 40
    assert np.diff([*found.objectives, found.objective]).min() >= -2e-6 * matrix.sum()


@settings(deadline=None, max_examples=60)
@given(oracles.counts(), st.integers(1, 4), st.sampled_from([1e-30, 1e-3, 1.0, 1e30]))
def test_factors_say_what_they_say(matrix, factors, scale):
    matrix = matrix * scale
    factors = min(factors, *matrix.shape)
    found = poisson_nmf(csr_array(matrix), factors, iterations=20)
    assert len(found) == factors
    assert found.words.shape == (len(matrix), factors)
    assert found.documents.shape == (matrix.shape[1], factors)
    assert (found.words >= 0).all() and (found.documents >= 0).all()
    np.testing.assert_allclose(found.words.sum(axis=0)[found.weights > 0], 1, atol=1e-5)
    np.testing.assert_allclose(found.documents.sum(axis=1), matrix.sum(axis=0), rtol=1e-3, atol=1e-5 * matrix.sum())
    np.testing.assert_allclose(found.weights.sum(), matrix.sum(), rtol=1e-5)
    assert not found.words[matrix.sum(axis=1) == 0].any()
    assert not found.documents[matrix.sum(axis=0) == 0].any()
    model = model_of(found)
    tolerance = {"rel": 1e-4, "abs": 1e-4 * matrix.sum()}
    assert found.objective == pytest.approx(oracles.objective(matrix, model), **tolerance)
    assert found.divergence == pytest.approx(oracles.divergence(matrix, model), **tolerance)


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(1, 12))
def test_it_is_plsa(case, iterations):
    """Both maximise the same likelihood: dense PLSA without noise and joint steps take the same path to it."""
    matrix, words, documents = case
    factors = words.shape[1]
    model = oracles_factor.Model(
        np.full(factors, 1 / factors), (words / words.sum(axis=0)).T, (documents / documents.sum(axis=0)).T
    )
    start = model.source.T, model.target.T * model.weights
    found = poisson_nmf(
        matrix, factors, start=start, blocks="joint", iterations=iterations, tolerance=0, long_steps=False
    )
    total = matrix.sum()
    parameters = plsa_kernels.CeptModel(
        *(np.array(part, dtype=np.float32) for part in (model.weights, model.source, model.target))
    )
    cells, room = oracles_factor.cells_of((matrix / total).astype(np.float32), 1.0), oracles_factor.room_for(parameters)
    path = []
    for _ in range(iterations):
        path.append(plsa_kernels.score(cells, factors, parameters, -1.0, room))
        plsa_kernels.train(cells, factors, parameters, -1.0, 1, room)
    # F counts words and PLSA tells shares apart: a constant lies between the two.
    constant = total * (np.log(total) - 1)
    np.testing.assert_allclose(found.objectives, total * np.array(path) + constant, rtol=1e-5, atol=2e-5 * total)
    weights, source, target = parameters
    np.testing.assert_allclose(found.words * found.weights / total, (weights[:, None] * source).T, atol=1e-4)
    np.testing.assert_allclose(found.documents / total, (weights[:, None] * target).T, atol=1e-4)


def test_it_ends_as_high_as_plsa():
    matrix, _ = oracles_factor.blocks(np.random.default_rng(1), 12, 12, 3)
    matrix = np.round(10 * matrix)
    dense = plsa(matrix, 3, noise=None, restarts=5)
    constant = matrix.sum() * (np.log(matrix.sum()) - 1)
    best = max(poisson_nmf(matrix, 3, iterations=300, tolerance=1e-9, seed=seed).objective for seed in range(5))
    assert best == pytest.approx(dense.log_likelihood + constant, rel=1e-4)


def test_two_blocks_and_long_steps_need_fewer_iterations():
    matrix, _ = oracles_factor.blocks(np.random.default_rng(3), 40, 30, 6, noise=0.3)
    ends = [
        poisson_nmf(matrix, 6, blocks=blocks, long_steps=long_steps, iterations=8, tolerance=0).objectives[-1]
        for blocks, long_steps in (("joint", False), ("two", False), ("two", True))
    ]
    assert ends == sorted(ends)


def test_a_random_start_knows_nothing_about_the_matrix():
    """Before the first iteration every entry of W and H is a random number, whatever the matrix is."""
    matrix = np.random.default_rng(0).poisson(1, (9, 8)) + np.eye(9, 8)
    other = np.random.default_rng(1).poisson(1, (9, 8)) + np.eye(9, 8)
    words, documents = np.split(random_start(17, 3, 5), [9])
    assert (words > 0).all() and (documents > 0).all()
    assert len(np.unique(words)) == words.size
    for each in (matrix, other):
        given = poisson_nmf(each, 3, start=(words, documents), iterations=2, tolerance=0)
        found = poisson_nmf(each, 3, start="random", seed=5, iterations=2, tolerance=0)
        assert found.words.tobytes() == given.words.tobytes()


def test_threads_and_shards_give_the_same_bytes(monkeypatch):
    matrix = csr_array(np.random.default_rng(0).poisson(0.5, (60, 50)).astype(float))
    monkeypatch.setattr(poisson_module, "SHARD", 512)
    one, three = (poisson_nmf(matrix, 7, iterations=5, threads=threads) for threads in (1, 3))
    assert one.words.tobytes() == three.words.tobytes()
    assert one.documents.tobytes() == three.documents.tobytes()
    assert one.objectives == three.objectives


def test_a_seed_gives_the_same_factors_and_another_one_others():
    matrix = np.random.default_rng(0).poisson(2, (9, 8))
    one, same, other = (poisson_nmf(matrix, 3, iterations=3, seed=seed) for seed in (1, 1, 2))
    assert one.words.tobytes() == same.words.tobytes()
    assert one.words.tobytes() != other.words.tobytes()


def test_forms_of_a_matrix_are_alike_and_stay_as_they_were():
    matrix = np.random.default_rng(0).poisson(0.7, (9, 8)).astype(float)
    twice = np.concatenate([np.argwhere(matrix > 0)] * 2).T
    halves = coo_array((np.tile(matrix[matrix > 0] / 2, 2), tuple(twice)), shape=matrix.shape)
    with_zeros = csr_array(np.ones_like(matrix))
    with_zeros.data[:] = matrix.ravel()
    forms = [matrix, matrix.tolist(), csr_array(matrix), csc_matrix(matrix), halves, with_zeros]
    found = [poisson_nmf(form, 3, iterations=4).words for form in forms]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    assert with_zeros.nnz == matrix.size
    assert halves.nnz == 2 * (matrix > 0).sum()


def test_columns_that_are_alike_part():
    """Seeds that are the same column would otherwise stay the same factor."""
    matrix = np.zeros((4, 20))
    matrix[:2, :10] = matrix[2:, 10:] = 5
    for seed in range(10):
        assert poisson_nmf(matrix, 2, iterations=200, tolerance=0, seed=seed).divergence < 1


def test_it_stops_when_little_is_gained():
    matrix = np.random.default_rng(0).poisson(2, (20, 10))
    assert len(poisson_nmf(matrix, 2, iterations=500, tolerance=1e-4).objectives) < 100


def test_progress_is_told():
    steps = []
    found = poisson_nmf(np.eye(3) + 1, 2, iterations=3, tolerance=0, progress=steps.append)
    assert [step.objective for step in steps if step.done % 1000 == 0][-1] == found.objectives[-1]


# -- bad input -----------------------------------------------------------------------------------------------------

BAD = {
    "negative": (csr_array([[1.0, 2.0], [0.0, -4.0]]), r"Got -4\.0 at position 2, 2 \(counted from 1\)"),
    "NaN": (csr_array([[1.0, np.nan], [0.0, 1.0]]), "Got nan at position 1, 2"),
    "infinite": (csr_array([[0.0, 1.0], [0.0, 0.0], [np.inf, 0.0]]), "Got inf at position 3, 1"),
    "dense negative": ([[1, -2.0]], r"Got -2\.0 at position 1, 2"),
    "zeros": (csr_array((3, 4)), "nothing but zeros"),
    "stored zeros": (csr_array((np.zeros(2), ([0, 1], [0, 1])), shape=(2, 2)), "nothing but zeros"),
    "empty": (csr_array((3, 0)), "Got 3 x 0 instead"),
}


@pytest.mark.parametrize(("matrix", "message"), BAD.values(), ids=BAD)
def test_a_bad_matrix_is_refused_in_one_line(matrix, message):
    with pytest.raises(DataError, match=message) as raised:
        poisson_nmf(matrix, 1)
    assert "\n" not in str(raised.value)


BAD_OPTIONS = {
    "no factors": ({"factors": 0}, "must lie between 1 and 2, .* Got 0 instead"),
    "too many factors": ({"factors": 3}, "must lie between 1 and 2, .* Got 3 instead"),
    "half a factor": ({"factors": 1.5}, r"Got 1\.5 instead"),
    "a truth value": ({"factors": True}, "Got True instead"),
    "no iterations": ({"iterations": 0}, "`iterations` must be 1 or more. Got 0 instead"),
    "no threads": ({"threads": 0}, "`threads` must be 1 or more. Got 0 instead"),
    "start": ({"start": "anchors"}, "`start` must be one of columns, random. Got 'anchors' instead"),
    "blocks": ({"blocks": "three"}, "`blocks` must be one of two, joint, sequential. Got 'three' instead"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused_in_one_line(options, message):
    with pytest.raises(UsageError, match=message) as raised:
        poisson_nmf(np.ones((2, 5)), **{"factors": 1, **options})
    assert "\n" not in str(raised.value)


def test_a_bad_start_is_refused_in_one_line():
    with pytest.raises(DataError, match=r"`start` must have 5 x 1 numbers, .* Got 4 x 1 instead"):
        poisson_nmf(np.ones((2, 5)), 1, start=(np.ones((2, 1)), np.ones((4, 1))))
    with pytest.raises(DataError, match="`start` must hold finite numbers"):
        poisson_nmf(np.ones((2, 5)), 1, start=(np.full((2, 1), np.nan), np.ones((5, 1))))
