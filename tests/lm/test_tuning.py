from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Text
from cepts.errors import DataError
from cepts.lm.predictor import MOST_EXPONENT
from cepts.lm.tuning import best_weights, tune, tuned_weights
from toy_lm import predictors, texts, toy_predictor

SIMPLEX = [np.array(point) / 10 for point in product(range(11), repeat=3) if sum(point) == 10]
TEXT = Text.from_tokens([["w3", "w0", "w4", "x0"], ["w5", "w5", "w1", "w3", "w4"], ["w6", "w3", "x1", "w7"]] * 4)


def objective(probs, weights):
    with np.errstate(divide="ignore"):
        return np.log(probs @ weights).sum()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 999), st.integers(1, 40), st.floats(0, 0.8))
def test_the_best_weights_beat_a_grid_and_no_step_is_worse(seed, words, zeros):
    random = np.random.default_rng(seed)
    probs = random.gamma(0.3, size=(words, 3)) * (random.random((words, 3)) >= zeros) + 0.0
    if not probs.any():
        return
    weights, objectives = best_weights(probs)
    known = probs[probs.sum(axis=1) > 0]
    assert abs(weights.sum() - 1) < 1e-9
    assert weights.min() >= 0
    steps = np.diff([*objectives, objective(known, weights)])
    assert steps.min(initial=0) >= -1e-9 * abs(objectives[0])
    reached = objective(known, weights)
    assert reached >= max(objective(known, point) for point in SIMPLEX) - 1e-2 - 1e-4 * abs(reached)


def test_the_best_weights_of_words_that_one_component_has_each():
    weights, _ = best_weights(np.array([[0.5, 0, 0], [0, 0.1, 0], [0, 0.2, 0], [0, 0, 0]]))
    np.testing.assert_allclose(weights, [1 / 3, 2 / 3, 0], atol=1e-9)


@pytest.mark.parametrize("probs", [np.empty((0, 2)), np.zeros((3, 2))])
def test_nothing_to_tune_on_is_refused(probs):
    with pytest.raises(DataError, match=r"^the held-out text has no .* give other development text \(`dev=`\)\.$"):
        best_weights(probs)


@settings(deadline=None, max_examples=25)
@given(predictors(), texts)
def test_tuned_weights_are_the_best_of_the_mixture(model, text):
    scored = model.score(text, model.memory())
    if not scored.content.any():
        return
    weights = tuned_weights(scored, model.mixture)
    assert len(weights) == len(model.components)

    def total(weights):
        probs = scored.mixed(weights, model.mixture)[scored.known]
        return np.log(probs).sum()

    random = np.random.default_rng(0)
    others = [model.weights, *random.dirichlet(np.ones(len(weights)), 10)]
    assert total(weights) >= max(total(other) for other in others) - 0.02


@pytest.mark.parametrize("mixture", ["class", "literal"])
@pytest.mark.parametrize("text", [[["unknown", "neither"], ["nor"]], [[], []], []])
def test_a_held_out_text_without_known_words_is_refused(text, mixture):
    for backgrounds in (1, 2):
        model = toy_predictor(1, mixture=mixture, backgrounds=backgrounds)
        with pytest.raises(DataError, match="the held-out text has no content word") as caught:
            tune(model, Text.from_tokens(text), exponents=(0.3, 0.5))
        assert "\n" not in str(caught.value)


def test_tuning_finds_the_exponent_and_the_weights_of_the_background():
    model = toy_predictor(3, backgrounds=2)
    tuned, _ = tune(model, TEXT, exponents=(0.3, 0.9))

    def total(model):
        return np.log(model.score(TEXT, model.memory()).mixed(model.weights, model.mixture)).sum()

    assert total(tuned) > total(model)
    for exponent in (0.3, 0.9, tuned.exponent + 0.1):
        assert total(tuned) >= total(tune(replace(tuned, exponent=exponent), TEXT)[0]) - 1e-6
    members = model.background.trace(tuned.background.vocabulary.numbers(TEXT.vocabulary.words)[TEXT.ids], TEXT.offsets)
    np.testing.assert_allclose(tuned.background.weights, best_weights(members.members)[0])
    assert tune(model, TEXT)[0].exponent == model.exponent
    assert 0 < tuned.exponent <= MOST_EXPONENT


def test_no_exponent_is_tried_that_single_precision_cannot_hold(monkeypatch):
    monkeypatch.setattr("cepts.lm.tuning.MOST_EXPONENT", 0.7)
    assert tune(toy_predictor(3, backgrounds=2), TEXT, exponents=(0.3, 0.5))[0].exponent == 0.7
