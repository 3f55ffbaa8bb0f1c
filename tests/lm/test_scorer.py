from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.data import END, Text
from cepts.lm.scorer import IncrementalScorer
from toy_lm import models, numbered, texts, toy_model


def walked(scorer, text, state=None):
    """The logarithms of all words and ends, and the state after them."""
    state = state or scorer.start()
    found = []
    for sentence in range(len(text)):
        for word in text[sentence]:
            log_prob, state = scorer.score(state, word)
            found.append(log_prob)
        log_prob, state = scorer.finish(state)
        found.append(log_prob)
    return found, state


@settings(deadline=None, max_examples=40)
@given(models, texts, st.sampled_from([1, 3, 256]))
def test_an_adapting_scorer_scores_as_the_model_does(model, text, most_pending):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepts.lm.scorer.MOST_PENDING", most_pending)
        found, state = walked(IncrementalScorer(model), text)
        want = model.predictor_.mixed(model.score(text, model.memory()))
        np.testing.assert_allclose(np.exp(found), want, rtol=1e-5, atol=1e-10)
        # What the state remembers is what the model does.
        memory, other = IncrementalScorer(model).memory(state), model.memory()
        model.score(text, other)
        again = [model.distribution((), each) for each in (memory, other)]
        np.testing.assert_allclose(*again, rtol=1e-5, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(models, texts)
def test_a_scorer_that_does_not_adapt_learns_at_the_ends_of_sentences(model, text):
    found, _ = walked(IncrementalScorer(model, adapting=False), text)
    oracle = oracles.Adapted(model.predictor_)
    past, want = [], []
    for sentence in numbered(model.predictor_, text):
        for place, word in enumerate((*sentence, END)):
            want.append(oracle.distribution(sentence[:place], past)[word])
        past += sentence
    np.testing.assert_allclose(np.exp(found), want, rtol=1e-4, atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(models, st.booleans(), texts)
def test_hypotheses_part_from_a_state_without_changing_it(model, adapting, text):
    scorer = IncrementalScorer(model, adapting=adapting)
    _, state = walked(scorer, Text.from_tokens([["w3", "w4"], ["x0", "w5", "w5"]]))
    before, _ = walked(scorer, text, state)
    walked(scorer, Text.from_tokens([["w5", "w6"], ["w3"]]), state)
    scorer.memory(state)
    after, _ = walked(scorer, text, state)
    assert before == after
    # All words that may follow one state are a distribution.
    words = [word for word in model.predictor_.vocabulary.words if word != "<s>"]
    assert abs(sum(math.exp(scorer.score(state, word)[0]) for word in words) - 1) < 1e-5


@pytest.mark.parametrize("adapting", [False, True])
def test_a_scorer_goes_on_from_a_memory_which_may_change_afterwards(adapting):
    model = toy_model(2)
    memory = model.memory()
    model.score(Text.from_tokens([["w3", "w4", "w4"]]), memory)
    scorer = IncrementalScorer(model, adapting=adapting)
    state = scorer.start(memory)
    first = scorer.score(state, "w4")[0]
    assert first != IncrementalScorer(model).score(IncrementalScorer(model).start(), "w4")[0]
    model.score(Text.from_tokens([["w5", "w6", "w3", "x0"]]), memory)
    assert IncrementalScorer(model, adapting=adapting).score(state, "w4")[0] == first


def test_words_that_cannot_come_have_no_probability():
    model = toy_model()
    scorer = IncrementalScorer(model)
    assert scorer.score(scorer.start(), "<s>")[0] == -math.inf
    assert scorer.score(scorer.start(), "never seen")[0] == scorer.score(scorer.start(), "<unk>")[0]
    assert scorer.score(scorer.start(), "</s>")[0] == scorer.finish(scorer.start())[0]


def test_what_was_said_is_taken_into_the_memory_however_long_the_sentence(monkeypatch):
    monkeypatch.setattr("cepts.lm.scorer.MOST_PENDING", 3)
    scorer = IncrementalScorer(toy_model(2))
    state = scorer.start()
    longest = 0
    for _ in range(20):
        _, state = scorer.score(state, "w4")
        longest = max(longest, len(state.pending))
    assert 0 < longest <= 4


def test_a_model_of_lower_cased_text_knows_capitals():
    scorer = IncrementalScorer(toy_model(2, lowercase=True))
    assert scorer.score(scorer.start(), "W4")[0] == scorer.score(scorer.start(), "w4")[0]
    other = IncrementalScorer(toy_model(2))
    assert other.score(other.start(), "W4")[0] == other.score(other.start(), "<unk>")[0]
