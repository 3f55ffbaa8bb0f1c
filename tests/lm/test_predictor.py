from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.data import END, UNKNOWN, Text, Vocabulary
from cepts.errors import DataError, UsageError
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.history import HistoryOptions
from cepts.lm.predictor import Predictor, components_of
from toy_lm import CACHES, numbered, predictors, texts, toy_hidden, toy_parts, toy_predictor

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"


def check_places(model, text):
    """Hold `distribution` at each word against `score`, sentence by sentence, and each sum against 1."""
    memory = model.memory()
    whole = model.score(text, model.memory())
    probs = whole.mixed(model.weights, model.mixture)
    filled = 0
    for sentence in numbered(model, text):
        contexts = model.background.start
        for word in (*sentence, END):
            distribution = model.distribution(contexts, memory)
            assert abs(distribution.sum() - 1) < 1e-6
            assert distribution.min() >= 0
            assert whole.ids[filled] == word
            np.testing.assert_allclose(probs[filled], distribution[word], rtol=1e-5, atol=1e-10)
            _, contexts = model.background.advance(contexts, word)
            if word != END:
                memory = model.remembering(memory, np.array([word])[model.remembered[[word]]])
            filled += 1
    assert filled == len(probs)


@settings(deadline=None, max_examples=60)
@given(predictors(), texts)
def test_every_distribution_sums_to_one_and_is_what_the_words_are_scored_by(model, text):
    check_places(model, text)


@settings(deadline=None, max_examples=40)
@given(predictors(), texts)
def test_words_have_the_probabilities_of_the_definitions(model, text):
    found = model.score(text, model.memory()).mixed(model.weights, model.mixture)
    want = [distribution[word] for distribution, word in oracles.Adapted(model).walk(numbered(model, text))]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("mixture", ["class", "literal"])
@pytest.mark.parametrize("backgrounds", [1, 2])
@pytest.mark.parametrize("caches", CACHES)
@pytest.mark.parametrize(("hidden", "exponent"), [(False, 0.0), (True, 0.0), (True, 0.7)])
def test_all_subsets_of_components_sum_to_one(mixture, backgrounds, caches, hidden, exponent):
    model = toy_predictor(7, hidden=hidden, exponent=exponent, caches=caches, mixture=mixture, backgrounds=backgrounds)
    check_places(model, Text.from_tokens([["w3", "w0", "w4", "x0"], ["unknown"], [], ["x1", "w5", "w5", "w1", "w3"]]))


@pytest.mark.parametrize("mixture", ["class", "literal"])
def test_many_words_and_hidden_documents_sum_to_one(mixture):
    random = np.random.default_rng(5)
    background, content = toy_parts(3, order=2)
    vocabulary = joined_vocabulary(Vocabulary.from_words(f"n{number}" for number in range(3000)), background.vocabulary)
    content = np.arange(len(vocabulary)) >= 30
    background = Background([with_vocabulary(background.models[0], vocabulary)], vocabulary, content)
    caches = (Cache(0, 0.98),)
    hidden = toy_hidden(random, range(30, 2900), documents=500)
    parts = components_of(mixture, True, True, caches)
    weights = random.dirichlet(np.ones(len(parts)))
    model = Predictor(background, content, hidden, weights, HistoryOptions(), caches, mixture, 0.8)
    memory = model.memory()
    words = [[vocabulary[number] for number in random.integers(3, len(vocabulary), 12)] for _ in range(20)]
    for sentence in words:
        model.score(Text.from_tokens([sentence]), memory)
        distribution = model.distribution(background.start, memory)
        assert abs(distribution.sum() - 1) < 1e-6
        assert distribution.min() >= 0
    check_places(model, Text.from_tokens(words[:2]))


@pytest.mark.parametrize("mixture", ["class", "literal"])
@pytest.mark.parametrize("name", ["tiny.probing", "tiny.trie"])
def test_a_kenlm_background_sums_to_one(name, mixture):
    pytest.importorskip("kenlm")
    binary = KenLMModel(GOLDEN / name)
    vocabulary = joined_vocabulary(binary.vocabulary, Vocabulary.from_words(["new", "newer"]))
    content = np.array([word[0] in "ncgZK" for word in vocabulary.words])
    background = Background([binary], vocabulary, content), content
    model = toy_predictor(2, background=background, mixture=mixture)
    check_places(
        model, Text.from_tokens([["the", "cell", "new", "genes"], ["unknown", "newer", "cell"], ["der", "Kern"]])
    )


@settings(deadline=None, max_examples=30)
@given(predictors(), texts, st.lists(st.integers(0, 6), min_size=2, max_size=2))
def test_a_text_is_scored_the_same_in_any_pieces(model, text, cuts):
    first, second = sorted(min(cut, len(text)) for cut in cuts)
    memory = model.memory()
    pieces = [model.score(text.part(*ends), memory) for ends in ((0, first), (first, second), (second, len(text)))]
    whole = model.score(text, model.memory())
    for name in ("ids", "probs", "members", "masses", "columns", "content"):
        joined = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_allclose(joined, getattr(whole, name), rtol=1e-6, atol=1e-12)


def test_a_copy_of_the_memory_goes_on_by_itself():
    model = toy_predictor(1)
    text = Text.from_tokens([["w3", "w4", "w5"], ["w3", "x0"]])
    memory = model.memory()
    model.score(text, memory)
    before = model.distribution(model.background.start, memory)
    model.score(text, memory.copy())
    np.testing.assert_array_equal(model.distribution(model.background.start, memory), before)
    model.score(text, memory)
    assert np.abs(model.distribution(model.background.start, memory) - before).max() > 1e-4


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_and_chunks_change_nothing(threads, monkeypatch):
    model = toy_predictor(4)
    words = np.random.default_rng(0).integers(0, 9, (60, 12))
    text = Text.from_tokens([f"w{word}" for word in row] for row in words)
    one = model.score(text, model.memory(), threads=1)
    monkeypatch.setattr("cepts.lm.predictor.SHARD", 32)
    many = model.score(text, model.memory(), threads=threads)
    np.testing.assert_array_equal(one.columns, many.columns)
    monkeypatch.setattr("cepts.lm.predictor.CHUNK", 50)
    chunked = model.score(text, model.memory(), threads=threads)
    np.testing.assert_allclose(one.columns, chunked.columns, rtol=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 99), texts, st.floats(0.01, 0.99))
def test_the_literal_mixture_is_as_printed(seed, text, ngram_weight):
    history = HistoryOptions(history=20, fold_in=1, uninformative=0.0)
    model = toy_predictor(seed, mixture="literal", caches=(), exponent=0.0, history=history)
    model = replace(model, weights=np.array([ngram_weight, 1 - ngram_weight]))
    scored = model.score(text, model.memory())
    words, priors = model.hidden.words.astype(np.float64), model.hidden.priors.astype(np.float64)
    rows = model.rows
    assert [model.hidden.numbers[row] for row in rows if row >= 0] == np.flatnonzero(rows >= 0).tolist()
    history, want = [], []
    for word, ngram in zip(scored.ids.tolist(), scored.probs.tolist(), strict=True):
        told = [row for row in history[-20:] if row >= 0 and words[row].any()]
        weights = oracles.weights_by_the_paper(told, words, priors) if told else priors
        nmf = words[rows[word]] @ weights if rows[word] >= 0 else 0.0
        want.append(ngram_weight * ngram + (1 - ngram_weight) * nmf)  # eq. (17)
        if model.content[word]:
            history.append(rows[word])
    np.testing.assert_allclose(scored.mixed(model.weights, "literal"), want, rtol=1e-5)


def test_function_words_keep_what_the_ngram_gives_them():
    model = toy_predictor(3)
    text = Text.from_tokens([["w0", "w3", "w1", "unknown", "x0"]])
    scored = model.score(text, model.memory())
    probs = scored.mixed(model.weights, model.mixture)
    assert scored.content.tolist() == [False, True, False, False, True, False]
    assert scored.known.tolist() == [True, True, True, False, True, True]
    np.testing.assert_array_equal(probs[~scored.content], scored.probs[~scored.content])
    assert scored.ids[3] == UNKNOWN
    assert not scored.columns[~scored.content].any()


def test_an_empty_text_has_no_places():
    model = toy_predictor()
    scored = model.score(Text.from_tokens([]), model.memory())
    assert scored.columns.shape == (0, len(model.components))
    assert len(scored.mixed(model.weights, model.mixture)) == 0


def test_components_are_named():
    caches = (Cache(0, 0.98), Cache(500))
    assert components_of("class", True, True, caches) == ("ngram", "rescaled", "hidden", "cache 0.98", "cache 500")
    assert components_of("literal", True, True, ()) == ("ngram", "hidden")
    assert components_of("class", False, True, ()) == ("ngram",)


def test_other_components_need_other_weights():
    model = toy_predictor(5)
    for changes in ({"exponent": 0.0}, {"caches": ()}, {"hidden": None}, {"mixture": "literal"}, {"caches": CACHES[1]}):
        with pytest.raises(ValueError, match="`weights` must have one for each"):
            replace(model, **changes)


def test_what_does_not_fit_together_is_refused():
    model = toy_predictor()
    with pytest.raises(UsageError, match="`mixture` must be one of class, literal"):
        toy_predictor(mixture="none")
    for exponent in (-0.5, 4.5, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="`exponent` must be 0 to 4"):
            replace(model, exponent=exponent)
    with pytest.raises(ValueError, match="`weights` must have one for each"):
        replace(model, weights=np.ones(1))
    with pytest.raises(DataError, match="found the word <s>"):
        model.score(Text.from_tokens([["<s>"]]), model.memory())
