"""How factor analysis relates to direct maps and to CCA: appendix F and section 3.2 of Vargas et al. (2019)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from cepts.spaces.gaussian import FactorModel
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.methods import least_squares
from cepts.spaces.moments import gather_moments

some = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def noisy_pairs(seed, widths, count=60, *, mean=0.0):
    """Pairs with a common part, as float32, and their moments."""
    random = np.random.default_rng(seed)
    latent = random.standard_normal((count, min(widths)))
    views = [
        (latent @ random.standard_normal((min(widths), width)) + random.standard_normal((count, width)) + mean).astype(
            np.float32
        )
        for width in widths
    ]
    (moments,) = gather_moments(views, np.stack([np.arange(count)] * 2, axis=1))
    return moments, [view.astype(np.float64) for view in views]


def random_noise(random, width):
    root = random.standard_normal((width, width))
    return root @ root.T + 0.1 * np.eye(width)


@some
@given(seeds)
def test_the_noise_of_a_direct_map_has_no_say_in_it(seed):
    """Appendix F: whatever Psi is, prod N(y; W x, Psi) is highest at the W of least squares."""
    moments, (x, y) = noisy_pairs(seed, (3, 2), mean=0.5)
    random = np.random.default_rng(seed)
    found = least_squares(moments, (3, 2))
    for _ in range(2):
        noise = random_noise(random, 2)

        def loss(flat, noise=noise):
            return -multivariate_normal(np.zeros(2), noise).logpdf(y - x @ flat.reshape(3, 2)).mean()

        searched = minimize(loss, random.standard_normal(6), options={"gtol": 1e-8}).x.reshape(3, 2)
        np.testing.assert_allclose(searched, found, atol=2e-4)


def test_the_noise_of_a_factor_model_has_a_say_in_it():
    """So the test above would fail for IBFA: with another Psi_x, E[z | x] turns."""
    moments, _ = noisy_pairs(3, (3, 2))
    model = fit_ibfa(canonical(moments, (3, 2)))
    noise = random_noise(np.random.default_rng(0), 3)
    other = FactorModel(model.loadings, (noise, model.noises[1]), model.means)
    one, two = (part.latent_maps[0] / np.linalg.norm(part.latent_maps[0], axis=0) for part in (model, other))
    assert np.abs((one * two).sum(axis=0)).min() < 0.99


def isotropic_loadings(covariance, factors, variance, steps=4000):
    """W of the highest likelihood where the noise of all views is `variance` times I, by EM over W alone."""
    loading = np.random.default_rng(0).standard_normal((len(covariance), factors))
    for _ in range(steps):
        inner = np.linalg.inv(variance * np.eye(factors) + loading.T @ loading)
        gain = inner @ loading.T  # E[z | x, y] = gain (x, y)
        cross = covariance @ gain.T
        loading = cross @ np.linalg.inv(variance * inner + gain @ cross)
    return loading


@pytest.mark.parametrize("factors", [1, 2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cca_is_the_limit_of_noise_that_vanishes(seed, factors):
    """Section 3.2: Psi_i = s I with s -> 0, in whitened views.

    The latent means then tell z without error and are the canonical variates, whose correlations are P; the less noise,
    the nearer. IBFA, which fits the noise, instead scales the variates by P^1/2.
    """
    widths = (4, 3)
    moments, views = noisy_pairs(seed, widths)
    found = canonical(moments, widths, factors=factors)
    whole = canonical(moments, widths)
    # Whitened by all of its directions, a view has the covariance I.
    roots = [np.linalg.cholesky(np.linalg.inv(s)) for s in found.covariances]
    white = np.zeros((sum(widths), sum(widths)))
    x, y = moments.spans(widths)
    white[x, x], white[y, y] = np.eye(4), np.eye(3)
    white[x, y] = roots[0].T @ moments.covariance[x, y] @ roots[1]
    white[y, x] = white[x, y].T
    left = []
    for variance in (1e-1, 1e-2, 1e-4):
        loading = isotropic_loadings(white, factors, variance)
        parts = loading[x], loading[y]
        model = FactorModel(parts, (variance * np.eye(4), variance * np.eye(3)), (np.zeros(4), np.zeros(3)))
        left.append(np.trace(model.latent_covariance([0])))
        latent = [
            (view - mean) @ root @ a
            for view, mean, root, a in zip(views, found.means, roots, model.latent_maps, strict=True)
        ]
        # The latent means span the canonical variates and nothing else ...
        for view, z in enumerate(latent):
            variates = (views[view] - found.means[view]) @ found.directions[view]
            rest = z - variates @ np.linalg.lstsq(variates, z, rcond=None)[0]
            assert np.abs(rest).max() < 1e-3 * np.abs(z).max()
        # ... and correlate as these do.
        (own,) = gather_moments(
            [z.astype(np.float32) for z in latent], np.stack([np.arange(len(latent[0]))] * 2, axis=1)
        )
        np.testing.assert_allclose(canonical(own, (factors, factors)).correlations, found.correlations, atol=1e-3)
    # What one view leaves unknown of z vanishes with the noise; IBFA leaves 1 - P.
    assert left[0] > left[1] > left[2]
    assert left[2] < 1e-3
    ibfa = fit_ibfa(found)
    np.testing.assert_allclose(
        np.trace(ibfa.latent_covariance([0])), (1 - whole.correlations[:factors]).sum(), rtol=1e-6
    )
