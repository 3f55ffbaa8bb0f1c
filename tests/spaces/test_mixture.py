"""The mixture of factor analysers, and the senses of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import oracles_spaces_models as oracles
from cepts.data import Dictionary, Vectors
from cepts.errors import DataError, UsageError
from cepts.spaces import IBFA, MBFA, GaussianMixture, Procrustes, find_senses, fit_mixture
from cepts.spaces.space import Preparation, Space
from toy_spaces import toy_dictionary, toy_views

FIELDS = 4
WORDS = 160  # with one sense; word n is of field n % FIELDS
DOUBLE = ((3, 20), (41, 86), (10, 47))  # the senses of further English words


def views_with_fields(seed=0, width=24):
    """Meanings around a few centres, turned and with noise; the last English words are sums of two meanings."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((FIELDS, width)) * 1.5
    meanings = centres[np.arange(WORDS) % FIELDS] + random.standard_normal((WORDS, width))
    both = np.array([1.2 * meanings[a] + meanings[b] for a, b in DOUBLE])
    views = []
    for name, extra in (("en", both), ("fr", np.empty((0, width)))):
        turn = np.linalg.qr(random.standard_normal((width, width)))[0]
        matrix = np.concatenate([meanings, extra]) @ turn
        matrix += 0.1 * random.standard_normal(matrix.shape)
        names = [f"{name}{n}" for n in range(WORDS)] + [f"double{n}" for n in range(len(extra))]
        views.append(Vectors.from_words(names, matrix.astype(np.float32), name))
    return views


@pytest.fixture(scope="module")
def fields():
    """Views, a space and the mixture that was fitted to it."""
    views = views_with_fields()
    dictionary = Dictionary(("en", "fr"), tuple((f"en{n}", f"fr{n}") for n in range(WORDS)))
    model = IBFA(prepare=("centre",), exponent=0.5, shrinkage=0.01).fit(views, dictionary)
    space, report = model.space_, model.report_
    rows = report.entries.rows
    return views, space, rows, fit_mixture(space, views, rows, components=FIELDS, prior=1.0)


def random_mixture(random, widths, factors, components):
    """A mixture around a random factor model."""
    model = oracles.random_model(random, widths, factors)
    preparations = [Preparation.learn(np.zeros((1, width)), ())[0] for width in widths]
    space = Space(
        method="mbfa",
        languages=tuple("abc"[: len(widths)]),
        preparations=tuple(preparations),
        centres=tuple(mean.astype(np.float32) for mean in model.means),
        maps=tuple(matrix.astype(np.float32) for matrix in model.latent_maps),
        model=model,
    )
    root = random.standard_normal((factors, factors))
    shares = random.dirichlet(np.ones(components))
    means = random.standard_normal((components, factors))
    return GaussianMixture(space, shares, means, root @ root.T / factors + 0.1 * np.eye(factors))


def plain_log_joint(mixture, vectors, views):
    """Log of pi_c p(vectors | c), from the densities of the vectors themselves."""
    model = mixture.space.model
    # The latent dimensions of a mixture are turned to those on which the views agree.
    turn = np.linalg.eigh(model.agreement)[1][:, ::-1]
    loading = np.concatenate([model.loadings[view] for view in views]) @ turn
    noise = model.joint_covariance(views) - loading @ loading.T
    covariance = loading @ mixture.spread @ loading.T + noise
    return np.stack(
        [
            np.log(share)
            + multivariate_normal(
                np.concatenate([model.means[view] for view in views]) + loading @ mean, covariance
            ).logpdf(np.concatenate(vectors, axis=1))
            for share, mean in zip(mixture.shares, mixture.means, strict=True)
        ],
        axis=1,
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(3, 5), st.integers(1, 2), st.integers(1, 4))
def test_senses_and_densities_equal_those_of_the_vectors(seed, left, right, factors, components):
    random = np.random.default_rng(seed)
    mixture = random_mixture(random, (left, right), factors, components)
    vectors = [random.standard_normal((6, width)).astype(np.float32) for width in (left, right)]
    joint = plain_log_joint(mixture, vectors[:1], [0])
    wanted = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    np.testing.assert_allclose(mixture.senses(vectors[0], "a"), wanted, rtol=1e-3, atol=1e-4)
    # What the vectors have beside what they tell of z is the same for every mixture of a space.
    other = GaussianMixture(mixture.space, np.ones(1), np.zeros((1, factors)), np.eye(factors))
    gain = mixture.log_density(vectors) - other.log_density(vectors)
    plain = [np.logaddexp.reduce(plain_log_joint(one, vectors, [0, 1]), axis=1) for one in (mixture, other)]
    np.testing.assert_allclose(gain, plain[0] - plain[1], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("components", [1, 3, 8])
@pytest.mark.parametrize("prior", [0.5, 20.0])
def test_em_never_lowers_the_objective(fields, components, prior):
    views, space, rows, _ = fields
    found = fit_mixture(space, views, rows, components=components, prior=prior, iterations=25, tolerance=0.0)
    assert len(found.objectives) == 25
    assert np.diff(found.objectives).min() >= -1e-9


def test_em_never_lowers_the_objective_where_views_are_missing():
    views = toy_views(widths=(10, 8, 9))
    dictionaries = [toy_dictionary(("en", "fr"), range(70)), toy_dictionary(("fr", "ru"), range(40, 110))]
    model = MBFA(exponent=0.5, shrinkage=0.1, iterations=30).fit(views, dictionaries)
    space, report = model.space_, model.report_
    found = fit_mixture(space, views, report.entries.rows, components=4, iterations=25, tolerance=0.0)
    assert np.diff(found.objectives).min() >= -1e-9


def test_fields_are_found(fields):
    views, _, _, mixture = fields
    for language, view in enumerate(views):
        field = mixture.senses(view.matrix[:WORDS], language).argmax(axis=1).reshape(-1, FIELDS)
        assert (field == field[0]).mean() > 0.95
        assert len(set(field[0])) == FIELDS


def test_the_number_of_fields_is_chosen_on_held_out_entries(fields):
    views, space, rows, mixture = fields
    assert len(fit_mixture(space, views, rows, components=(1, 2, FIELDS))) == FIELDS
    assert len(fit_mixture(space, views, rows[:30], components=(8, 16))) == 1
    # 160 words are enough for 16 fields at most, of which there is nothing to choose.
    assert len(fit_mixture(space, views, rows, components=None, iterations=2)) == 16
    single = fit_mixture(space, views, rows, components=1)
    vectors = [view.matrix[rows[:, number]] for number, view in enumerate(views)]
    assert mixture.log_density(vectors).mean() > single.log_density(vectors).mean() + 0.5


def test_the_same_seed_gives_the_same_fields(fields):
    views, space, rows, _ = fields
    one, other, third = (fit_mixture(space, views, rows, components=6, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.means, other.means)
    assert not np.array_equal(one.means, third.means)


def test_both_senses_of_a_word_are_found(fields):
    views, _, _, mixture = fields
    rows = [WORDS + n for n in range(len(DOUBLE))]
    for found, (first, second) in zip(find_senses(mixture, views, rows), DOUBLE, strict=True):
        assert {sense.translations[0] for sense in found[:2]} == {f"fr{first}", f"fr{second}"}
        for sense in found[:2]:
            assert sense.translations[0].replace("fr", "en") in sense.neighbours
        assert found[0].weight >= found[1].weight
        assert sum(sense.weight for sense in found) == pytest.approx(1)


def test_a_word_of_one_sense_has_one(fields):
    views, _, _, mixture = fields
    for row, found in enumerate(find_senses(mixture, views, range(20))):
        assert len(found) == 1
        assert found[0].translations[0] == f"fr{row}"
        assert found[0].weight == 1
        assert f"en{row}" not in found[0].neighbours


def test_senses_can_be_asked_from_the_other_side_and_limited(fields):
    views, _, _, mixture = fields
    ((only,),) = find_senses(mixture, views[::-1], [5], languages=("fr", "en"), count=1)
    assert only.translations == ("en5",)
    assert len(only.neighbours) == 1
    assert [len(found) for found in find_senses(mixture, views, [WORDS], most=1)] == [1]
    many = find_senses(mixture, views, [WORDS], most=9, least=-5.0)[0]
    assert 2 <= len(many) <= 9
    assert find_senses(mixture, views, []) == []


def test_bad_input_is_refused(fields):
    views, space, rows, mixture = fields
    with pytest.raises(UsageError, match="`components` must be 1 or more"):
        fit_mixture(space, views, rows, components=0)
    with pytest.raises(UsageError, match="`prior` must be above 0"):
        fit_mixture(space, views, rows, prior=0)
    with pytest.raises(DataError, match="3 entries with vectors, fewer than the 8 components"):
        fit_mixture(space, views, rows[:3], components=8)
    with pytest.raises(UsageError, match="`count` must be 1 or more"):
        find_senses(mixture, views, [0], count=0)
    dictionary = Dictionary(("en", "fr"), tuple((f"en{n}", f"fr{n}") for n in range(WORDS)))
    direct = Procrustes().fit(views, dictionary).space_
    with pytest.raises(UsageError, match="procrustes has no factor model; fit"):
        fit_mixture(direct, views, rows)
