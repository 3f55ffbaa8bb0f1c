"""PLSA is EM as the paper writes it, with null and noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.errors import DataError, UsageError
from cepts.factor import plsa
from cepts.kernels import plsa as kernels
from oracles_factor import Model, cells_of, copied, matrices, models, room_for

CLOSE = {"rtol": 2e-4, "atol": 2e-6}
temperatures = st.sampled_from([1.0, 0.9, 0.6])


@st.composite
def cases(draw, *, noisy: bool | None = None, **options):
    matrix = draw(matrices(**options))
    return matrix, draw(models(matrix.shape, noisy=draw(st.booleans()) if noisy is None else noisy))


def trained(matrix, model: Model, iterations: int, *, inverse_temperature: float = 1.0, least: float | None = None):
    """The model after so many steps of the kernels; a model without noise has none to the kernels either."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    found = kernels.CeptModel(
        *(np.array(part, dtype=np.float32) for part in (model.weights, model.source, model.target))
    )
    cells = cells_of(matrix, 0.0)
    rows, columns = (np.zeros(count, np.float32) for count in matrix.shape)
    cells = cells._replace(total=kernels.margins(matrix, rows, columns, cells.least))
    if least is not None:
        cells.least[:] = least
    given = model.noise if model.noise > 0 else -1.0, iterations
    if inverse_temperature == 1.0:
        noise = kernels.train(cells, len(found.weights), found, *given, room_for(found))
    else:
        rest = copied(found), *given, inverse_temperature, room_for(found)
        noise = kernels.train_tempered(cells, len(found.weights), found, *rest)
    return Model(*(part.astype(float) for part in found), max(noise, 0.0))


def assert_alike(got: Model, want: Model, **close):
    close = close or CLOSE
    np.testing.assert_allclose(got.weights, want.weights, **close)
    np.testing.assert_allclose(got.weights[:, None] * got.source, want.weights[:, None] * want.source, **close)
    np.testing.assert_allclose(got.weights[:, None] * got.target, want.weights[:, None] * want.target, **close)
    assert got.noise == pytest.approx(want.noise, rel=close["rtol"], abs=close["atol"])


# -- steps ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(cases(), temperatures)
def test_a_step_is_that_of_the_equations(case, inverse_temperature):
    matrix, model = case
    want = oracles.em_step(matrix.astype(float), model, inverse_temperature)
    assert_alike(trained(matrix, model, 1, inverse_temperature=inverse_temperature), want)


@settings(deadline=None, max_examples=50)
@given(cases(decades=1.0), temperatures)
def test_many_steps_are_those_of_the_equations(case, inverse_temperature):
    matrix, model = case
    want = model
    for _ in range(8):
        want = oracles.em_step(matrix.astype(float), want, inverse_temperature)
    got = trained(matrix, model, 8, inverse_temperature=inverse_temperature)
    assert_alike(got, want, rtol=1e-3, atol=1e-5)


@settings(deadline=None, max_examples=80)
@given(cases(), st.integers(1, 30), temperatures)
def test_probabilities_stay_probabilities(case, iterations, inverse_temperature):
    matrix, model = case
    got = trained(matrix, model, iterations, inverse_temperature=inverse_temperature)
    assert got.weights.sum() + got.noise == pytest.approx(1, abs=1e-5)
    for factor in (got.source, got.target):
        assert (factor >= 0).all()
        np.testing.assert_allclose(factor.sum(axis=1)[got.weights > 1e-6], 1, atol=1e-4)


@settings(deadline=None, max_examples=60)
@given(cases())
def test_the_score_is_the_likelihood(case):
    matrix, model = case
    found = kernels.CeptModel(
        *(np.array(part, dtype=np.float32) for part in (model.weights, model.source, model.target))
    )
    noise = model.noise if model.noise > 0 else -1.0
    got = kernels.score(cells_of(matrix, 1.0), len(found.weights), found, noise, room_for(found))
    assert got == pytest.approx(oracles.log_likelihood(matrix.astype(float), model), rel=1e-5, abs=1e-5)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([3.0, 9.0]).flatmap(lambda decades: cases(decades=decades)), st.integers(1, 40))
def test_what_is_negligible_is_not_missed(case, iterations):
    """Cepts that have a ten-millionth of a word are not looked at there: nobody may see that."""
    matrix, model = case
    got, want = trained(matrix, model, iterations), trained(matrix, model, iterations, least=0.0)
    np.testing.assert_allclose(got.joint(), want.joint(), rtol=1e-3, atol=1e-3)
    scores = [(matrix * np.log(np.maximum(one.joint(), 1e-30))).sum() for one in (got, want)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-4, abs=1e-4 * float(matrix.sum()))


# -- plsa ----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(matrices(), st.sampled_from([None, 0.01, 0.3]), st.integers(1, 4), st.integers(0, 9))
def test_no_step_lowers_the_likelihood(matrix, noise, cepts, seed):
    found = plsa(matrix, min(cepts, *matrix.shape), noise=noise, restarts=2, iterations=30, tolerance=0.0, seed=seed)
    assert len(found.objectives) == 30
    rounding = 2e-6 * max(abs(found.objectives[0]), float(matrix.sum()))
    assert np.diff([*found.objectives, found.log_likelihood]).min() >= -rounding


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from([None, 0.01]), st.integers(1, 3), st.sampled_from([1e-36, 1e-12, 1.0, 1e12, 1e36]))
def test_factors_say_what_they_say(matrix, noise, cepts, scale):
    cepts = min(cepts, *matrix.shape)
    scaled = (matrix * scale).astype(np.float32)
    scaled[np.unravel_index(matrix.argmax(), matrix.shape)] = scale
    found = plsa(scaled, cepts, noise=noise, restarts=1, iterations=40)
    assert len(found) == cepts == len(found.source) == len(found.target)
    assert found.weights.sum() + found.noise == pytest.approx(1, abs=1e-5)
    assert found.product.sum() == pytest.approx(1 - found.noise, abs=1e-4)
    model = Model(*(np.asarray(part, dtype=float) for part in (found.weights, found.source, found.target)), found.noise)
    np.testing.assert_allclose(found.product, model.joint() - found.noise / matrix.size, atol=1e-6)
    joint = np.maximum(model.joint(), 1e-30)
    want = (scaled.astype(float) * np.log(joint)).sum()
    assert found.log_likelihood == pytest.approx(want, rel=1e-4, abs=1e-5 * float(scaled.sum(dtype=float)))


def test_the_best_of_several_starts_is_taken():
    random = np.random.default_rng(2)
    matrix, _ = oracles.blocks(random, 8, 8, 6, noise=3.0)
    found = [plsa(matrix, 6, restarts=restarts, iterations=60, seed=3).log_likelihood for restarts in (1, 2, 4, 8, 16)]
    assert found == sorted(found)
    assert found[-1] > found[0]


def test_a_seed_gives_the_same_factors_and_another_one_others():
    matrix = np.random.default_rng(0).uniform(0, 1, (5, 6))
    one, same, other = (plsa(matrix, 3, restarts=1, iterations=5, seed=seed) for seed in (1, 1, 2))
    assert one.source.tobytes() == same.source.tobytes()
    assert one.source.tobytes() != other.source.tobytes()


def test_iterations_end_when_nothing_is_gained():
    steps = []
    found = plsa([[9, 0, 0], [0, 5, 5]], 2, restarts=1, iterations=200, tolerance=1e-6, progress=steps.append)
    assert 2 < len(found.objectives) < 100
    assert [step.objective for step in steps if step.objective is not None][-1] == found.objectives[-1]
    assert {step.stage for step in steps} == {"PLSA with 2 cepts"}


def test_cepts_are_ordered_by_their_first_word_of_weight():
    found = plsa(np.diag([5.0, 9.0, 7.0])[:, [2, 0, 1]], 3, restarts=5)
    assert found.source.argmax(axis=1).tolist() == [0, 1, 2]
    assert found.target.argmax(axis=1).tolist() == [1, 2, 0]


# -- null ----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(cases(decades=1.0), st.integers(0, 2**32 - 1))
def test_null_cepts_take_their_null_word_and_leave_the_others_alone(case, seed):
    """EM of section 4.2, with null words and null cepts, gives our cepts, and keeps its conditions at every step."""
    matrix, model = case
    random = np.random.default_rng(seed)
    size, length = matrix.shape
    nulls = random.uniform(0, 2, size), random.uniform(0, 2, length)
    full_matrix = oracles.with_null(matrix.astype(float), *nulls)
    full = oracles.model_with_null(model, random)
    cepts = len(model.weights)
    share = matrix.sum(dtype=float) / full_matrix.sum()
    want = model
    for step in range(1, 9):
        full, want = oracles.em_step(full_matrix, full), oracles.em_step(matrix.astype(float), want)
        assert (full.source[cepts, 1:] == 0).all()
        assert full.source[cepts, 0] == pytest.approx(1)
        assert (full.target[cepts + 1, 1:] == 0).all()
        assert full.target[cepts + 1, 0] == pytest.approx(1)
        assert (full.source[:cepts, 0] == 0).all()
        assert (full.target[:cepts, 0] == 0).all()
        assert_alike(
            Model(full.weights[:cepts] / share, full.source[:cepts, 1:], full.target[:cepts, 1:], full.noise / share),
            want,
            rtol=1e-9,
            atol=1e-12,
        )
        assert_alike(trained(matrix, model, step), want, rtol=1e-3, atol=1e-5)
        # From the first step on, the null cepts have all of the null masses.
        np.testing.assert_allclose(full.weights[cepts + 1] * full.source[cepts + 1, 1:] * full_matrix.sum(), nulls[0])
        np.testing.assert_allclose(full.weights[cepts] * full.target[cepts, 1:] * full_matrix.sum(), nulls[1])


@settings(deadline=None, max_examples=40)
@given(matrices(decades=1.0), st.integers(0, 2**32 - 1))
def test_null_shares_are_those_of_the_masses(matrix, seed):
    random = np.random.default_rng(seed)
    nulls = [random.uniform(0, 2, words) * (random.random(words) < 0.7) for words in matrix.shape]
    options = {"restarts": 1, "iterations": 20, "noise": None}
    found = plsa(matrix, 1, source_null=nulls[0], target_null=nulls[1], **options)
    alone = plsa(matrix, 1, **options)
    assert found.source.tobytes() == alone.source.tobytes()
    assert found.log_likelihood == alone.log_likelihood
    total = matrix.sum(dtype=float)
    for axis, (posterior, null) in enumerate(zip((found.source_posterior, found.target_posterior), nulls, strict=True)):
        masses = matrix.sum(axis=1 - axis, dtype=float)
        known = masses + null > 0
        # One cept without noise explains the margins exactly.
        want = np.stack([null, masses], axis=1)[known] / (masses + null)[known, None]
        np.testing.assert_allclose(posterior[known], want, atol=1e-4)
        assert (posterior[~known] == 0).all()
    np.testing.assert_allclose(found.source_null, nulls[0] / total, rtol=1e-6)
    np.testing.assert_allclose(found.target_null, nulls[1] / total, rtol=1e-6)
    assert not alone.source_null.any()


# -- noise ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "seed"), [(0.02, 0), (0.1, 1), (0.3, 0)])
def test_the_level_of_noise_is_found(level, seed):
    """Blocks that do not meet, and noise alike in every cell: that is the model of section 4.3.

    Cepts can explain most of the noise nearly as well as noise can (here within 0.0001 of the log-likelihood a count),
    so EM goes down to the level quickly and up to it hardly at all: it has to start above it.
    """
    matrix, _ = oracles.blocks(np.random.default_rng(seed), 9, 8, 4)
    matrix = (1 - level) * matrix / matrix.sum() + level / matrix.size
    above = plsa(1000 * matrix, 4, noise=0.6, restarts=8, iterations=2500, tolerance=0.0)
    assert above.noise == pytest.approx(level, rel=0.1)
    np.testing.assert_allclose(above.product + above.noise / matrix.size, matrix, atol=5e-4)
    below = plsa(1000 * matrix, 4, noise=0.001, restarts=8, iterations=100, tolerance=0.0)
    assert below.noise < level
    assert 0 < above.log_likelihood - below.log_likelihood < 0.1


def test_without_noise_there_is_none():
    matrix = np.random.default_rng(0).uniform(0, 1, (5, 6))
    assert plsa(matrix, 2, noise=None).noise == 0.0
    assert plsa(matrix, 2, noise=0.3).noise > 0.0


# -- bad input -----------------------------------------------------------------------------------------------------

BAD_MATRICES = {
    "negative": ([[1, 2], [3, -4]], r"`matrix` must hold finite numbers of 0 or more\. Got -4\.0 at position 2, 2"),
    "NaN": ([[1, np.nan]], r"0 or more\. Got nan at position 1, 2"),
    "infinite": ([[1], [np.inf]], r"finite numbers of 0 or more\. Got inf at position 2, 1"),
    "too large": ([[1e39]], r"finite numbers of 0 or more\. Got 1e\+39 at position 1, 1"),
    "zeros": ([[0, 0], [0, 0]], "nothing but zeros"),
    "next to nothing": ([[1e-60]], "nothing but zeros"),
    "no rows": (np.empty((0, 3)), "Got 0 x 3 instead"),
    "no columns": ([[], []], "Got 2 x 0 instead"),
    "ragged": ([[1, 2], [3]], "must be a matrix of numbers"),
    "flat": ([1, 2, 3], r"two dimensions.*Got 1 instead"),
    "deep": ([[[1]]], r"two dimensions.*Got 3 instead"),
    "words": ([["a", "b"]], "must be a matrix of numbers"),
    "nothing": ([], r"two dimensions.*Got 1 instead"),
}


@pytest.mark.parametrize(("matrix", "message"), BAD_MATRICES.values(), ids=BAD_MATRICES)
def test_a_bad_matrix_is_refused_in_one_line(matrix, message):
    with pytest.raises(DataError, match=message) as raised:
        plsa(matrix, 1)
    assert "\n" not in str(raised.value)


BAD_OPTIONS = {
    "no cepts": ({"cepts": 0}, r"between 1 and 2, .*Got 0 instead"),
    "fewer cepts": ({"cepts": -1}, r"between 1 and 2, .*Got -1 instead"),
    "too many cepts": ({"cepts": 3}, r"between 1 and 2, the length of the shorter side\. Got 3 instead"),
    "half a cept": ({"cepts": 1.5}, r"Got 1\.5 instead"),
    "a word": ({"cepts": "two"}, "Got 'two' instead"),
    "no noise": ({"noise": 0.0}, r"`noise` must lie between 0 and 1\. Got 0\.0"),
    "nothing but noise": ({"noise": 1.0}, r"`noise` must lie between 0 and 1\. Got 1\.0"),
    "negative noise": ({"noise": -0.1}, "`noise` must lie between 0 and 1"),
    "no number": ({"noise": np.nan}, "`noise` must lie between 0 and 1"),
    "no starts": ({"restarts": 0}, r"1 or more\. Got 0 and 200"),
    "no steps": ({"iterations": 0}, r"1 or more\. Got 10 and 0"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused_in_one_line(options, message):
    with pytest.raises(UsageError, match=message) as raised:
        plsa([[1, 2, 3], [4, 5, 6]], **{"cepts": 2, **options})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("null", [[1, 2, 3], [1], 1, [[1, 2]], [1, -1], [np.nan, 1], ["a", "b"], [[1, 2], [3]]])
def test_bad_null_masses_are_refused_in_one_line(null):
    for side, matrix in (("source_null", [[1, 2, 3], [4, 5, 6]]), ("target_null", [[1, 4], [2, 5], [3, 6]])):
        with pytest.raises(DataError, match=f"`{side}` must ") as raised:
            plsa(matrix, 2, **{side: null})
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("matrix", [[[3, 0, 5]], [[3], [0], [5]], [[2]]])
def test_one_row_and_one_column_work(matrix):
    found = plsa(matrix, 1, noise=None)
    np.testing.assert_allclose(found.product, np.array(matrix) / np.sum(matrix), atol=1e-6)
