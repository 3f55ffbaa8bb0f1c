from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.data import END, Text, Vocabulary
from cepts.io.arpa import read_arpa
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary, with_vocabulary
from cepts.lm.binary import KenLMModel
from toy_lm import numbered, texts, toy_parts, toy_predictor

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"


def check(background, content, text, distributions):
    """Hold all that a background says of a text's places against the distributions there."""
    trace = background.trace(text.ids, text.offsets)
    targets = np.insert(text.ids, text.offsets[1:], np.int32(END))
    places = np.arange(len(targets))
    factors = np.random.default_rng(1).gamma(1, size=(len(places), len(content))).astype(np.float32)
    masses, factored = background.masses(trace.at(places)), background.factored(trace.at(places), factors)
    contexts, filled = background.start, 0
    for sentence in range(len(text)):
        contexts = background.start
        for word in (*text.ids[text.offsets[sentence] : text.offsets[sentence + 1]].tolist(), END):
            want = distributions[filled]
            found = background.distribution(contexts)
            np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-12)
            assert abs(found.sum() - 1) < 1e-6
            single = [[context] for context in contexts]
            np.testing.assert_allclose(background.masses(single)[0], want[content].sum(), rtol=1e-6)
            np.testing.assert_allclose(masses[filled], want[content].sum(), rtol=1e-6)
            np.testing.assert_allclose(factored[filled], want @ factors[filled], rtol=3e-6)
            one = background.factored(single, factors[filled : filled + 1])[0]
            np.testing.assert_allclose(one, want @ factors[filled], rtol=3e-6)
            prob, contexts = background.advance(contexts, word)
            np.testing.assert_allclose([prob, trace.probs[filled]], want[word], rtol=1e-6)
            filled += 1
    assert filled == len(targets)
    np.testing.assert_allclose(trace.members @ background.weights, trace.probs, rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 99), st.integers(1, 3), st.integers(1, 4), st.booleans(), texts)
def test_an_interpolation_is_the_weighted_sum_of_its_models(seed, count, order, interpolated, text):
    background, content = toy_parts(seed, count, order, interpolated)
    oracle = oracles.Adapted(toy_predictor(seed, background=(background, content)))
    sentences = numbered(oracle.model, text)
    want = [oracle.background(sentence[:place]) for sentence in sentences for place in range(len(sentence) + 1)]
    ids = np.array([word for sentence in sentences for word in sentence], dtype=np.int32)
    check(background, content, Text(ids, text.offsets, background.vocabulary), want)


@pytest.mark.parametrize("name", ["tiny.probing", "tiny.trie", "tiny.no-unknown"])
def test_a_kenlm_binary_is_its_arpa_file_over_a_larger_vocabulary(name):
    pytest.importorskip("kenlm")
    binary, arpa = KenLMModel(GOLDEN / name), read_arpa(GOLDEN / "tiny.arpa")
    vocabulary = joined_vocabulary(Vocabulary.from_words(["new", "cell"]), binary.vocabulary)
    content = np.array([word[0] in "ncgZK" for word in vocabulary.words])
    sentences = [["the", "new", "cell", "holds", "genes"], ["größer", "<unk>", "Kern"], []]
    text = Text.from_tokens(sentences)
    text = Text(vocabulary.numbers(text.vocabulary.words)[text.ids], text.offsets, vocabulary)
    background = Background([binary], vocabulary, content)
    twin = Background([with_vocabulary(arpa, vocabulary)], vocabulary, content)
    want = []
    for sentence in range(len(text)):
        contexts = twin.start
        ids = text.ids[text.offsets[sentence] : text.offsets[sentence + 1]].tolist()
        for word in (*ids, END):
            want.append(twin.distribution(contexts))
            _, contexts = twin.advance(contexts, word)
    if name == "tiny.no-unknown":  # which gives unknown words nothing: the ARPA file without that word's share
        start = background.distribution(background.start)
        assert abs(start.sum() - 1) < 0.05
        assert start[[0, vocabulary.number("new")]].max() < 1e-50
        return
    check(background, content, text, want)
    mixed = Background([binary, with_vocabulary(arpa, vocabulary)], vocabulary, content, np.array([0.3, 0.7]))
    check(mixed, content, text, want)


def test_models_over_other_vocabularies_are_refused():
    background, content = toy_parts()
    with pytest.raises(ValueError, match="must be over its vocabulary"):
        Background(background.models, joined_vocabulary(Vocabulary.from_words(["a"])), content)


def test_a_binary_with_words_that_the_vocabulary_lacks_is_refused():
    pytest.importorskip("kenlm")
    vocabulary = joined_vocabulary(Vocabulary.from_words(["cell"]))
    with pytest.raises(ValueError, match="has all words of its binaries"):
        Background([KenLMModel(GOLDEN / "tiny.trie")], vocabulary, np.zeros(4, dtype=bool))
