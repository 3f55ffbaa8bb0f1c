from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_ngrams as oracles
from cepts.data import Text, Vocabulary
from cepts.errors import DataError
from cepts.lm.backoff import BackoffModel, from_arrays, joined_vocabulary, to_arrays, with_vocabulary
from cepts.lm.kneser_ney import KneserNey
from cepts.store import load_model, save_model

SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "<unk>"]), max_size=6), min_size=1, max_size=8)
TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "new", "<unk>"]), max_size=6), max_size=4)


@settings(deadline=None, max_examples=50)
@given(SENTENCES, TEXTS, st.integers(1, 4))
def test_texts_are_scored_as_the_dictionary_says(sentences, texts, order):
    ngrams = KneserNey(order=order).fit(Text.from_tokens(sentences)).ngrams_
    model, want = BackoffModel(ngrams), oracles.Dictionary(ngrams)
    assert model.start == (1 if want.shortened([1]) else -1)
    scores, steps = [], []
    for sentence in texts:
        history = [1]
        context = model.start
        for word in (*(max(ngrams.vocabulary.number(word), 0) for word in sentence), 2):
            scores.append(np.log(want.prob(word, want.shortened(history))))
            prob, context = model.advance(context, word)
            steps.append(np.log(prob))
            history.append(word)
            assert (want.grams[context] if context >= 0 else ()) == want.shortened(history)
    np.testing.assert_allclose(model.log_probs(Text.from_tokens(texts)), scores, rtol=1e-9)
    np.testing.assert_allclose(steps, scores, rtol=1e-9)


@settings(deadline=None, max_examples=50)
@given(SENTENCES, st.integers(1, 4), st.integers(0, 2**10 - 1))
def test_distributions_and_masses_are_sums_over_words(sentences, order, chosen):
    ngrams = KneserNey(order=order).fit(Text.from_tokens(sentences)).ngrams_
    model, want = BackoffModel(ngrams), oracles.Dictionary(ngrams)
    members = np.array([chosen >> word & 1 for word in range(len(ngrams.vocabulary))], dtype=bool)
    masses = model.masses(members)
    assert len(masses) == ngrams.levels[-2] + 1
    for context in range(-1, len(masses) - 1):
        distribution = want.distribution(want.grams[context] if context >= 0 else ())
        np.testing.assert_allclose(model.distribution(context), distribution, rtol=1e-9)
        np.testing.assert_allclose(masses[context], distribution[members].sum(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.masses(np.ones(len(members), dtype=bool)), 1, rtol=1e-6)


@settings(deadline=None, max_examples=50)
@given(SENTENCES, st.integers(1, 4), st.permutations(["a", "b", "c", "x", "y"]))
def test_a_larger_vocabulary_changes_only_the_unknown_word(sentences, order, words):
    ngrams = KneserNey(order=order).fit(Text.from_tokens(sentences)).ngrams_
    wider = with_vocabulary(ngrams, joined_vocabulary(Vocabulary.from_words(words)))
    oracles.check_form(wider)
    new = wider.vocabulary.numbers(ngrams.vocabulary.words)
    lacking = np.setdiff1d(np.arange(len(wider.vocabulary)), new)
    before, after = oracles.Dictionary(ngrams), oracles.Dictionary(wider)
    for gram in before.grams[: ngrams.levels[-2]]:
        got = after.distribution(tuple(new[list(gram)].tolist()))
        want = before.distribution(gram)
        assert abs(got.sum() - 1) < 1e-6
        np.testing.assert_allclose(got[new][1:], want[1:], rtol=1e-6)
        np.testing.assert_allclose(got[0] + got[lacking].sum(), want[0], rtol=2e-6)
    shares = wider.probs[np.append(lacking, 0)]
    np.testing.assert_allclose(shares, ngrams.probs[0] / len(shares), rtol=1e-6)


def test_a_vocabulary_that_lacks_words_of_the_model_is_refused():
    ngrams = KneserNey().fit(Text.from_tokens([["a", "b"]])).ngrams_
    with pytest.raises(ValueError, match="contain all words"):
        with_vocabulary(ngrams, joined_vocabulary(Vocabulary.from_words(["a"])))
    with pytest.raises(ValueError, match="start with SPECIAL"):
        with_vocabulary(ngrams, Vocabulary.from_words(["a", "b", "<unk>", "<s>", "</s>"]))


def test_vocabularies_are_joined_in_order():
    text = Text.from_tokens([["b", "a"], ["<unk>"]])
    ngrams = KneserNey().fit(Text.from_tokens([["c", "a"]])).ngrams_
    words = joined_vocabulary(text, ngrams, Vocabulary.from_words(["d", "c"])).words
    assert words == ["<unk>", "<s>", "</s>", "b", "a", "c", "d"]


def test_marks_in_a_text_to_be_scored_are_refused():
    model = BackoffModel(KneserNey().fit(Text.from_tokens([["a", "b"]])).ngrams_)
    with pytest.raises(DataError, match=r"sentence 1: found the word </s>"):
        model.log_probs(Text.from_tokens([["a", "</s>"]]))


def test_a_model_directory_gives_the_model_back(tmp_path):
    ngrams = KneserNey(order=3).fit(oracles.random_text(1)).ngrams_
    save_model(tmp_path / "model", kind="ngrams", settings={}, arrays=to_arrays(ngrams))
    again = from_arrays(load_model(tmp_path / "model", kind="ngrams").arrays)
    assert again.vocabulary.words == ngrams.vocabulary.words
    for name in ("levels", "words", "probs", "backoffs", "first", "suffixes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ngrams, name))
    oracles.check_form(again)
