"""What a factor model answers, against dense matrices and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import fractional_matrix_power
from scipy.stats import multivariate_normal

import oracles_spaces_models as oracles
from cepts.spaces.gaussian import FactorModel

some = settings(max_examples=30, deadline=None)
models = st.builds(
    lambda seed, widths, factors: oracles.random_model(np.random.default_rng(seed), widths, factors),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 5), min_size=2, max_size=3),
    st.integers(1, 4),
)


def draws(model, count=7, seed=0):
    random = np.random.default_rng(seed)
    return {view: 2 * random.standard_normal((count, width)) for view, width in enumerate(model.widths)}


@some
@given(models)
def test_log_density_is_the_normal_one_of_the_vectors_one_after_the_other(model):
    vectors = draws(model)
    for views in ([0], [0, 1], [1, 0], list(range(len(model)))):
        mean, _, _, covariance = oracles.stacked(model, views)
        wanted = multivariate_normal(mean, covariance).logpdf(np.hstack([vectors[view] for view in views]))
        found = model.log_density({view: vectors[view] for view in views})
        np.testing.assert_allclose(found, wanted, rtol=1e-8)


@some
@given(models)
def test_a_pair_is_as_likely_as_its_source_and_then_its_target(model):
    vectors = draws(model)
    slope, mean, covariance = model.conditional(0, 1)
    expected = mean + (vectors[0] - model.means[0]) @ slope
    given_source = [
        multivariate_normal(centre, covariance).logpdf(target)
        for centre, target in zip(expected, vectors[1], strict=True)
    ]
    joint = model.log_density({0: vectors[0], 1: vectors[1]})
    np.testing.assert_allclose(model.log_density({0: vectors[0]}) + given_source, joint, rtol=1e-8)
    np.testing.assert_allclose(model.translate(vectors[0], 0, 1), expected, rtol=1e-9, atol=1e-9)
    # Appendix C: the expected translation is what the latent mean brings about.
    np.testing.assert_allclose(
        expected, model.latent_mean(vectors[0], 0) @ model.loadings[1].T + model.means[1], rtol=1e-8, atol=1e-8
    )


@some
@given(models)
def test_the_likelihood_is_two_errors_of_reconstruction(model):
    """Eq. (3): ||v||_A^2 is v' A^-1 v, and A = Psi_x Sigma_x^-1 Psi_x makes x's own error its Mahalanobis length."""
    vectors = draws(model)
    latent = model.latent_mean(vectors[0], 0)
    sigma, noise = model.covariances[0], model.noises[0]
    _, _, left = model.conditional(0, 1)
    error_x = vectors[0] - model.means[0] - latent @ model.loadings[0].T
    error_y = vectors[1] - model.means[1] - latent @ model.loadings[1].T
    scale = noise @ np.linalg.inv(sigma) @ noise
    constant = -0.5 * (np.linalg.slogdet(2 * np.pi * left)[1] + np.linalg.slogdet(2 * np.pi * sigma)[1])
    terms = [
        -0.5 * np.einsum("ni,ij,nj->n", error, np.linalg.inv(metric), error)
        for error, metric in ((error_y, left), (error_x, scale))
    ]
    joint = model.log_density({0: vectors[0], 1: vectors[1]})
    np.testing.assert_allclose(constant + terms[0] + terms[1], joint, rtol=1e-7)


@some
@given(models)
def test_latent_means_in_both_forms(model):
    """Eq. (4) has the noise inverted, appendix B the covariance."""
    for view, vectors in draws(model).items():
        scaled = np.linalg.solve(model.noises[view], model.loadings[view])
        precision = np.eye(model.factors) + model.loadings[view].T @ scaled
        wanted = (vectors - model.means[view]) @ scaled @ np.linalg.inv(precision)
        np.testing.assert_allclose(model.latent_mean(vectors, view), wanted, rtol=1e-8, atol=1e-9)
        by_covariance = (vectors - model.means[view]) @ np.linalg.inv(model.covariances[view]) @ model.loadings[view]
        np.testing.assert_allclose(model.latent_mean(vectors, view), by_covariance, rtol=1e-8, atol=1e-9)


@some
@given(models)
def test_latent_covariance_in_both_forms(model):
    for views in ([0], [1], [0, 1], list(range(len(model)))):
        _, loading, noise, covariance = oracles.stacked(model, views)
        by_noise = np.linalg.inv(np.eye(model.factors) + loading.T @ np.linalg.solve(noise, loading))
        np.testing.assert_allclose(model.latent_covariance(views), by_noise, rtol=1e-7, atol=1e-9)
        by_covariance = np.eye(model.factors) - loading.T @ np.linalg.inv(covariance) @ loading
        np.testing.assert_allclose(model.latent_covariance(views), by_covariance, rtol=1e-7, atol=1e-9)


@some
@given(models)
def test_agreement_is_the_mean_covariance_of_latent_means(model):
    wanted = np.mean([a.T @ sigma @ a for a, sigma in zip(model.latent_maps, model.covariances, strict=True)], axis=0)
    np.testing.assert_allclose(model.agreement, wanted, rtol=1e-8, atol=1e-9)
    # What is known of z and what is left of it make up its variance, view by view.
    left = np.mean([model.latent_covariance([view]) for view in range(len(model))], axis=0)
    np.testing.assert_allclose(model.agreement + left, np.eye(model.factors), atol=1e-9)


def power(matrix, exponent):
    """A power of a symmetric matrix with eigenvalues above 0."""
    return fractional_matrix_power((matrix + matrix.T) / 2, exponent).real


# With more factors than a view has dimensions, its latent means have no variance in some directions.
full = st.builds(
    lambda seed, factors: oracles.random_model(np.random.default_rng(seed), (4, 3, 5), factors),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
)


@some
@given(full, st.sampled_from([0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_sharpened_maps_are_powers_of_the_covariances_of_latent_means(model, exponent, balance):
    """E[z | x_i] C_i^(-b/2) C^(exponent - (1 - b)/2), but for a rotation that all views share."""
    maps, values = model.sharpened(exponent, balance=balance)
    covariances = [a.T @ sigma @ a for a, sigma in zip(model.latent_maps, model.covariances, strict=True)]
    common = np.mean(covariances, axis=0)
    wanted = [
        latent @ power(own, -balance / 2) @ power(common, exponent - (1 - balance) / 2)
        for latent, own in zip(model.latent_maps, covariances, strict=True)
    ]
    found, want = np.concatenate(maps), np.concatenate(wanted)
    np.testing.assert_allclose(found @ found.T, want @ want.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(common)), np.sort(values), rtol=1e-7, atol=1e-9)


@some
@given(full)
def test_without_balance_a_half_is_the_posterior_mean(model):
    """Eq. (4), with the noise inverted; a balance of 1/2 is something else."""
    posterior = []
    for loading, noise in zip(model.loadings, model.noises, strict=True):
        scaled = np.linalg.solve(noise, loading)
        posterior.append(scaled @ np.linalg.inv(np.eye(model.factors) + loading.T @ scaled))
    want = np.concatenate(posterior)
    found = np.concatenate(model.sharpened(0.5, balance=0.0)[0])
    np.testing.assert_allclose(found @ found.T, want @ want.T, rtol=1e-6, atol=1e-8)
    other = np.concatenate(model.sharpened(0.5, balance=0.5)[0])
    assert np.abs(other @ other.T - want @ want.T).max() > 1e-3 * np.abs(want @ want.T).max()


@settings(max_examples=10, deadline=None)
@given(models, st.integers(0, 1000))
def test_samples_have_the_moments_of_the_model(model, seed):
    count = 20_000
    drawn = np.hstack(model.sample(count, seed))
    mean, _, _, covariance = oracles.stacked(model, range(len(model)))
    scale = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - mean) < 6 * scale / np.sqrt(count)).all()
    # The error of an empirical covariance is at most sqrt(2) s_i s_j / sqrt(n).
    assert (np.abs(np.cov(drawn.T) - covariance) < 7 * np.sqrt(2) * np.outer(scale, scale) / np.sqrt(count)).all()


def test_samples_are_the_same_for_the_same_seed():
    model = oracles.random_model(np.random.default_rng(3), (3, 2), 2)
    for one, other in zip(model.sample(5, 8), model.sample(5, 8), strict=True):
        assert one.tobytes() == other.tobytes()
    assert not np.array_equal(model.sample(5, 8)[0], model.sample(5, 9)[0])


@pytest.mark.parametrize("noise", [0.0, 1e-17, 1e-13])
def test_a_singular_covariance_gives_finite_answers(noise):
    """Rounding alone must not decide: a pivot of 1e-17 is no variance."""
    loading = np.array([[1.0], [1.0], [1.0]])
    model = FactorModel((loading, loading), (noise * np.eye(3),) * 2, (np.zeros(3),) * 2)
    vectors = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.5]])
    latent = model.latent_mean(vectors, 0)
    np.testing.assert_allclose(latent[0], 1.0, rtol=1e-5)
    assert (np.abs(latent) < 10).all()
    assert np.isfinite(model.log_density({0: vectors, 1: vectors})).all()
    assert np.isfinite(model.latent_covariance([0, 1])).all()
    assert all(np.isfinite(part).all() for part in model.conditional(0, 1))


def test_a_model_without_any_variance_gives_finite_answers():
    model = FactorModel((np.zeros((2, 1)),) * 2, (np.zeros((2, 2)),) * 2, (np.zeros(2),) * 2)
    assert model.latent_mean(np.zeros((1, 2)), 0).tolist() == [[0.0]]
