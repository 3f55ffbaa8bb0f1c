"""EM on sufficient statistics against EM entry by entry, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, sqrtm

import oracles_spaces_models as oracles
from cepts.engine import run_em
from cepts.errors import DataError, NotFiniteError, UsageError
from cepts.names import STARTS
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.mbfa import ITERATIONS, TOLERANCE, Battery
from cepts.spaces.moments import gather_moments, spans_of

PATTERNS = {
    "complete": [[1, 1, 1]],
    "star": [[1, 1, 0], [1, 0, 1]],
    "pairs": [[1, 1, 0], [1, 0, 1], [0, 1, 1]],
    "mixed": [[1, 1, 1], [1, 1, 0], [0, 1, 1]],
    "one view alone": [[1, 1, 1], [0, 1, 0], [1, 0, 0]],
}


def problem(seed, widths, count, patterns, factors=2, noise=1.0):
    """Views, rows and weights of `count` entries that a random model draws, some views missing by `patterns`."""
    random = np.random.default_rng(seed)
    model = oracles.random_model(random, widths, factors)
    model = FactorModel(model.loadings, tuple(noise * part for part in model.noises), model.means)
    views = [vectors.astype(np.float32) for vectors in model.sample(count, seed)]
    known = np.array(patterns)[np.arange(count) % len(patterns)]
    return views, np.where(known == 1, np.arange(count)[:, None], -1), random.uniform(0.3, 2.0, count)


def fit_mbfa(moments, widths, *, iterations=ITERATIONS, tolerance=TOLERANCE, **options):
    return Battery(moments, widths, **options).fit(iterations=iterations, tolerance=tolerance)


def lowest_gain(history):
    """The worst step, as a share of the objective's size."""
    return np.diff(history).min() / max(abs(history[-1]), 1.0)


def constant(battery, rows, weights):
    """What whitening adds to the mean log-likelihood: the logs of its determinants, for the views that entries have."""
    logs = np.array([np.linalg.slogdet(whitening.root)[1] for whitening in battery.whitenings])
    return float(weights @ ((rows >= 0) @ logs) / weights.sum())


@pytest.mark.parametrize("patterns", PATTERNS.values(), ids=PATTERNS)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(2, 2, 2), (3, 2, 4)]), st.integers(1, 2), st.sampled_from(STARTS))
def test_steps_equal_em_entry_by_entry(patterns, seed, widths, factors, start):
    views, rows, weights = problem(seed, widths, 45, patterns)
    battery = Battery(gather_moments(views, rows, weights), widths, factors=factors, start=start, accelerate=False)
    for _ in range(2):
        before = battery.model()
        objective = battery.e_step(None)
        wanted = oracles.mean_log_likelihood(before, views, rows, weights)
        assert objective - wanted == pytest.approx(-constant(battery, rows, weights), abs=1e-7)
        battery.m_step()
        literal, after = oracles.em_step(before, views, rows, weights), battery.model()
        for kind in ("loadings", "noises", "means"):
            for one, other in zip(getattr(after, kind), getattr(literal, kind), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("patterns", PATTERNS.values(), ids=PATTERNS)
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]), st.integers(1, 3), st.sampled_from(STARTS))
def test_no_step_lowers_the_likelihood(accelerate, patterns, seed, shrinkage, factors, start):
    views, rows, weights = problem(seed, (3, 4, 3), 40, patterns)
    _, history = fit_mbfa(
        gather_moments(views, rows, weights),
        (3, 4, 3),
        factors=factors,
        shrinkage=shrinkage,
        start=start,
        accelerate=accelerate,
        iterations=40,
        tolerance=0.0,
    )
    assert len(history) == 40
    assert lowest_gain(history) > -1e-9


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("count", [2, 3, 6, 9])
def test_fewer_entries_than_dimensions_end_at_the_floor_of_the_noise(accelerate, count):
    """Then views tell each other without error, and without a floor the likelihood would have no bound."""
    views, rows, weights = problem(5, (6, 5, 7), count, PATTERNS["complete"])
    moments = gather_moments(views, rows, weights)
    model, history = fit_mbfa(moments, (6, 5, 7), factors=5, accelerate=accelerate, iterations=100, tolerance=0.0)
    assert lowest_gain(history) > -1e-7
    assert all(np.isfinite(part).all() for part in (*model.latent_maps, *model.noises, *model.means))


def test_a_view_that_is_another_again_needs_no_shrinkage():
    views, rows, weights = problem(1, (3, 3), 30, [[1, 1]])
    model, history = fit_mbfa(gather_moments([views[0], views[0]], rows, weights), (3, 3), factors=3)
    assert np.isfinite(history).all()
    np.testing.assert_allclose(model.translate(views[0], 0, 1), views[0], atol=0.05)


@pytest.mark.parametrize("factors", [2, 3])
def test_acceleration_reaches_the_likelihood_of_many_more_plain_steps(factors):
    """Few entries make EM slow."""
    views, rows, weights = problem(0, (4, 4, 4), 60, PATTERNS["complete"], factors=3)
    moments = gather_moments(views, rows, weights)
    _, plain = fit_mbfa(moments, (4, 4, 4), factors=factors, accelerate=False, iterations=1000, tolerance=0.0)
    _, fast = fit_mbfa(moments, (4, 4, 4), factors=factors, iterations=100, tolerance=0.0)
    assert plain[-1] - plain[100] > 1e-5
    assert fast[-1] >= plain[-1] - 1e-7


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize(("widths", "factors"), [((4, 4), 4), ((5, 3), 2)])
def test_two_views_end_at_the_closed_form(start, shrinkage, widths, factors):
    views, rows, weights = problem(7, widths, 80, [[1, 1]])
    moments = gather_moments(views, rows, weights)
    model, _ = fit_mbfa(moments, widths, factors=factors, shrinkage=shrinkage, start=start, iterations=250, tolerance=0)
    wanted = fit_ibfa(canonical(moments[0], widths, factors=factors, shrinkage=shrinkage))
    found = model.joint_covariance((0, 1))
    np.testing.assert_allclose(found, wanted.joint_covariance((0, 1)), atol=0.01 * np.abs(found).max())
    if start != "random":  # of two views, W_x W_y' is determined but not how the two share it (Bach & Jordan 2005)
        np.testing.assert_allclose(
            np.linalg.eigvalsh(model.agreement), np.linalg.eigvalsh(wanted.agreement), rtol=0.02, atol=0.02
        )
    if shrinkage == 0.0:
        likelihoods = [oracles.mean_log_likelihood(one, views, rows, weights) for one in (model, wanted)]
        assert likelihoods[0] == pytest.approx(likelihoods[1], abs=2e-5)
        assert likelihoods[0] <= likelihoods[1] + 1e-9


def test_the_canonical_start_of_two_views_is_the_closed_form():
    views, rows, weights = problem(3, (4, 3), 80, [[1, 1]])
    moments = gather_moments(views, rows, weights)
    wanted = fit_ibfa(canonical(moments[0], (4, 3), factors=2))
    found = Battery(moments, (4, 3), factors=2, start="canonical").model()
    np.testing.assert_allclose(found.joint_covariance((0, 1)), wanted.joint_covariance((0, 1)), atol=1e-8)


def test_at_the_maximum_each_view_has_its_own_covariance():
    """Bdiag(S - Sigma) = 0 for complete entries (the gradient by the noises)."""
    views, rows, weights = problem(2, (3, 4, 3), 400, PATTERNS["complete"])
    (moments,) = gather_moments(views, rows, weights)
    model, _ = fit_mbfa([moments], (3, 4, 3), factors=2, iterations=300, tolerance=0.0)
    difference = moments.covariance - model.joint_covariance((0, 1, 2))
    for span in spans_of((3, 4, 3)):
        np.testing.assert_allclose(difference[span, span], 0.0, atol=1e-5)
    np.testing.assert_allclose(np.concatenate(model.means), moments.mean, atol=1e-8)


@pytest.mark.parametrize(("patterns", "seed"), [("complete", 5), ("star", 5), ("mixed", 5), ("pairs", 6)])
def test_starts_agree_on_the_likelihood(patterns, seed):
    """Where the entries settle it: with missing views there can be maxima beside the highest."""
    views, rows, weights = problem(seed, (3, 3, 4), 300, PATTERNS[patterns], noise=0.3)
    moments = gather_moments(views, rows, weights)
    ends = [fit_mbfa(moments, (3, 3, 4), factors=2, start=start, iterations=100, tolerance=0.0)[1] for start in STARTS]
    assert ends[0][-1] == pytest.approx(ends[1][-1], abs=1e-8)


@pytest.mark.parametrize("accelerate", [False, True])
def test_random_starts_of_three_views_end_in_one_space(accelerate):
    """Vargas et al. (2019), section 2.2.1: solutions are a rotation away from each other, whatever the start."""
    views, rows, weights = problem(4, (3, 4, 3), 300, PATTERNS["complete"], noise=0.5)
    moments = gather_moments(views, rows, weights)
    starts, ends, places = [], [], []
    for seed in range(4):
        options = {"start": "random", "seed": seed, "accelerate": accelerate}
        battery = Battery(moments, (3, 4, 3), factors=2, **options)
        starts.append(battery.loadings[0] @ battery.loadings[1].T)
        model, history = battery.fit(iterations=400, tolerance=0.0)
        placed = np.concatenate([model.latent_mean(view, number) for number, view in enumerate(views)])
        ends.append(history[-1])
        places.append(placed @ placed.T)
    assert np.ptp(starts, axis=0).max() > 0.1
    np.testing.assert_allclose(ends, ends[0], atol=1e-7)
    for other in places[1:]:
        np.testing.assert_allclose(other, places[0], atol=1e-3 * np.abs(places[0]).max())


def test_a_star_joins_views_that_never_meet():
    """English-French and English-Russian entries also align French with Russian."""
    random = np.random.default_rng(0)
    truth = oracles.random_model(random, (4, 4, 4), 3)
    truth = FactorModel(truth.loadings, tuple(0.05 * noise for noise in truth.noises), truth.means)
    views = [vectors.astype(np.float32) for vectors in truth.sample(600, 1)]
    rows = np.stack([np.arange(600)] * 3, axis=1)
    rows[::2, 1] = rows[1::2, 2] = -1
    model, _ = fit_mbfa(gather_moments(views, rows), (4, 4, 4), factors=3)
    fresh = truth.sample(200, 2)
    wanted = truth.translate(fresh[1], 1, 2)
    error = np.square(model.translate(fresh[1], 1, 2) - wanted).mean() / np.square(wanted - wanted.mean(axis=0)).mean()
    assert error < 0.02


@pytest.mark.parametrize("accelerate", [False, True])
def test_the_order_of_the_entries_does_not_matter(accelerate):
    views, rows, weights = problem(6, (3, 4, 3), 50, PATTERNS["mixed"])
    order = np.random.default_rng(1).permutation(len(rows))
    options = {"factors": 2, "accelerate": accelerate, "iterations": 25, "tolerance": 0.0}
    one, _ = fit_mbfa(gather_moments(views, rows, weights), (3, 4, 3), **options)
    other, _ = fit_mbfa(gather_moments(views, rows[order], weights[order]), (3, 4, 3), **options)
    np.testing.assert_allclose(one.joint_covariance((0, 1, 2)), other.joint_covariance((0, 1, 2)), atol=1e-6)


def test_shrinkage_is_the_same_for_every_set_of_views():
    """Whitened, all entries of a view together have the covariance I, however few there are of some sets of views."""
    views, rows, weights = problem(8, (3, 3, 3), 31, [[1, 1, 0]] * 15 + [[1, 0, 1]] * 15 + [[1, 1, 1]])
    battery = Battery(gather_moments(views, rows, weights), (3, 3, 3), factors=2, shrinkage=0.5)
    for view in range(3):
        parts = [(g, g.spans(battery.widths)[g.views.index(view)]) for g in battery.groups if view in g.views]
        pooled = sum(
            g.weight * (g.covariance[span, span] + np.outer(g.mean[span], g.mean[span])) for g, span in parts
        ) / sum(g.weight for g, _ in parts)
        np.testing.assert_allclose(pooled, np.eye(3), atol=1e-10)


def test_views_that_no_entry_joins_are_refused():
    views, rows, weights = problem(0, (2, 2, 2, 2), 20, [[1, 1, 0, 0], [0, 0, 1, 1]])
    with pytest.raises(DataError, match="dictionaries do not connect all languages") as error:
        fit_mbfa(gather_moments(views, rows, weights), (2, 2, 2, 2), factors=1)
    assert "\n" not in str(error.value)


def test_a_view_without_entries_is_refused():
    views, rows, weights = problem(0, (2, 2, 2), 20, [[1, 1, 0]])
    with pytest.raises(DataError, match="no dictionary entry has a word of language 3"):
        fit_mbfa(gather_moments(views, rows, weights), (2, 2, 2), factors=1)


def test_wrong_options_are_refused():
    views, rows, weights = problem(0, (2, 3), 20, [[1, 1]])
    moments = gather_moments(views, rows, weights)
    with pytest.raises(UsageError, match="`factors` must be 1 to 2, "):
        fit_mbfa(moments, (2, 3), factors=3)
    with pytest.raises(UsageError, match="`start` must be one of"):
        fit_mbfa(moments, (2, 3), factors=1, start="nowhere")


@pytest.mark.parametrize("accelerate", [False, True])
def test_parameters_without_a_likelihood_end_the_loop_with_a_clear_error(accelerate):
    views, rows, weights = problem(0, (2, 3), 20, [[1, 1]])
    battery = Battery(gather_moments(views, rows, weights), (2, 3), factors=1, accelerate=accelerate)
    battery.noises[0][:] = -np.eye(2)
    with pytest.raises(NotFiniteError, match="MBFA"):
        run_em(battery, iterations=3, stage="MBFA")


# -- where EM starts --------------------------------------------------------------------------------------------------


def whitened_covariance(views, rows, weights):
    """S of the whitened views, entry by entry; of two views that never meet, through the first."""
    white = []
    for view, column in zip(views, rows.T, strict=True):
        known = column >= 0
        mass = weights[known] / weights[known].sum()
        centred = view.astype(np.float64) - mass @ view[column[known]]
        covariance = (centred[column[known]] * mass[:, None]).T @ centred[column[known]]
        white.append(centred @ np.linalg.inv(sqrtm(covariance).real))
    blocks = {}
    for i, one in enumerate(white):
        for j, other in enumerate(white):
            both = (rows[:, i] >= 0) & (rows[:, j] >= 0)
            if both.any():
                mass = weights[both] / weights[both].sum()
                left = one[rows[both, i]] - mass @ one[rows[both, i]]
                right = other[rows[both, j]] - mass @ other[rows[both, j]]
                blocks[i, j] = np.eye(one.shape[1]) if i == j else (left * mass[:, None]).T @ right
    count = range(len(white))
    return np.block([[blocks[i, j] if (i, j) in blocks else blocks[i, 0] @ blocks[0, j] for j in count] for i in count])


def joined_loadings(battery):
    """W of all views in the coordinates of symmetric whitening, in which the oracle has them; W W' has no rotation."""
    return np.concatenate(
        [
            np.linalg.inv(sqrtm(w.back.T @ w.back).real) @ w.back.T @ loading
            for w, loading in zip(battery.whitenings, battery.loadings, strict=True)
        ]
    )


def assert_starts_at(battery, wanted):
    """The loadings are `wanted`, but for a rotation, and the noise is what they leave of each view's variance."""
    # Else a factor is made stronger or weaker, so that EM can learn it.
    spans = spans_of([len(loading) for loading in battery.loadings])
    assume(max(np.linalg.norm(wanted[span], 2) for span in spans) < 0.97**0.5)
    found = joined_loadings(battery)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-5)
    for loading, noise in zip(battery.loadings, battery.noises, strict=True):
        np.testing.assert_allclose(noise + loading @ loading.T, np.eye(len(noise)), atol=1e-9)


@pytest.mark.parametrize("patterns", [PATTERNS["complete"], PATTERNS["star"]], ids=["complete", "star"])
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_browne_starts_from_joreskogs_noise_and_the_best_loadings_for_it(patterns, seed, factors):
    """Psi_i = (1 - k / 2p) ((S^-1)_ii)^-1; then W W' = R (sum over the k largest l of (l - 1) u u') R', R R' = Psi.

    l and u are eigenvalues and -vectors of R^-1 S R'^-1: the maximum of the likelihood where the noise is given.
    """
    widths = (3, 2, 4)
    views, rows, weights = problem(seed, widths, 150, patterns, noise=4.0)
    covariance = whitened_covariance(views, rows, weights)
    assume(np.linalg.eigvalsh(covariance)[0] > 0.01)
    precision = np.linalg.inv(covariance)
    share = 1 - factors / (2 * sum(widths))
    noise = block_diag(*(share * np.linalg.inv(precision[span, span]) for span in spans_of(widths)))
    root = sqrtm(noise).real
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ covariance @ inverse.T)
    assume(values[-factors] > 1.01)
    wanted = root @ vectors[:, -factors:] * np.sqrt(values[-factors:] - 1)
    battery = Battery(gather_moments(views, rows, weights), widths, factors=factors, start="joreskog")
    assert_starts_at(battery, wanted)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_the_canonical_start_of_three_views_is_that_of_equal_correlations(seed, factors):
    """Where n variates all correlate by r, S has the eigenvalue 1 + (n - 1) r with a unit vector u.

    Each view has 1 / n of the square of u, so W = u sqrt(n r) gives the variates the covariance r.
    """
    widths = (3, 3, 3)
    views, rows, weights = problem(seed, widths, 150, PATTERNS["complete"], noise=4.0)
    values, vectors = np.linalg.eigh(whitened_covariance(views, rows, weights))
    correlations = (values[-factors:] - 1) / 2
    assume(correlations[0] > 0.01)
    wanted = vectors[:, -factors:] * np.sqrt(3 * correlations)
    battery = Battery(gather_moments(views, rows, weights), widths, factors=factors, start="canonical")
    assert_starts_at(battery, wanted)
