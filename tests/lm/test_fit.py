from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Documents
from cepts.errors import DataError, UsageError
from cepts.lm import fit
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.fit import FitOptions, fit_adapted, held_out_part, in_vocabulary
from cepts.lm.kneser_ney import train_ngrams
from cepts.lm.persist import save_adapted
from oracles_ngrams import random_text
from toy_lm import toy_documents

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
STOP = ("the", "of", "and", "is")
QUICK = FitOptions(order=2, stop=STOP, hidden=3, window=5, iterations=5, exponent=0.5, caches=(Cache(0, 0.9),))


def perplexity(model, documents):
    scored = model.score(in_vocabulary(documents, model.vocabulary).text, model.memory())
    return np.exp(-np.log(scored.mixed(model.weights, model.mixture)[scored.known]).mean())


def check_sums(model):
    memory = model.memory()
    model.score(toy_documents(9, documents=2).text, memory)
    distribution = model.distribution(model.background.start, memory)
    assert abs(distribution.sum() - 1) < 1e-6
    assert distribution.min() >= 0
    assert abs(model.weights.sum() - 1) < 1e-9
    assert abs(model.background.weights.sum() - 1) < 1e-9


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_an_adapted_model_is_better_than_its_ngrams(segmentation):
    test = toy_documents(1, documents=12)
    model = fit_adapted(toy_documents(0), options=replace(QUICK, segmentation=segmentation, exponent=None))
    check_sums(model)
    assert model.components == ("ngram", "rescaled", "hidden", "cache 0.9")
    alone = model.varied(weights=np.array([1.0, 0, 0, 0]))
    assert perplexity(model, test) < 0.95 * perplexity(alone, test)
    assert model.facts["words"] == len(toy_documents(0).text.ids)
    assert model.facts["documents"] == 40
    assert model.facts["held_out_words"] == 2 * 41


@pytest.mark.parametrize(
    "changes",
    [
        {"mixture": "literal", "rescaling": False},
        {"hidden": 0},
        {"hidden": 0, "caches": ()},
        {"exponent": 0.0},
        {"order": 1},
        {"stop": None},
        {"rescaling": False, "caches": (Cache(5), Cache())},
    ],
)
def test_every_kind_of_model_can_be_fitted(changes):
    check_sums(fit_adapted(toy_documents(0, documents=25), options=replace(QUICK, **changes)))


@pytest.mark.parametrize("held_out", [None, toy_documents(3, documents=3)])
def test_the_same_bytes_for_any_number_of_threads(tmp_path, held_out):
    others = toy_documents(5, documents=10)
    for threads in (1, 2):
        model = fit_adapted(
            toy_documents(0),
            backgrounds=[others],
            held_out=held_out,
            options=replace(QUICK, exponent=None),
            seed=3,
            threads=threads,
        )
        save_adapted(model, tmp_path / str(threads))
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    other = fit_adapted(
        toy_documents(0), backgrounds=[others], held_out=held_out, options=replace(QUICK, exponent=None), seed=4
    )
    assert not np.array_equal(other.hidden.words, model.hidden.words)


@pytest.mark.parametrize("documents", [toy_documents(0, documents=40), toy_documents(0, documents=4)])
def test_what_weights_are_tuned_on_is_not_trained_on(monkeypatch, documents):
    tuned, real = [], fit._Fitting.tuned

    def spy(self, model, held_out):
        tuned.append((model, held_out))
        return real(self, model, held_out).varied(exponent=1.25)

    monkeypatch.setattr(fit._Fitting, "tuned", spy)
    options = replace(QUICK, min_count=1, exponent=None)
    whole = fit_adapted(documents, options=options)
    [(model, held_out)] = tuned
    # Each document has a word of its own, by which it is known in a vocabulary.
    words = held_out.text.vocabulary.words
    own = {words[number] for number in np.unique(held_out.text.ids).tolist() if words[number].startswith("only")}
    assert own or len(documents) == 4
    assert not own & set(model.vocabulary.words)
    assert own <= set(whole.vocabulary.words)
    assert model.facts["words"] + len(held_out.text.ids) == len(documents.text.ids) == whole.facts["words"]
    assert 0 < len(held_out.text.ids) < len(documents.text.ids) / 8
    again = real(fit._Fitting(options, (), seed=0, threads=1, notices=None, progress=None), model, held_out)
    np.testing.assert_array_equal(again.weights, whole.weights)
    assert whole.exponent == 1.25  # what tuning has found


def test_backgrounds_of_each_kind_are_interpolated():
    others = toy_documents(5, documents=10)
    ngrams = train_ngrams(random_text(1, words=6), order=2)
    model = fit_adapted(toy_documents(0, documents=25), backgrounds=[ngrams, others], options=QUICK)
    assert len(model.background) == 3
    check_sums(model)
    assert {"w0", "s0w0", "only1"} & set(model.vocabulary.words) == {"w0", "s0w0"}
    # Random words tell nothing of the text, and get little.
    assert model.background.weights[1] < 0.1


def test_a_binary_may_be_a_background():
    pytest.importorskip("kenlm")
    options = replace(QUICK, hidden=0)
    model = fit_adapted(toy_documents(0, documents=20), backgrounds=[KenLMModel(GOLDEN / "tiny.trie")], options=options)
    check_sums(model)
    assert "nucleus" in model.vocabulary.words


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4), max_size=45))
def test_a_part_is_held_out_or_the_text_is_too_short(rows):
    documents = Documents.from_tokens(rows)
    sentences = [sentence for document in rows for sentence in document]
    try:
        part, held_out = held_out_part(documents)
    except DataError as error:
        assert "too short to hold a part of it out" in str(error)
        assert "\n" not in str(error)
        assert len(rows) < 20 and sum(map(bool, sentences)) < 2
        return
    kept = [part.text[n] for n in range(len(part.text))], [held_out.text[n] for n in range(len(held_out.text))]
    assert sorted([*kept[0], *kept[1]]) == sorted(sentences)
    if len(rows) < 20:
        assert any(kept[0])
        assert any(kept[1])
    else:
        assert len(held_out) == sum(number % 20 == 10 for number in range(len(rows)))


def test_of_a_long_document_short_stretches_are_held_out():
    sentences = [["a", "b", "c", "d", "e"]] * 4000
    part, held_out = held_out_part(Documents.from_tokens([sentences]))
    assert len(held_out) == 2
    assert len(held_out.text.ids) == 1000
    assert len(part.text.ids) == 19_000


@pytest.mark.parametrize("rows", [[], [[]], [[[]]], [[["a", "b"]]], [[[], ["a"], []]]])
def test_texts_too_short_to_fit_are_refused(rows):
    with pytest.raises(DataError, match="too short") as caught:
        fit_adapted(Documents.from_tokens(rows), options=QUICK)
    assert "\n" not in str(caught.value)


def test_a_document_of_function_words_only_does_no_harm():
    documents = toy_documents(0, documents=25)
    rows = [
        [documents.text[n] for n in range(*ends)]
        for ends in zip(documents.offsets, documents.offsets[1:], strict=False)
    ]
    rows[3] = [["the", "of", "and"], []]
    rows[5] = []
    for segmentation in ("implicit", "explicit"):
        check_sums(fit_adapted(Documents.from_tokens(rows), options=replace(QUICK, segmentation=segmentation)))


def test_texts_of_function_words_only_are_refused():
    documents = Documents.from_tokens([[["the", "of", "is"], ["and", "the"]]] * 30)
    with pytest.raises(DataError, match="no content words"):
        fit_adapted(documents, options=QUICK)
    with pytest.raises(DataError, match="no content word"):
        fit_adapted(documents, options=replace(QUICK, hidden=0))


def test_a_held_out_text_of_unknown_words_is_refused():
    held_out = Documents.from_tokens([[["who", "knows"]]])
    for changes in ({}, {"mixture": "literal", "rescaling": False, "exponent": None}):
        with pytest.raises(DataError, match="the held-out text has no content word that the model knows"):
            fit_adapted(toy_documents(0), held_out=held_out, options=replace(QUICK, **changes))


def test_more_hidden_documents_than_the_text_can_have_are_refused():
    with pytest.raises(UsageError, match=r"content words, so that 1 to 24 hidden documents .* Got 500 instead"):
        fit_adapted(toy_documents(0), options=replace(QUICK, hidden=500))
    with pytest.raises(UsageError, match=r"in 38 documents with such words"):
        fit_adapted(toy_documents(0), options=replace(QUICK, hidden=39, segmentation="explicit", min_count=1))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"order": 0}, "order must be 1 or more. Got 0"),
        ({"min_count": 0}, "min_count must be 1 or more"),
        ({"background_min_count": -2}, "background_min_count must be 1 or more"),
        ({"hidden": -1}, "hidden must be 0 or more"),
        ({"background_worth": float("nan")}, "background_worth must be 0 or more"),
        ({"background_worth": -1.0}, "background_worth must be 0 or more"),
        ({"mixture": "literal"}, "rescaling works among content words"),
        ({"mixture": "other"}, "mixture must be one of class, literal"),
        ({"segmentation": "other"}, "segmentation must be one of implicit, explicit"),
        ({"window": 4}, "window must be an odd number"),
        ({"iterations": 0}, "iterations must be 1 or more"),
        ({"exponent": -1.0}, "exponent of rescaling must be"),
        ({"exponent": 9.0}, "exponent of rescaling must be"),
    ],
)
def test_options_are_checked_before_anything_is_trained(option, message):
    with pytest.raises(UsageError, match=message):
        FitOptions(**option)


def test_a_part_that_is_held_out_is_named_as_it_is():
    few = toy_documents(0, 12)
    notices = []
    assert fit_adapted(few, options=QUICK, notices=notices).facts["held_out"] == "every 20th stretch of the text"
    assert any("which is few" in notice for notice in notices)


def test_ngrams_alone_need_no_content_words_to_be_tuned():
    options = replace(QUICK, hidden=0, rescaling=False, caches=())
    held_out = Documents.from_tokens([[["the", "of", "the"]]])
    model = fit_adapted(toy_documents(0, 30), held_out=held_out, options=options)
    assert model.weights.tolist() == [1.0]
