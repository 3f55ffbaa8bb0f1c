from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Documents
from cepts.errors import DataError, UsageError
from cepts.lm import adapted, tuning
from cepts.lm.adapted import AdaptedModel
from cepts.lm.binary import KenLMModel
from cepts.lm.fit import default_hidden, held_out_part, in_vocabulary
from cepts.lm.kneser_ney import KneserNey
from oracles_ngrams import random_text
from toy_lm import fitted, models, numbered, texts, toy_documents, toy_model, toy_predictor

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
STOP = ("the", "of", "and", "is")
QUICK = {"order": 2, "stop": STOP, "hidden": 3, "window": 5, "iterations": 5, "exponent": 0.5, "caches": ("0.9",)}


def quick(**changes):
    return AdaptedModel(**{**QUICK, **changes})


def check_sums(model):
    memory = model.memory()
    model.score(toy_documents(9, documents=2).text, memory)
    distribution = model.distribution((), memory)
    assert abs(distribution.sum() - 1) < 1e-6
    assert distribution.min() >= 0
    assert abs(model.predictor_.weights.sum() - 1) < 1e-9
    assert abs(model.predictor_.background.weights.sum() - 1) < 1e-9


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_an_adapted_model_is_better_than_its_ngrams(segmentation):
    test = toy_documents(1, documents=12)
    model = quick(segmentation=segmentation, exponent=None).fit(toy_documents(0))
    check_sums(model)
    assert model.predictor_.components == ("ngram", "rescaled", "hidden", "cache 0.9")
    alone = fitted(replace(model.predictor_, weights=np.array([1.0, 0, 0, 0])))
    assert model.perplexity(test) < 0.95 * alone.perplexity(test)
    assert model.record_.words == len(toy_documents(0).text.ids)
    assert model.record_.documents == 40
    assert model.record_.held_out_words == 2 * 41


@pytest.mark.parametrize(
    "changes",
    [
        {"mixture": "literal", "exponent": None},
        {"hidden": 0, "exponent": None},
        {"hidden": 0, "exponent": None, "caches": ()},
        {"order": 1},
        {"stop": None},
        {"rescaling": False, "exponent": None, "caches": ("5", "0")},
    ],
)
def test_every_kind_of_model_can_be_fitted(changes):
    check_sums(quick(**changes).fit(toy_documents(0, documents=25)))


@pytest.mark.parametrize("held_out", [None, toy_documents(3, documents=3)])
def test_the_same_bytes_for_any_number_of_threads(tmp_path, held_out):
    others = toy_documents(5, documents=10)
    for threads in (1, 2):
        model = quick(exponent=None, seed=3, threads=threads).fit(toy_documents(0), background=others, dev=held_out)
        model.save(tmp_path / str(threads))
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    other = quick(exponent=None, seed=4).fit(toy_documents(0), background=[others], dev=held_out)
    assert not np.array_equal(other.predictor_.hidden.words, model.predictor_.hidden.words)


@pytest.mark.parametrize("documents", [toy_documents(0, documents=40), toy_documents(0, documents=4)])
def test_what_weights_are_tuned_on_is_not_trained_on(monkeypatch, documents):
    tuned = []

    def spy(predictor, held_out, **options):
        tuned.append((predictor, held_out))
        found, scored = tuning.tune(predictor, held_out, **options)
        return replace(found, exponent=1.25), scored

    monkeypatch.setattr(adapted, "tune", spy)
    model = quick(min_count=1, exponent=None).fit(documents)
    [(predictor, held_out)] = tuned
    # Each document has a word of its own, by which it is known in a vocabulary.
    words = held_out.vocabulary.words
    own = {words[number] for number in np.unique(held_out.ids).tolist() if words[number].startswith("only")}
    assert own or len(documents) == 4
    assert not own & set(predictor.vocabulary.words)
    assert own <= set(model.predictor_.vocabulary.words)
    assert model.record_.held_out_words == len(held_out.ids)
    assert 0 < len(held_out.ids) < len(documents.text.ids) / 8
    again, _ = tuning.tune(predictor, held_out, exponents=tuning.EXPONENTS)
    np.testing.assert_array_equal(again.weights, model.predictor_.weights)
    assert model.predictor_.exponent == 1.25  # what tuning has found


def test_backgrounds_of_each_kind_are_interpolated():
    others = toy_documents(5, documents=10)
    ngrams = KneserNey(order=2).fit(random_text(1, words=6)).ngrams_
    notices = []
    model = quick().fit(toy_documents(0, documents=25), background=[ngrams, others], notices=notices)
    assert len(model.predictor_.background) == 3
    check_sums(model)
    assert {"w0", "s0w0", "only1"} & set(model.predictor_.vocabulary.words) == {"w0", "s0w0"}
    # Random words say nothing about the text, and get little weight.
    assert model.predictor_.background.weights[1] < 0.1
    assert model.record_.ngrams == ("1", "2", "3")
    [notice] = [notice for notice in notices if "of the words of the text" in notice]
    assert notice.startswith("background 2 has only 0% of the words")


def test_a_binary_may_be_a_background():
    pytest.importorskip("kenlm")
    binary = KenLMModel(GOLDEN / "tiny.trie")
    model = quick(hidden=0, exponent=None).fit(toy_documents(0, documents=20), background=binary)
    check_sums(model)
    assert "nucleus" in model.predictor_.vocabulary.words


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4), max_size=45))
def test_a_part_is_held_out_or_the_text_is_too_short(rows):
    documents = Documents.from_tokens(rows)
    sentences = [sentence for document in rows for sentence in document]
    try:
        part, held_out, _ = held_out_part(documents)
    except DataError as error:
        assert "too short to hold out a part" in str(error)
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
    part, held_out, described = held_out_part(Documents.from_tokens([sentences]))
    assert described == "every 20th stretch of the text"
    assert len(held_out) == 2
    assert len(held_out.text.ids) == 1000
    assert len(part.text.ids) == 19_000


@pytest.mark.parametrize("rows", [[], [[]], [[[]]], [[["a", "b"]]], [[[], ["a"], []]]])
def test_texts_too_short_to_fit_are_refused(rows):
    with pytest.raises(DataError, match="too short") as caught:
        quick().fit(Documents.from_tokens(rows))
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
        check_sums(quick(segmentation=segmentation).fit(Documents.from_tokens(rows)))


def test_texts_of_function_words_only_are_refused():
    documents = Documents.from_tokens([[["the", "of", "is"], ["and", "the"]]] * 30)
    with pytest.raises(DataError, match="no content words"):
        quick().fit(documents)
    with pytest.raises(DataError, match="no content word"):
        quick(hidden=0, exponent=None).fit(documents)


def test_a_held_out_text_of_unknown_words_is_refused():
    held_out = Documents.from_tokens([[["who", "knows"]]])
    for changes in ({}, {"mixture": "literal", "exponent": None}):
        with pytest.raises(DataError, match="the held-out text has no content word that the model knows"):
            quick(**changes).fit(toy_documents(0), dev=held_out)


def test_more_hidden_documents_than_the_text_can_have_are_refused():
    with pytest.raises(UsageError, match=r"content words, so `hidden` must be 1 to 24, .* Got 500 instead"):
        quick(hidden=500).fit(toy_documents(0))
    with pytest.raises(UsageError, match=r"in 38 documents with such words"):
        quick(hidden=39, segmentation="explicit", min_count=1).fit(toy_documents(0))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"order": 0}, "`order` must be 1 or more. Got 0"),
        ({"min_count": 0}, "`min_count` must be 1 or more"),
        ({"background_min_count": -2}, "`background_min_count` must be 1 or more"),
        ({"hidden": -1}, "`hidden` must be 0 or more"),
        ({"background_worth": float("nan")}, "`background_worth` must be 0 or more"),
        ({"background_worth": -1.0}, "`background_worth` must be 0 or more"),
        ({"mixture": "literal", "rescaling": True}, "`rescaling` needs `mixture` class"),
        ({"hidden": 0, "rescaling": True}, "`rescaling` needs hidden documents"),
        ({"mixture": "other"}, "`mixture` must be one of class, literal"),
        ({"segmentation": "other"}, "`segmentation` must be one of implicit, explicit"),
        ({"window": 4}, "`window` must be an odd number"),
        ({"iterations": 0}, "`iterations` must be 1 or more"),
        ({"exponent": -1.0}, "`exponent` must be above 0"),
        ({"exponent": 9.0}, "`exponent` must be above 0"),
        ({"exponent": 0.5, "rescaling": False}, "`exponent` is for rescaling"),
        ({"exponent": 0.5, "hidden": 0}, "`exponent` is for rescaling"),
        ({"fold_in": 3}, "`fold_in` needs a `history`"),
        ({"decay": 0.9, "history": 20}, "`decay` needs a `history` of 0"),
        ({"decay": 0.0}, "`decay` must be above 0"),
        ({"history": 20, "fold_in": 0}, "`fold_in` must be 1 or more"),
        ({"strength": 0.0}, "`strength` must be above 0"),
        ({"caches": ("soon",)}, "each of `caches` must be"),
        ({"caches": ("0.9", "0.90")}, "two of `caches` are the same"),
        ({"caches": "0.98"}, "`caches` must be a list"),
        ({"stop": "the"}, "`stop` must be a list"),
        ({"seed": -1}, "`seed` must be 0 or more"),
        ({"threads": 0}, "`threads` must be 1 or more"),
    ],
)
def test_options_are_checked_before_anything_is_trained(option, message):
    with pytest.raises(UsageError, match=message):
        AdaptedModel(**option)


def test_a_part_that_is_held_out_is_named_as_it_is():
    few = toy_documents(0, 12)
    notices = []
    assert quick().fit(few, notices=notices).record_.held_out == "every 20th stretch of the text"
    assert sum("which is unreliable" in notice for notice in notices) == 1
    assert len(set(notices)) == len(notices)


def test_ngrams_alone_need_no_content_words_to_be_tuned():
    model = quick(hidden=0, exponent=None, caches=())
    held_out = Documents.from_tokens([[["the", "of", "the"]]])
    assert model.fit(toy_documents(0, 30), dev=held_out).predictor_.weights.tolist() == [1.0]


def test_the_default_number_of_hidden_documents_can_be_fitted():
    documents = toy_documents()
    for options in ({}, {"segmentation": "explicit"}, {"stop": ["the"]}):
        found = default_hidden(documents, options.get("stop"), 2, options.get("segmentation", "implicit"), [])
        assert 1 <= found < 500
        notices = []
        model = AdaptedModel(iterations=2, **options).fit(documents, notices=notices)
        assert len(model.predictor_.hidden) <= found
        assert any(f"{found} hidden document" in notice and "instead of 500" in notice for notice in notices)
        assert model.hidden is None


def test_the_papers_options_may_be_changed():
    paper = AdaptedModel.of_paper(stop=None)
    assert repr(paper) == (
        "AdaptedModel(hidden=500, places='all', borders=False, iterations=100, start='random', blocks='sequential', "
        "long_steps=False, priors='documents', background_worth=0.0, history=25, fold_in=1, uninformative=0.0, "
        "mixture='literal', rescaling=False, caches=())"
    )
    assert len(set(AdaptedModel.of_paper().stop)) == 70
    assert AdaptedModel.of_paper(history=0).get_params()["fold_in"] is None
    assert AdaptedModel.of_paper(history=7, caches=("9",)).fold_in == 1
    with pytest.raises(UsageError, match="`fold_in` needs"):
        AdaptedModel.of_paper(history=0, fold_in=2)


# -- case --------------------------------------------------------------------------------------------------------------


def loud(documents):
    """The same in upper case."""
    return Documents.from_tokens(
        [
            [[word.upper() for word in documents.text[n]] for n in range(*ends)]
            for ends in zip(documents.offsets, documents.offsets[1:], strict=False)
        ]
    )


def test_a_model_of_lower_cased_text_gives_any_case_the_same_figures():
    text, dev, test = toy_documents(0, 25), toy_documents(1, 3), toy_documents(2, 3)
    want = quick().fit(text, dev=dev, background=toy_documents(3, 5))
    got = quick(stop=[word.upper() for word in STOP]).fit(
        loud(text).lowercased(), dev=loud(dev), background=loud(toy_documents(3, 5))
    )
    assert (want.record_.lowercase, got.record_.lowercase) == (False, True)
    for documents in (test, loud(test), loud(test).lowercased()):
        assert got.perplexity(documents) == want.perplexity(test)
        np.testing.assert_array_equal(got.score(documents.text).probs, want.score(test.text).probs)
        np.testing.assert_array_equal(got.estimated_priors(documents), want.estimated_priors(test))
    np.testing.assert_array_equal(got.distribution(["THE", "S0W0"]), want.distribution(["the", "s0w0"]))
    assert want.perplexity(test.lowercased()) == want.perplexity(test)  # nothing was lost


def test_lower_cased_text_is_refused_where_the_model_knows_upper_case():
    model = quick().fit(toy_documents(0, 25), background=loud(toy_documents(3, 9)))
    with pytest.raises(UsageError, match=r"^the text was read in lower case, but the model's text was not"):
        model.perplexity(loud(toy_documents(2, 3)).lowercased())
    with pytest.raises(UsageError, match="was read in lower case"):
        quick().fit(loud(toy_documents(0, 25)), dev=loud(toy_documents(2, 3)).lowercased())


# -- use ---------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(models, texts, texts)
def test_distributions_are_what_words_are_scored_by(model, before, text):
    memory = model.memory()
    model.score(before, memory)
    scored = model.score(text, memory.copy())
    probs = model.predictor_.mixed(scored)
    filled = 0
    for sentence, words in enumerate(numbered(model.predictor_, text)[:1]):
        for place, word in enumerate((*words, 2)):
            found = model.distribution(text[sentence][:place], memory)
            assert abs(found.sum() - 1) < 1e-6
            np.testing.assert_allclose(found[word], probs[filled], rtol=1e-5, atol=1e-10)
            filled += 1


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 99), texts, st.booleans(), st.integers(1, 9))
def test_perplexity_is_that_of_the_words(seed, text, reset, block):
    model = toy_model(seed)
    documents = Documents(text, np.arange(len(text) + 1), tuple(map(str, range(len(text)))))
    if not len(text):
        return
    memory, logs = model.memory(), []
    for n in range(len(text)):
        memory = model.memory() if reset else memory
        scored = model.score(text.part(n, n + 1), memory)
        logs += np.log(scored.mixed(model.predictor_.weights, "class")[scored.known]).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapted, "BLOCK_WORDS", block)
        assert model.perplexity(documents, reset=reset) == pytest.approx(np.exp(-np.mean(logs)), rel=1e-6)


def test_memory_of_documents_is_that_of_a_reader(monkeypatch):
    model = toy_model()
    documents = Documents.from_tokens([[["w3", "w4"], ["w5"]], [["w6", "w0", "w7"]]])
    wanted = model.memory()
    model.score(documents.text, wanted)
    monkeypatch.setattr(adapted, "BLOCK_WORDS", 2)
    found = model.memory(documents)
    after = (memory.tracker.follow(np.array([-1])) for memory in (found, wanted))
    np.testing.assert_allclose(*after, rtol=1e-6)
    np.testing.assert_allclose(found.caches.counts, wanted.caches.counts)
    assert not model.memory().caches.counts.any()
    # What is remembered at the start is not changed by what is scored after it.
    before = found.caches.counts.copy()
    model.perplexity(documents, memory=found)
    np.testing.assert_array_equal(found.caches.counts, before)


def test_estimated_priors_are_the_mean_over_histories():
    model = toy_model()
    predictor = model.predictor_
    documents = Documents.from_tokens([[["w3", "w0", "w4"], ["w5", "w1"]], [["w6", "w7", "x0"]]])
    found = model.estimated_priors(documents)
    tracker = model.memory().tracker
    numbers = in_vocabulary(documents, predictor.vocabulary).text.ids
    rows = predictor.rows[numbers[predictor.content[numbers]]]
    histories = [tracker.follow(np.array([row], dtype=np.int32))[0] for row in rows]
    np.testing.assert_allclose(found, np.mean(histories, axis=0), rtol=1e-5)
    assert found.sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(DataError, match="no word of the hidden documents"):
        model.estimated_priors(Documents.from_tokens([[["unknown", "w0"]]]))
    with pytest.raises(UsageError, match="has no hidden documents"):
        fitted(toy_predictor(hidden=False)).estimated_priors(documents)


def test_a_model_that_is_not_fitted_says_so(tmp_path):
    model, documents = AdaptedModel(), toy_documents(0, 2)
    for use in (
        model.memory,
        model.distribution,
        model.static_ngrams,
        lambda: model.score(documents.text),
        lambda: model.perplexity(documents),
        lambda: model.estimated_priors(documents),
        lambda: model.save(tmp_path / "model"),
    ):
        with pytest.raises(UsageError, match="this AdaptedModel is not trained"):
            use()
