from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracles_export as oracles
import oracles_ngrams
from cepts.data import Text
from cepts.errors import UsageError
from cepts.io import read_arpa, read_documents, write_arpa
from cepts.kernels.export import fill_backoffs
from cepts.kernels.ngrams import weighted_masses
from cepts.lm import AdaptedModel, Background, BackoffModel, KenLMModel, KneserNey, Predictor
from cepts.lm.export import static_ngrams

TESTS = Path(__file__).parents[1]
SAMPLE = TESTS.parent / "examples" / "lm"

SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "<unk>"]), max_size=6), min_size=1, max_size=6)
MODELS = st.builds(
    oracles.random_model,
    st.lists(SENTENCES, min_size=2, max_size=2),
    st.tuples(st.integers(1, 3), st.integers(1, 4)),
    mixture=st.sampled_from(["class", "literal"]),
    hidden=st.sampled_from([0, 3]),
    exponent=st.sampled_from([0.0, 0.7]),
    seed=st.integers(0, 99),
)


def sums_of(ngrams):
    """Sum of P(word | context) over all words, for every context."""
    return BackoffModel(ngrams).masses(np.ones(len(ngrams.vocabulary), dtype=bool))


@settings(deadline=None, max_examples=60)
@given(MODELS, SENTENCES, st.booleans())
def test_static_models_have_the_adapted_probabilities_and_sum_to_one(model, history, remembering):
    assume(model.content.any())  # else the literal mixture itself does not sum to 1 while a cache is empty
    memory = model.memory()
    if remembering:
        model.score(Text.from_tokens(history), memory)
    static = static_ngrams(model, memory)
    oracles_ngrams.check_form(static)
    want = oracles.static_probs(model, memory)
    got = oracles_ngrams.Dictionary(static)
    assert set(got.probs) == set(want)
    np.testing.assert_allclose([got.probs[gram] for gram in want], list(want.values()), rtol=2e-5, atol=1e-9)
    for context, backoff in oracles.static_backoffs(want).items():
        if backoff is not None and backoff > 1e-4:
            assert got.backoffs[context] == pytest.approx(backoff, rel=1e-2)
    np.testing.assert_allclose(sums_of(static), 1, atol=1e-5)
    for gram in got.grams[: static.levels[-2]]:
        assert abs(got.distribution(gram).sum() - 1) < 1e-5


@settings(deadline=None, max_examples=30)
@given(SENTENCES, st.integers(1, 4), st.integers(0, 99))
def test_masses_with_factors_are_sums_over_words(sentences, order, seed):
    ngrams = KneserNey(order=order).fit(Text.from_tokens(sentences)).ngrams_
    factors = np.random.default_rng(seed).random(len(ngrams.vocabulary)).astype(np.float32)
    masses = np.empty(ngrams.levels[-2] + 1)
    model = BackoffModel(ngrams)
    weighted_masses(model.trie, factors, masses)
    want = [model.distribution(context) @ factors for context in (*range(len(masses) - 1), -1)]
    np.testing.assert_allclose(masses, want, rtol=1e-6)


def test_without_adaptation_the_interpolation_comes_back():
    texts = [oracles_ngrams.random_text(seed) for seed in (1, 2)]
    sentences = [[text[n] for n in range(len(text))] for text in texts]
    model = oracles.random_model(sentences, (3, 2), mixture="class", hidden=0, caches=(), seed=3)
    assert model.components == ("ngram",)
    static = static_ngrams(model, model.memory())
    background = model.background
    for gram, prob in zip(oracles_ngrams.grams_of(static), static.probs.tolist(), strict=True):
        contexts = (-1, -1)
        for word in gram[:-1]:
            contexts = background.advance(contexts, word)[1]
        assert prob == pytest.approx(background.advance(contexts, gram[-1])[0], rel=1e-5, abs=1e-12)


def test_one_model_alone_comes_back_whole():
    text = oracles_ngrams.random_text(5)
    model = oracles.random_model([[text[n] for n in range(len(text))]], (3,), hidden=0, caches=())
    static, want = static_ngrams(model, model.memory()), model.background.models[0]
    for name in ("levels", "words", "first", "suffixes"):
        np.testing.assert_array_equal(getattr(static, name), getattr(want, name))
    np.testing.assert_allclose(static.probs, want.probs, rtol=1e-5)
    np.testing.assert_allclose(static.backoffs, want.backoffs, rtol=2e-3)


def test_a_background_that_does_not_sum_to_one_is_mended():
    text = oracles_ngrams.random_text(6)
    model = oracles.random_model([[text[n] for n in range(len(text))]], (3,))
    model.background.models[0].probs[:] *= np.float32(0.8)
    static = static_ngrams(model, model.memory())
    np.testing.assert_allclose(sums_of(static), 1, atol=1e-5)


# A trie of three words after the context of one: continuations 3 and 4 of entry 0, whose suffixes are 1 and 2.
@pytest.mark.parametrize(
    ("unigrams", "own", "want_own", "want_backoff"),
    [
        ((0.5, 0.25, 0.25), (0.4, 0.2), (0.4, 0.2), 0.4 / 0.5),
        ((0.5, 0.25, 0.25), (0.75, 0.25), (0.75, 0.25), 2e-6),  # nothing left, but there are other words
        ((0.5, 0.25, 0.25), (0.9, 0.3), (0.75, 0.25), 2e-6),  # more than there is
        ((0.0, 0.5, 0.5), (0.3, 0.6), (1 / 3, 2 / 3), 1),  # no other words
        ((0.0, 0.5, 0.5), (0.0, 0.0), (0.0, 0.0), 1),  # nothing to be scaled
    ],
)
def test_weights_of_backing_off_where_little_is_left(unigrams, own, want_own, want_backoff):
    first, suffixes = np.array([3, 5, 5, 5, 5, 5]), np.array([-1, -1, -1, 1, 2])
    probs, backoffs = np.array([*unigrams, *own], dtype=np.float32), np.full(3, np.nan, dtype=np.float32)
    fill_backoffs(first, suffixes, 1e-6, probs, backoffs)
    np.testing.assert_allclose(probs[3:], want_own, rtol=2e-6)
    np.testing.assert_allclose(backoffs, [want_backoff, 1, 1], rtol=1e-5)


def test_a_binary_in_the_background_is_refused():
    pytest.importorskip("kenlm")
    binary = KenLMModel(TESTS / "golden" / "lm" / "tiny.probing")
    content = np.zeros(len(binary.vocabulary), dtype=bool)
    model = Predictor(Background([binary], binary.vocabulary, content), content, None, np.ones(1))
    with pytest.raises(UsageError, match=r"tiny\.probing, a KenLM binary.*ARPA file"):
        static_ngrams(model, model.memory())


@pytest.fixture(scope="module")
def sample():
    """A model of the sample, and the two halves of the test text."""
    documents, held_out = (read_documents(SAMPLE / name) for name in ("biology.txt", "biology.dev.txt"))
    model = AdaptedModel(hidden=40, iterations=20, threads=1).fit(documents, dev=held_out)
    test = read_documents(SAMPLE / "biology.test.txt").text
    half = len(test) // 2
    return model, test.part(0, half), test.part(half, len(test))


def test_half_a_document_helps_with_the_other_half(sample, tmp_path):
    model, before, after = sample
    memory = model.memory()
    model.score(before, memory)
    static = model.static_ngrams(memory)
    np.testing.assert_allclose(sums_of(static), 1, atol=1e-5)

    scored = model.score(after, memory.copy())
    known = scored.known
    predictor = model.predictor_
    background, adapting = (np.log(probs[known]).mean() for probs in (scored.probs, predictor.mixed(scored)))
    frozen = BackoffModel(static).log_probs(after)[known].mean()
    assert background + 0.02 < frozen < adapting

    unadapted = BackoffModel(static_ngrams(replace(predictor, weights=np.eye(len(predictor.weights))[0]), memory))
    assert unadapted.log_probs(after)[known].mean() == pytest.approx(background, abs=0.02)


def test_decoders_read_what_is_written(sample, tmp_path):
    model, before, after = sample
    memory = model.memory()
    model.score(before, memory)
    static = model.static_ngrams(memory)
    path = tmp_path / "static.arpa"
    write_arpa(static, path)
    want = BackoffModel(static).log_probs(after)
    np.testing.assert_allclose(BackoffModel(read_arpa(path)).log_probs(after), want, rtol=1e-5)

    kenlm = pytest.importorskip("kenlm")
    theirs = kenlm.Model(str(path))
    scores = [score for n in range(len(after)) for score, _, _ in theirs.full_scores(" ".join(after[n]))]
    np.testing.assert_allclose(np.array(scores) * np.log(10), want, rtol=1e-4)
