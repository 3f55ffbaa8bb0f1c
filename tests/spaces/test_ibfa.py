"""The closed form of section 2.2: that it is what it says, and that it is the maximum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

import oracles_spaces_models as oracles
from cepts.errors import UsageError
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.ibfa import canonical, check_factors, fit_ibfa, inverse_root, shrunk
from cepts.spaces.moments import gather_moments


def pairs(seed, widths, count, factors=2):
    """Moments of `count` pairs that a random model draws, and the pairs."""
    model = oracles.random_model(np.random.default_rng(seed), widths, factors)
    views = [vectors.astype(np.float32) for vectors in model.sample(count, seed)]
    (moments,) = gather_moments(views, np.stack([np.arange(count)] * 2, axis=1))
    return moments, views


problems = st.tuples(
    st.integers(0, 2**32 - 1), st.tuples(st.integers(1, 5), st.integers(1, 5)), st.integers(12, 60), st.integers(1, 3)
)


def mean_likelihood(model, views):
    return float(model.log_density({0: views[0], 1: views[1]}).mean())


@settings(max_examples=40, deadline=None)
@given(problems, st.sampled_from([0.0, 0.1, 2.0]))
def test_all_factors_give_back_the_covariances(problem, shrinkage):
    seed, widths, count, factors = problem
    moments, _ = pairs(seed, widths, count, factors)
    found = canonical(moments, widths, shrinkage=shrinkage)
    model = fit_ibfa(found)
    x, y = moments.spans(widths)
    assert model.factors == min(widths)
    np.testing.assert_allclose(model.loadings[0] @ model.loadings[1].T, moments.covariance[x, y], rtol=1e-6, atol=1e-7)
    for view, span in enumerate((x, y)):
        wanted = shrunk(moments.covariance[span, span], shrinkage)
        np.testing.assert_allclose(model.covariances[view], wanted, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(model.means[view], moments.mean[span])
        assert np.linalg.eigvalsh(model.noises[view]).min() > -1e-9


@settings(max_examples=40, deadline=None)
@given(problems, st.sampled_from([0.0, 0.3]))
def test_latent_means_reduce_to_scaled_canonical_variates(problem, shrinkage):
    """E[z | x] = P^1/2 U_x' (x - mu_x), whose covariance is P in both views."""
    seed, widths, count, factors = problem
    moments, views = pairs(seed, widths, count, factors)
    found = canonical(moments, widths, factors=min(factors, *widths), shrinkage=shrinkage)
    model = fit_ibfa(found)
    for view in range(2):
        reduced = (views[view] - found.means[view]) @ found.directions[view] * np.sqrt(found.correlations)
        np.testing.assert_allclose(model.latent_mean(views[view], view), reduced, rtol=1e-5, atol=1e-6)
        unit = found.directions[view].T @ found.covariances[view] @ found.directions[view]
        np.testing.assert_allclose(unit, np.eye(len(unit)), atol=1e-8)
    np.testing.assert_allclose(model.agreement, np.diag(found.correlations), atol=1e-7)
    assert (np.diff(found.correlations) <= 0).all()


def test_correlations_are_those_of_the_variates():
    moments, views = pairs(4, (4, 3), 50)
    found = canonical(moments, (4, 3))
    variates = [view @ directions for view, directions in zip(views, found.directions, strict=True)]
    for place, wanted in enumerate(found.correlations):
        assert np.corrcoef(variates[0][:, place], variates[1][:, place])[0, 1] == pytest.approx(wanted, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(problems, st.integers(1, 2), st.floats(-4, 0))
def test_no_change_of_the_parameters_is_likelier(problem, factors, size):
    seed, widths, count, _ = problem
    factors = min(factors, *widths)
    moments, views = pairs(seed, widths, count)
    found = canonical(moments, widths, factors=factors)
    assume(found.correlations[0] < 0.999)
    model = fit_ibfa(found)
    reached = mean_likelihood(model, views)
    random = np.random.default_rng(seed)
    for _ in range(5):
        step = 10.0**size
        noises = []
        for noise in model.noises:
            turn = np.eye(len(noise)) + step * random.standard_normal(noise.shape)
            noises.append(turn @ noise @ turn.T)
        other = FactorModel(
            tuple(w + step * random.standard_normal(w.shape) for w in model.loadings),
            tuple(noises),
            tuple(mu + step * random.standard_normal(mu.shape) for mu in model.means),
        )
        assert mean_likelihood(other, views) <= reached + 1e-9


@pytest.mark.parametrize(("widths", "factors"), [((2, 2), 1), ((3, 2), 1), ((2, 3), 2)])
def test_the_maximum_that_a_search_finds_is_no_higher(widths, factors):
    """By gradient ascent over loadings and the Cholesky roots of the noises, from several starts."""
    moments, views = pairs(sum(widths) + factors, widths, 30)
    sizes = [width * factors for width in widths] + [width * (width + 1) // 2 for width in widths]
    means = moments.mean[: widths[0]], moments.mean[widths[0] :]

    def model_of(parameters):
        parts = np.split(parameters, np.cumsum(sizes)[:-1])
        noises = []
        for width, part in zip(widths, parts[2:], strict=True):
            root = np.zeros((width, width))
            root[np.tril_indices(width)] = part
            noises.append(root @ root.T + 1e-9 * np.eye(width))
        loadings = (parts[0].reshape(widths[0], factors), parts[1].reshape(widths[1], factors))
        return FactorModel(loadings, tuple(noises), means)

    random = np.random.default_rng(0)
    highest = max(
        -minimize(lambda p: -mean_likelihood(model_of(p), views), random.standard_normal(sum(sizes))).fun
        for _ in range(3)
    )
    reached = mean_likelihood(fit_ibfa(canonical(moments, widths, factors=factors)), views)
    assert reached == pytest.approx(highest, abs=1e-5)
    assert reached >= highest - 1e-7


few = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(2, 5)).flatmap(
    lambda sizes: st.tuples(
        *(hnp.arrays(np.float32, (sizes[2], width), elements=st.integers(-2, 2).map(float)) for width in sizes[:2])
    )
)


@settings(max_examples=80, deadline=None)
@given(few, st.sampled_from([0.0, 0.2]))
def test_fewer_entries_than_dimensions_and_constant_dimensions_give_finite_maps(views, shrinkage):
    """Whole numbers make ranks of every kind; rounding must not decide which directions there are."""
    count, widths = len(views[0]), (views[0].shape[1], views[1].shape[1])
    (moments,) = gather_moments(views, np.stack([np.arange(count)] * 2, axis=1))
    assume(all(np.ptp(view, axis=0).any() for view in views))
    found = canonical(moments, widths, shrinkage=shrinkage)
    model = fit_ibfa(found)
    ranks = [np.linalg.matrix_rank(view - view.mean(axis=0), tol=1e-4) for view in views]
    assert len(found.correlations) == min(ranks if shrinkage == 0 else widths)
    for view in range(2):
        wanted = found.directions[view] * np.sqrt(found.correlations)
        np.testing.assert_allclose(model.latent_maps[view], wanted, rtol=1e-3, atol=1e-4)
    assert np.isfinite(model.log_density(dict(enumerate(views)))).all()
    assert all(np.isfinite(part).all() for part in (*model.conditional(0, 1), *model.conditional(1, 0)))


def test_a_constant_dimension_takes_no_part():
    moments, views = pairs(1, (3, 3), 40)
    wide = [np.insert(views[0], 1, 7.0, axis=1), views[1]]
    (more,) = gather_moments(wide, np.stack([np.arange(40)] * 2, axis=1))
    without, found = canonical(moments, (3, 3)), canonical(more, (4, 3))
    np.testing.assert_allclose(found.correlations, without.correlations, rtol=1e-9)
    np.testing.assert_allclose(found.directions[0][1], 0.0, atol=1e-9)


def test_shrinkage_lowers_every_correlation():
    moments, _ = pairs(2, (4, 4), 40)
    steps = [canonical(moments, (4, 4), shrinkage=shrinkage).correlations for shrinkage in (0.0, 0.1, 1.0)]
    assert (steps[0] > steps[1]).all()
    assert (steps[1] > steps[2]).all()


@pytest.mark.parametrize("factors", [0, -1, 4])
def test_the_number_of_factors_is_checked(factors):
    with pytest.raises(UsageError, match=f"`factors` must be 1 to 3, .* Got {factors} instead") as error:
        check_factors(factors, (5, 3))
    assert "\n" not in str(error.value)


def test_inverse_root_of_a_singular_matrix_is_that_of_its_pseudo_inverse():
    points = np.random.default_rng(0).standard_normal((2, 5))
    covariance = points.T @ points
    root = inverse_root(covariance)
    assert root.shape == (5, 2)
    np.testing.assert_allclose(root @ root.T, np.linalg.pinv(covariance, rcond=1e-10), atol=1e-9)
