"""Texts and adapted models: backgrounds of any kind, documents scored in blocks, what a text says of P(d)."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Documents, NGrams
from cepts.errors import DataError, UsageError
from cepts.io import read_arpa
from cepts.lm import FitOptions, KenLMModel, fit_adapted
from cepts.pipeline import lm as pipeline
from cepts.pipeline.lm import (
    default_hidden,
    estimated_priors,
    known_share,
    memory_of,
    read_background,
    score_documents,
    variants,
)
from toy_lm import models, toy_documents, toy_model

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
WORDS = st.sampled_from([*(f"w{number}" for number in range(9)), "x0", "unknown"])
DOCUMENTS = st.lists(
    st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=3), min_size=1, max_size=4
).map(lambda documents: [*documents, [["w5", "w0"]]])  # with a word that is known


def test_a_background_is_what_the_file_holds(tmp_path):
    arpa = (GOLDEN / "tiny.arpa").read_bytes()
    (tmp_path / "plain").write_bytes(arpa)
    (tmp_path / "packed.arpa.gz").write_bytes(gzip.compress(arpa))
    (tmp_path / "text").write_text("the cell divides\n\nthe nucleus too\n")
    for name in ("plain", "packed.arpa.gz"):
        assert isinstance(read_background(tmp_path / name), NGrams)
    text = read_background(tmp_path / "text")
    assert isinstance(text, Documents)
    assert len(text) == 2
    assert isinstance(read_background(tmp_path / "text", format="file"), Documents)
    pytest.importorskip("kenlm")
    for name in ("tiny.probing", "tiny.trie"):
        assert isinstance(read_background(GOLDEN / name), KenLMModel)


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("cut.arpa", (GOLDEN / "tiny.arpa").read_bytes()[:300], "cut.arpa"),
        ("text.arpa", b"the cell divides\n", "text.arpa"),
        ("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "photo.png: found no KenLM binary"),
        ("packed.gz", gzip.compress((GOLDEN / "tiny.probing").read_bytes(), mtime=0), "decompress it"),
        ("empty", b"", "found no word at all"),
    ],
)
def test_what_is_no_background_is_refused_in_a_line(tmp_path, name, data, line):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=line) as caught:
        read_background(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_the_share_of_words_that_a_background_has():
    text = Documents.from_tokens([[["the", "cell", "the"], ["mitosis"]]])
    other = Documents.from_tokens([[["the", "dog"]], [["cell"]]])
    assert known_share(text, other) == 0.75
    assert known_share(text, read_arpa(GOLDEN / "tiny.arpa")) == 0.75


def test_a_background_is_a_file():
    with pytest.raises(UsageError, match="standard input"):
        read_background("-")
    with pytest.raises(DataError, match="No such file"):
        read_background("nowhere")


@settings(deadline=None, max_examples=30)
@given(models(), DOCUMENTS, st.integers(1, 12))
def test_blocks_change_nothing(model, tokens, words):
    documents = Documents.from_tokens(tokens)
    whole = score_documents(model, documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BLOCK_WORDS", words)
        parts = score_documents(model, documents)
    np.testing.assert_allclose(parts.log_probs, whole.log_probs, rtol=1e-6, atol=1e-9)
    assert parts.words.tolist() == [sum(map(len, document)) for document in tokens]
    assert parts.sentences.tolist() == [len(document) for document in tokens]


@settings(deadline=None, max_examples=30)
@given(models(), DOCUMENTS, st.booleans())
def test_documents_have_the_probabilities_that_the_model_gives_their_words(model, tokens, reset):
    documents = Documents.from_tokens(tokens)
    found = score_documents(model, documents, reset=reset)
    memory = model.memory()
    for number in range(len(documents)):
        memory = model.memory() if reset else memory
        text = documents.text.part(*documents.offsets[number : number + 2].tolist())
        scored = model.score(text, memory)
        kept = scored.known
        with np.errstate(divide="ignore"):
            mixed = np.log(scored.mixed(model.weights, model.mixture)[kept]).sum()
            background = np.log(scored.probs[kept]).sum()
        of = dict(zip(found.models, found.log_probs[number].tolist(), strict=True))
        assert of["all"] == pytest.approx(mixed, rel=1e-6)
        assert of["background"] == pytest.approx(background, rel=1e-9)
    assert len([name for name in found.models if name.startswith("ngram")]) == (
        len(model.background) if len(model.background) > 1 else 0
    )


@given(st.integers(0, 30))
@settings(deadline=None, max_examples=10)
def test_variants_are_weights_that_leave_components_out(seed):
    model = toy_model(seed)
    found = variants(model)
    for name, weights in found.items():
        assert weights.sum() == pytest.approx(1), name
        assert (weights >= 0).all()
    for number, name in enumerate(model.components[1:], start=1):
        alone, without = found[f"with {name}"], found[f"without {name}"]
        assert np.flatnonzero(alone).tolist() == [0, number]
        assert alone[number] == model.weights[number]
        assert without[number] == 0
        np.testing.assert_array_equal(np.delete(without, [0, number]), np.delete(model.weights, [0, number]))


def test_without_its_one_component_the_background_is_left():
    model = toy_model(caches=(), exponent=0.0)
    documents = Documents.from_tokens([[["w3", "w0", "w4"], ["w5", "w5"]]])
    values = score_documents(model, documents).values
    assert values["without hidden"] == pytest.approx(values["background"])
    assert values["with hidden"] == pytest.approx(values["all"])


def test_memory_of_documents_is_that_of_a_reader(monkeypatch):
    model = toy_model()
    documents = Documents.from_tokens([[["w3", "w4"], ["w5"]], [["w6", "w0", "w7"]]])
    wanted = model.memory()
    model.score(documents.text, wanted)
    monkeypatch.setattr(pipeline, "BLOCK_WORDS", 2)
    found = memory_of(model, documents)
    np.testing.assert_allclose(found.tracker.weights, wanted.tracker.weights, rtol=1e-6)
    np.testing.assert_allclose(found.caches.counts, wanted.caches.counts)
    nothing = memory_of(model, None)
    assert not nothing.caches.counts.any()
    # What is remembered at the start is not changed by what is scored after it.
    before = found.caches.counts.copy()
    score_documents(model, documents, memory=found)
    np.testing.assert_array_equal(found.caches.counts, before)


def test_estimated_priors_are_the_mean_over_histories():
    model = toy_model()
    documents = Documents.from_tokens([[["w3", "w0", "w4"], ["w5", "w1"]], [["w6", "w7", "x0"]]])
    found = estimated_priors(model, documents)
    tracker = model.memory().tracker
    words = [word for n in range(3) for word in documents.text[n] if model.content[model.vocabulary.number(word)]]
    rows = [int(model.rows[model.vocabulary.number(word)]) for word in words]
    histories = [tracker.follow(np.array([row], dtype=np.int32))[0] for row in rows]
    np.testing.assert_allclose(found, np.mean(histories, axis=0), rtol=1e-5)
    assert found.sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(DataError, match="no word that hidden documents have"):
        estimated_priors(model, Documents.from_tokens([[["unknown", "w0"]]]))


def test_the_default_number_of_hidden_documents_can_be_fitted():
    documents = toy_documents()
    for options in (FitOptions(), FitOptions(segmentation="explicit"), FitOptions(stop=["the"])):
        most = default_hidden(documents, options)
        assert 1 <= most < options.hidden
        fitted = FitOptions(hidden=most, segmentation=options.segmentation, stop=options.stop, iterations=2)
        assert fit_adapted(documents, options=fitted).hidden is not None
    assert default_hidden(documents, FitOptions(hidden=2, stop=["the"])) == 2
