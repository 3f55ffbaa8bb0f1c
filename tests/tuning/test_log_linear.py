"""The learner: its gradient, its prior, and calibrated probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.tuning.calibration import Calibration
from cepts.tuning.cells import logistic
from cepts.tuning.log_linear import Cases, Scale, Weights, fit, objective, score
from cepts.tuning.model import best_threshold


def cases(rows: int = 40, seed: int = 0) -> Cases:
    rng = np.random.default_rng(seed)
    values = Scale(np.zeros(3), np.ones(3))(rng.normal(size=(rows, 3)))
    labels = (values[:, 0] + rng.normal(size=rows) > 0).astype(float)
    return Cases(values, rng.integers(0, 5, size=(rows, 2)), rng.normal(size=rows), labels)


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(1)
    prior, strength = Weights(rng.normal(size=4), np.zeros(5)), Weights(np.full(4, 2.0), np.full(5, 0.5))
    weights = Weights(rng.normal(size=4), np.append(rng.normal(size=4), 0.0))
    _, gradient = objective(cases(), prior, strength, weights)
    for part, index in [(0, place) for place in range(4)] + [(1, place) for place in range(4)]:
        losses = []
        for step in (1e-5, -1e-5):
            moved = Weights(*(array.copy() for array in weights))
            moved[part][index] += step
            losses.append(objective(cases(), prior, strength, moved)[0])
        assert gradient[part][index] == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-4, abs=1e-5)


def test_scores_are_offsets_plus_weights():
    some = cases()
    weights = Weights(np.arange(4.0), np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    wanted = some.offset + some.values @ weights.values + weights.categories[some.categories].sum(axis=1)
    np.testing.assert_allclose(score(some.values, some.categories, some.offset, weights), wanted)


def test_strong_pulls_keep_the_weights_of_the_prior():
    prior = Weights(np.array([0.5, -1.0, 0.0, 2.0]), np.zeros(5))
    assert fit(cases(), prior, np.inf, 1.0) is prior
    near, free = (fit(cases(), prior, strength, strength) for strength in (1e9, 1e-3))
    np.testing.assert_allclose(near.values[:3], prior.values[:3], atol=1e-3)
    assert np.abs(free.values - prior.values).max() > 0.1
    assert free.categories[-1] == 0.0


def test_a_scale_keeps_values_within_reach_and_constants_finite():
    scale = Scale.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
    np.testing.assert_allclose(scale(np.array([[1e9, 5.0]])), [[8.0, 0.0, 1.0]])


def test_calibration_maps_scores_to_the_share_that_is_right():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=2.0, size=20_000)
    right = rng.random(len(scores)) < logistic(0.5 * scores + 0.7)
    found = Calibration.of(scores, right)(scores)
    for low in (0.2, 0.5, 0.8):
        near = (found >= low) & (found < low + 0.1)
        assert found[near].mean() == pytest.approx(right[near].mean(), abs=0.03)
    assert (np.diff(found[np.argsort(scores)]) >= 0).all()
    np.testing.assert_allclose(Calibration()(scores), logistic(scores))


def test_the_threshold_is_half_of_the_best_f():
    rng = np.random.default_rng(0)
    scores = rng.normal(loc=-1.0, scale=2.0, size=50_000)
    labels = rng.random(len(scores)) < logistic(scores)

    def error(links):
        return 1.0 - 2.0 * np.count_nonzero(links & labels) / (np.count_nonzero(links) + np.count_nonzero(labels))

    found, threshold = best_threshold(error, scores)
    best = min(error(logistic(scores) >= each) for each in np.arange(0.05, 0.95, 0.01))
    assert threshold == pytest.approx(0.5 * (1.0 - found), abs=1e-3)
    assert found <= best + 0.002
