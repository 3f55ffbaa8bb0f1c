"""Rescoring n-best lists, against the scorer for decoders and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import UNKNOWN, Hypothesis, Utterance
from cepts.errors import DataError, UsageError
from cepts.lm import IncrementalScorer
from cepts.pipeline.rescoring import (
    LEAST_LOG_PROB,
    Rescored,
    RescoreOptions,
    list_errors,
    own_choice,
    rescore,
    tune_weights,
)
from toy_lm import models, toy_model

WORDS = st.sampled_from([*(f"w{number}" for number in range(9)), "x0", "unknown"])
HYPOTHESES = st.lists(
    st.builds(Hypothesis, st.lists(WORDS, max_size=5).map(tuple), st.floats(-9, 0)), min_size=1, max_size=3
)
LISTS = st.lists(HYPOTHESES, min_size=1, max_size=4).map(
    lambda lists: [Utterance(f"talk{n // 2}-{n}", tuple(hypotheses)) for n, hypotheses in enumerate(lists)]
)


def spoken(scorer, state, tokens, penalty):
    """Log-probability of a hypothesis word by word, and the state after it."""
    total = 0.0
    for word in tokens:
        log_prob, state = scorer.score(state, word)
        unknown = scorer.model.predictor_.vocabulary.number(word) <= UNKNOWN
        total += max(log_prob, LEAST_LOG_PROB) - penalty * unknown
    log_prob, state = scorer.finish(state)
    return total + max(log_prob, LEAST_LOG_PROB), state


@settings(deadline=None, max_examples=40)
@given(models, LISTS, st.sampled_from(["never", "talk", "utterance"]), st.floats(0, 2), st.floats(-1, 1))
def test_lists_are_scored_as_a_decoder_would_that_goes_on_with_the_best_hypothesis(model, lists, reset, weight, bonus):
    scorer = IncrementalScorer(model)
    state = scorer.start()
    before = None
    found = rescore(model, lists, RescoreOptions(weight=weight, word_bonus=bonus, unknown_penalty=2.0, reset=reset))
    for one, utterance in zip(found, lists, strict=True):
        talk = utterance.id.split("-")[0]
        if reset == "utterance" or (reset == "talk" and talk != before):
            state = scorer.start()
        before = talk
        ways = [spoken(scorer, state, hypothesis.tokens, 2.0) for hypothesis in utterance.hypotheses]
        np.testing.assert_allclose(one.lm_scores, [score for score, _ in ways], rtol=1e-4, atol=1e-4)
        for total, score, hypothesis in zip(one.totals, one.lm_scores, utterance.hypotheses, strict=True):
            assert total == pytest.approx(hypothesis.score + weight * score + bonus * len(hypothesis.tokens))
        assert one.totals[one.best] == max(one.totals)
        state = ways[one.best][1]


def test_unknown_words_share_what_the_unknown_word_has():
    model = toy_model()
    lists = [Utterance("a", (Hypothesis(("unknown",), 0.0), Hypothesis(("w3",), 0.0)))]
    plain, shared = (next(rescore(model, lists, RescoreOptions(unknown_penalty=penalty))) for penalty in (0.0, None))
    assert plain.lm_scores[0] - shared.lm_scores[0] == pytest.approx(math.log(len(model.predictor_.vocabulary)))
    assert plain.lm_scores[1] == shared.lm_scores[1]


def test_words_are_looked_up_in_lower_case_if_the_model_was_fitted_so():
    lists = [Utterance("a", (Hypothesis(("W3", "W4"), 0.0), Hypothesis(("w3", "w4"), 0.0)))]
    one, other = next(rescore(toy_model(lowercase=True), lists)).lm_scores
    assert one == other
    one, other = next(rescore(toy_model(), lists)).lm_scores
    assert one != other


def test_what_was_said_before_is_remembered_and_not_changed():
    model = toy_model()
    lists = [Utterance(name, (Hypothesis(("w5",), 0.0),)) for name in ("a", "b")]
    memory = model.memory()
    model.score(_text("w5", "w5", "w5"), memory)
    fresh, after = (
        list(rescore(model, lists, RescoreOptions(reset="utterance"), memory=start)) for start in (None, memory)
    )
    assert after[0].lm_scores != fresh[0].lm_scores
    assert after[0].lm_scores == after[1].lm_scores
    assert memory.caches.totals[0] == 3


def _text(*words):
    from cepts.data import Text

    return Text.from_tokens([words])


def rescored(*lists):
    """Utterances of hypotheses, each as its words, its score, and its total."""
    return [
        Rescored(
            Utterance(
                str(number),
                tuple(Hypothesis(tuple(text.split()), score) for text, score, _ in hypotheses),
                tuple(reference.split()) if reference is not None else None,
            ),
            [0.0] * len(hypotheses),
            [total for _, _, total in hypotheses],
        )
        for number, (reference, *hypotheses) in enumerate(lists)
    ]


def test_errors_before_after_and_at_best():
    found = rescored(
        ("a b c", ("a x c", 2, 1), ("a b c", 1, 2), ("x x x", 0, 0)),
        ("d e", ("d x", 3, 9), ("x x", 1, 3), ("d e f", 2, 8)),
    )
    errors = list_errors(found, name="toy")
    assert [one.errors for one in errors] == [2, 1, 1]
    assert errors.after.wer == pytest.approx(100 / 5)
    assert "task:toy" in errors.after.signature


def test_references_of_a_file_come_first_and_must_be_whole():
    found = rescored((None, ("a", 0, 0)), ("x", ("b", 0, 0)))
    assert list_errors(found, {"0": ("a",), "1": ("b",)}).after.errors == 0
    assert list_errors(rescored((None, ("a", 0, 0)))) is None
    with pytest.raises(DataError, match="no reference for the utterance '0', wanted one for each of 2 utterances"):
        list_errors(found)


def test_the_recognisers_own_choice_has_its_own_language_model():
    hypotheses = (Hypothesis(("a",), 2.0, -5.0), Hypothesis(("b",), 1.0, -1.0))
    assert own_choice(Utterance("u", hypotheses)) == 1
    assert own_choice(Utterance("u", tuple(Hypothesis(h.tokens, h.score) for h in hypotheses))) == 0


def hard_lists(model, count=12):
    """Lists whose right hypotheses have lower scores, but are more probable under the model."""
    random = np.random.default_rng(0)
    lists = []
    for number in range(count):
        words = [tuple(random.choice([f"w{n}" for n in range(9)], 4)) for _ in range(4)]
        empty = Utterance(str(number), tuple(Hypothesis(tokens, 0.0) for tokens in words))
        probable = next(rescore(model, [empty])).best
        scores = [random.normal() - 0.5 * (place == probable) for place in range(4)]
        hypotheses = tuple(Hypothesis(tokens, score) for tokens, score in zip(words, scores, strict=True))
        lists.append(Utterance(str(number), hypotheses, words[probable]))
    return lists


def test_tuning_finds_weights_with_fewer_errors_than_none():
    model = toy_model(caches=(), hidden=False, exponent=0.0)
    lists = hard_lists(model)
    options, tuned = tune_weights(model, lists)
    errors = list_errors(tuned)
    assert errors.after.errors < errors.before.errors
    assert options.weight > 0
    again = list(rescore(model, lists, options))
    assert list_errors(again).after.errors == errors.after.errors
    plain = list(rescore(model, lists))
    assert errors.after.errors <= list_errors(plain).after.errors


def test_tuning_needs_references_and_resets_have_names():
    model = toy_model()
    lists = [Utterance("a", (Hypothesis(("w3",), 0.0),))]
    with pytest.raises(UsageError, match="`references`"):
        tune_weights(model, lists)
    with pytest.raises(UsageError, match="never, talk, utterance"):
        RescoreOptions(reset="sometimes")


def test_the_recognisers_own_language_model_may_have_a_say():
    model = toy_model(2)
    hypotheses = (Hypothesis(("w1",), -1.0, -5.0), Hypothesis(("w2",), -1.0, -2.0))
    alone, joined = (
        next(rescore(model, [Utterance("u", hypotheses)], RescoreOptions(weight=0.3, own_weight=own))).totals
        for own in (0.0, 0.5)
    )
    assert np.subtract(joined, alone).tolist() == pytest.approx([-2.5, -1.0])
    bare = Utterance("u7", (Hypothesis(("w1",), -1.0),))
    with pytest.raises(DataError, match=r"'u7', hypothesis 1: found no score of the recogniser's own"):
        list(rescore(model, [bare], RescoreOptions(own_weight=0.5)))
