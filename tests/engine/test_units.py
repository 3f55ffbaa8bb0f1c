"""When EM stops does not depend on units: counts times a constant, a text several times over, vectors in inches."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import TOY, bitext_of
from cepts.data import Vectors
from cepts.engine import run_em
from cepts.factor import plsa, poisson_nmf, symmetric_nmf
from cepts.lm.tuning import best_weights
from cepts.spaces import IBFA, MBFA, fit_mixture
from cepts.words import HMM, IBM1, IBM2, IBM3, IBM4, Diagonal
from toy_spaces import toy_dictionary, toy_views

# Powers of two, which change no digit of float32 entries: other factors lead EM a rounding away.
SCALES = [2.0**exponent for exponent in (-20, -10, -1, 2, 10, 20)]
REPETITIONS = [2, 3, 8]


class Told:
    """A problem whose objectives are known beforehand."""

    allowed_fall = np.inf

    def __init__(self, objectives):
        self.objectives = iter(objectives)

    def e_step(self, tick):
        return next(self.objectives)

    def m_step(self):
        pass


@settings(deadline=None)
@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30),
    st.integers(-20, 20),
    st.integers(-(10**6), 10**6),
    st.sampled_from([0.5, 0.1, 0.01, 1e-4]),
)
def test_the_stop_does_not_depend_on_the_unit_and_the_zero_of_the_objective(objectives, exponent, zero, tolerance):
    def iterations(values):
        return len(run_em(Told(values), iterations=len(values), tolerance=tolerance))

    assert iterations([2.0**exponent * (value + zero) for value in objectives]) == iterations(objectives)


@cache
def counts(rows=20, columns=16):
    """Counts of four topics."""
    random = np.random.default_rng(3)
    topics = random.dirichlet(np.full(rows, 0.2), 4).T @ random.gamma(0.4, 40, size=(4, columns))
    return random.poisson(topics).astype(np.float64) + np.eye(rows, columns)


def assert_same(found, wanted, iterations, rtol=1e-5, atol=1e-6):
    """As many iterations, fewer than the most that were allowed, and the same parameters."""
    (history, *parameters), (wanted_history, *wanted_parameters) = found, wanted
    assert 3 <= len(wanted_history) < iterations
    assert len(history) == len(wanted_history)
    for one, other in zip(parameters, wanted_parameters, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("scale", SCALES)
def test_plsa(scale):
    def fitted(matrix):
        found = plsa(matrix, 4, restarts=2, iterations=500, tolerance=1e-5)
        return found.objectives, found.weights, found.source, found.target

    assert_same(fitted(scale * counts()), fitted(counts()), 500)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("long_steps", [False, True])
@pytest.mark.parametrize("blocks", ["two", "joint"])
def test_poisson_nmf(scale, blocks, long_steps):
    def fitted(scale):
        found = poisson_nmf(scale * counts(), 4, blocks=blocks, long_steps=long_steps, iterations=500)
        return found.objectives, found.words, found.documents / scale

    assert_same(fitted(scale), fitted(1.0), 500)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("long_steps", [False, True])
def test_symmetric_nmf(scale, long_steps):
    def fitted(scale):
        found = symmetric_nmf(scale * counts() @ counts().T, 4, long_steps=long_steps, iterations=500)
        return found.objectives, found.words, found.weights / scale

    assert_same(fitted(scale), fitted(1.0), 500)


@pytest.mark.parametrize("times", REPETITIONS)
@pytest.mark.parametrize("agreement", [False, True])
@pytest.mark.parametrize("model", [IBM1, IBM2, Diagonal, HMM])
def test_word_aligners(model, agreement, times):
    """By maximum likelihood: the counts of a prior would weigh less beside those of more text."""
    iterations = 60

    def fitted(times):
        options = {} if model is IBM1 else {"start_iterations": 0}
        options |= {"lexicon": "ml", "agreement": agreement, "iterations": iterations, "tolerance": 1e-2, "threads": 1}
        found = model(**options).fit(bitext_of(TOY * times))
        state = found.positions_.state()
        # Expected counts, which a later training adds to its own, are those of all the text.
        state |= {name: counts / times for name, counts in state.items() if name.startswith("seen.")}
        return found.objectives_, found.lexicon_.table, found.null_.source, *state.values()

    assert_same(fitted(times), fitted(1), iterations)


@pytest.mark.parametrize("model", [IBM3, IBM4])
def test_aligners_with_fertilities(model):
    """Their priors are counts, which hardly matter where there are many."""
    iterations = 60

    def fitted(times):
        options = {"lexicon": "ml", "iterations": iterations, "start_iterations": 2, "hmm_iterations": 0}
        found = model(**options, tolerance=1e-2, threads=1).fit(bitext_of(TOY * times))
        return found.objectives_[2:], found.lexicon_.table, found.positions_.source_fertility

    assert_same(fitted(1024), fitted(512), iterations, rtol=0.1, atol=0.02)


@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("start", ["joreskog", "canonical"])
def test_mbfa(unit, accelerate, start):
    """Vectors in another unit have other log-densities, by a constant; each view has a unit of its own."""

    def fitted(units):
        views = [
            Vectors.from_words(view.words, (unit * view.matrix).astype(np.float32), view.name)
            for view, unit in zip(toy_views(widths=(6, 5, 7), noise=1.0), units, strict=True)
        ]
        model = MBFA(factors=4, prepare=(), shrinkage=0.01, exponent=1.0, start=start, accelerate=accelerate)
        space = model.fit(views, toy_dictionary(("en", "fr", "ru"))).space_
        return space.objectives, *(abs(view.matrix @ turn) for view, turn in zip(views, space.maps, strict=True))

    assert_same(fitted((unit, 1.0, 1 / unit)), fitted((1.0, 1.0, 1.0)), 500)


@pytest.mark.parametrize("unit", SCALES)
def test_fields_of_a_space(unit):
    def fitted(unit):
        views = [
            Vectors.from_words(view.words, (unit * view.matrix).astype(np.float32), view.name)
            for view in toy_views(noise=0.5)
        ]
        model = IBFA(factors=4, prepare=(), shrinkage=0.01, exponent=1.0).fit(views, toy_dictionary())
        rows = model.report_.entries.rows
        found = fit_mixture(model.space_, views, rows, components=3, prior=1.0, iterations=200)
        return found.objectives, found.shares, abs(found.means)

    assert_same(fitted(unit), fitted(1.0), 200)


@pytest.mark.parametrize("times", REPETITIONS)
@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_weights_of_a_mixture(times, unit):
    """The held-out text several times over, and probabilities that are all smaller by a factor."""
    probs = np.random.default_rng(5).dirichlet(np.full(3, 0.5), size=40)

    def fitted(probs):
        weights, objectives = best_weights(probs)
        return objectives, weights

    assert_same(fitted(np.tile(unit * probs, (times, 1))), fitted(probs), 200)
