"""LSA predicts words by the projection of the history, as in eq. (1) of nmf_lm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_export
import oracles_lm as oracles
import oracles_ngrams
from cepts.data import Text
from cepts.errors import UsageError
from cepts.lm import AdaptedModel, HistoryOptions, ProjectedWords
from cepts.lm import projection as projection_module
from cepts.lm.counts import document_counts, window_counts
from cepts.lm.export import static_ngrams
from cepts.lm.factorise import HiddenOptions, fit_hidden_documents
from toy_lm import toy_documents, toy_predictor, toy_projected

ROWS = st.lists(st.integers(-1, 5), max_size=12).map(lambda rows: np.array(rows, dtype=np.int32))
OPTIONS = st.one_of(
    st.builds(HistoryOptions, history=st.integers(1, 5)), st.builds(HistoryOptions, decay=st.sampled_from([1.0, 0.7]))
)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 99), OPTIONS, ROWS, st.integers(0, 12), st.sampled_from([2, 256]))
def test_words_have_the_projection_of_the_history(seed, options, rows, cut, block):
    model = toy_projected(np.random.default_rng(seed), range(6))
    vectors, marginals = model.words.astype(np.float64), model.marginals.astype(np.float64)
    tracker = model.tracker(options)
    first = tracker.follow(rows[:cut])
    tracker.copy().follow(np.array([3, 1], dtype=np.int32))  # what a copy reads does not change the first
    states = np.vstack([first, tracker.follow(rows[cut:])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection_module, "BLOCK", block)
        found = model.probs(rows, states)
    for place in range(len(rows)):
        told = oracles.weighted_words(rows[:place].tolist(), options)
        want = oracles.projected(told, vectors, marginals)
        np.testing.assert_allclose(model.distribution(states[place]), want, rtol=1e-3, atol=1e-5)
        own = want[rows[place]] if rows[place] >= 0 else 0.0
        np.testing.assert_allclose(found[place], own, rtol=1e-3, atol=1e-5)


def test_what_is_negative_has_no_probability():
    """A history of the first word alone: its projection onto one vector is positive, negative or 0 for each word."""
    vector = np.array([[0.6], [-0.8], [0.0]], dtype=np.float32)
    model = ProjectedWords(vector, np.full(3, 1 / 3, np.float32), np.arange(3, dtype=np.int32))
    states = model.tracker(HistoryOptions(history=2)).follow(np.array([0, 1, 1, 2], dtype=np.int32))
    np.testing.assert_allclose(model.distribution(states[0]), 1 / 3, rtol=1e-6)  # nothing was said yet
    np.testing.assert_allclose(model.distribution(states[1]), [1, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(model.distribution(states[3]), [0, 1, 0], rtol=1e-6)


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_vectors_are_those_of_the_counts(segmentation):
    documents = toy_documents(documents=30)
    content = np.array([word[0] == "s" for word in documents.text.vocabulary.words])
    options = HiddenOptions(segmentation=segmentation, window=7, factorisation="svd")
    model = fit_hidden_documents([(documents, 1.0)], content, 3, options)
    count = document_counts if segmentation == "explicit" else window_counts
    how = {} if segmentation == "explicit" else {"window": 7, "stop_first": True}
    matrix = count(documents, content, **how).toarray()[model.numbers]
    matrix = matrix if segmentation == "explicit" else matrix[:, model.numbers]
    words = np.linalg.svd(matrix.astype(np.float64))[0][:, :3]
    np.testing.assert_allclose(model.words @ model.words.T, words @ words.T, atol=1e-4)
    counts = np.bincount(documents.text.ids, minlength=len(content))[model.numbers]
    np.testing.assert_allclose(model.marginals, counts / counts.sum(), rtol=1e-5)


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_a_model_of_projections_is_better_than_its_ngrams(segmentation, tmp_path):
    options = {"factorisation": "svd", "segmentation": segmentation, "hidden": 3, "window": 5, "caches": ()}
    model = AdaptedModel(order=2, stop=("the", "of", "and", "is"), history=8, **options).fit(toy_documents(0))
    assert model.predictor_.components == ("ngram", "hidden")
    before, after = model.record_.held_out_perplexity
    assert after < 0.97 * before
    model.save(tmp_path / "model")
    again = AdaptedModel.load(tmp_path / "model")
    assert isinstance(again.predictor_.hidden, ProjectedWords)
    assert again.perplexity(toy_documents(1, 5)) == model.perplexity(toy_documents(1, 5))
    with pytest.raises(UsageError, match="fitted with `factorisation` svd"):
        model.estimated_priors(toy_documents(1, 5))


@pytest.mark.parametrize("mixture", ["class", "literal"])
def test_a_static_model_has_the_same_probabilities(mixture):
    model = toy_predictor(4, projected=True, mixture=mixture)
    memory = model.memory()
    model.score(Text.from_tokens([["w3", "w4", "w5"], ["w5", "w3"]]), memory)
    static = static_ngrams(model, memory)
    want = oracles_export.static_probs(model, memory)
    got = oracles_ngrams.Dictionary(static)
    assert set(got.probs) == set(want)
    np.testing.assert_allclose([got.probs[gram] for gram in want], list(want.values()), rtol=2e-5, atol=1e-9)


def test_projections_cannot_rescale():
    with pytest.raises(UsageError, match="`rescaling` needs hidden documents, but `factorisation` is svd"):
        AdaptedModel(factorisation="svd", rescaling=True)
    with pytest.raises(UsageError, match="`posterior` is for hidden documents"):
        AdaptedModel(factorisation="svd", history=5, posterior="product")
    model = toy_predictor(projected=True)
    with pytest.raises(ValueError, match="rescaling needs hidden documents"):
        type(model)(model.background, model.content, model.hidden, model.weights, exponent=0.5)
