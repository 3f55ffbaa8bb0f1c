from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_ngrams as oracles
from cepts.data import Text, Vocabulary
from cepts.errors import DataError
from cepts.io import read_text
from cepts.io.arpa import read_arpa
from cepts.lm.backoff import BackoffModel, joined_vocabulary, with_vocabulary
from cepts.lm.kneser_ney import KneserNey

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "é", "<unk>"]), max_size=6), min_size=1, max_size=12)


def agree(ngrams, sentences):
    """Hold every distribution of a model against the formulas."""
    words = ngrams.vocabulary.words
    want = oracles.KneserNey(sentences, ngrams.order, words)
    model = BackoffModel(ngrams)
    grams = oracles.grams_of(ngrams)
    for context in range(-1, int(ngrams.levels[-2])):
        gram = [words[word] for word in grams[context]] if context >= 0 else []
        got = model.distribution(context)
        np.testing.assert_allclose(got, [want.prob(word, gram) for word in words], rtol=5e-7, atol=1e-9)
        assert abs(got.sum() - 1) < 1e-6


@settings(deadline=None, max_examples=60)
@given(SENTENCES, st.integers(1, 4))
def test_small_texts_agree_with_the_formulas(sentences, order):
    ngrams = KneserNey(order=order).fit(Text.from_tokens(sentences)).ngrams_
    oracles.check_form(ngrams)
    agree(ngrams, sentences)


@pytest.mark.parametrize("order", [2, 3])
def test_estimated_discounts_agree_with_the_formulas(order):
    text = oracles.random_text(3, sentences=120, words=25)
    notices = []
    ngrams = KneserNey(order=order).fit(text, notices=notices).ngrams_
    assert notices == []  # of fallback discounts
    agree(ngrams, [text[n] for n in range(len(text))])


def test_lmplz_trains_the_same_model():
    """`lmplz.arpa` was made by ``lmplz --discount_fallback -o 3``; the unigrams' discounts are the fallback."""
    want = read_arpa(GOLDEN / "lmplz.arpa")
    notices = []
    got = KneserNey(order=3).fit(read_text(GOLDEN / "lmplz.txt"), notices=notices).ngrams_
    assert len(notices) == 1
    assert "1-grams" in notices[0]
    want = with_vocabulary(want, got.vocabulary)
    for name in ("levels", "words", "first", "suffixes"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    np.testing.assert_allclose(got.probs, want.probs, rtol=1e-6)
    np.testing.assert_allclose(got.backoffs, want.backoffs, rtol=1e-6)


def test_rare_words_become_unknown():
    sentences = [["a", "b", "a"], ["a", "c"], ["b"]]
    ngrams = KneserNey(order=2, min_count=2).fit(Text.from_tokens(sentences)).ngrams_
    assert ngrams.vocabulary.words == ["<unk>", "<s>", "</s>", "a", "b"]
    agree(ngrams, [["a", "b", "a"], ["a", "<unk>"], ["b"]])
    vocabulary = joined_vocabulary(Vocabulary.from_words(["a", "b", "c"]))
    wider = KneserNey(order=2, min_count=2).fit(Text.from_tokens(sentences), vocabulary=vocabulary).ngrams_
    agree(wider, [["a", "b", "a"], ["a", "<unk>"], ["b"]])


def test_a_wider_vocabulary_shares_the_mass_of_the_unknown_word():
    text = Text.from_tokens([["a", "b", "a"], ["a", "c"]])
    vocabulary = joined_vocabulary(Vocabulary.from_words(["x", "a", "y", "b"]))
    ngrams = KneserNey(order=2).fit(text, vocabulary=vocabulary).ngrams_
    assert ngrams.vocabulary is vocabulary
    agree(ngrams, [["a", "b", "a"], ["a", "<unk>"]])
    probs = dict(zip(vocabulary.words, ngrams.probs[: len(vocabulary)].tolist(), strict=True))
    assert probs["x"] == probs["y"] > 0
    assert probs["<unk>"] > probs["x"]  # the text has it, as c
    ngrams = KneserNey(order=2).fit(Text.from_tokens([["a", "b"]]), vocabulary=vocabulary).ngrams_
    assert ngrams.probs[0] == ngrams.probs[vocabulary.number("x")]


def test_a_vocabulary_starts_with_the_special_words():
    with pytest.raises(ValueError, match="first words"):
        KneserNey().fit(Text.from_tokens([["a"]]), vocabulary=Vocabulary.from_words(["a", "b", "c"]))


@pytest.mark.parametrize("word", ["<s>", "</s>"])
def test_marks_are_no_words(word):
    with pytest.raises(DataError, match=f"^sentence 2: found the word {word}, wanted"):
        KneserNey().fit(Text.from_tokens([["a"], ["a", word]]))


def test_a_text_without_sentences_is_refused():
    with pytest.raises(DataError, match="no sentences"):
        KneserNey().fit(Text.from_tokens([]))


@pytest.mark.parametrize("options", [{"order": 0}, {"fallback": (0.5, 1)}, {"fallback": (0, 1, 1)}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        KneserNey(**options).fit(Text.from_tokens([["a"]]))


def test_progress_is_reported_for_each_shard_and_range():
    steps = []
    KneserNey(order=3).fit(Text.from_tokens([["a", "b"]]), progress=steps.append)
    found = [(step.stage, step.done, step.total) for step in steps]
    assert found == [("counting n-grams", 1, 1), ("adding n-grams", 1, 1)]
