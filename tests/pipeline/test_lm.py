"""Language models and files: backgrounds of any kind, perplexities of documents, what a fit saves."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Documents, NGrams
from cepts.errors import DataError, UsageError
from cepts.lm import AdaptedModel, KenLMModel, adapted
from cepts.pipeline.inputs import TextReading, read_background
from cepts.pipeline.lm import FitFiles, document_perplexities, fit_files, variants
from toy_lm import models, toy_model
from toy_lm_files import write_files

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
    assert len(read_background(tmp_path / "text", reading=TextReading(format="file"))) == 1
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
        ("empty", b"", "found no words"),
    ],
)
def test_what_is_no_background_is_refused_in_a_line(tmp_path, name, data, line):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=line) as caught:
        read_background(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_background_is_a_file():
    with pytest.raises(UsageError, match="standard input"):
        read_background("-")
    with pytest.raises(DataError, match="there is no such file"):
        read_background("nowhere")


@settings(deadline=None, max_examples=30)
@given(models, DOCUMENTS, st.integers(1, 12))
def test_blocks_change_nothing(model, tokens, words):
    documents = Documents.from_tokens(tokens)
    whole = document_perplexities(model, documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapted, "BLOCK_WORDS", words)
        parts = document_perplexities(model, documents)
    np.testing.assert_allclose(parts.log_probs, whole.log_probs, rtol=1e-6, atol=1e-9)
    assert parts.words.tolist() == [sum(map(len, document)) for document in tokens]
    assert parts.sentences.tolist() == [len(document) for document in tokens]


@settings(deadline=None, max_examples=30)
@given(models, DOCUMENTS, st.booleans())
def test_documents_have_the_probabilities_that_the_model_gives_their_words(model, tokens, reset):
    documents = Documents.from_tokens(tokens)
    found = document_perplexities(model, documents, reset=reset)
    memory, predictor = model.memory(), model.predictor_
    for number in range(len(documents)):
        memory = model.memory() if reset else memory
        text = documents.text.part(*documents.offsets[number : number + 2].tolist())
        scored = model.score(text, memory)
        kept = scored.known
        with np.errstate(divide="ignore"):
            mixed = np.log(predictor.mixed(scored)[kept]).sum()
            background = np.log(scored.probs[kept]).sum()
        of = dict(zip(found.models, found.log_probs[number].tolist(), strict=True))
        assert of["all"] == pytest.approx(mixed, rel=1e-6)
        assert of["background"] == pytest.approx(background, rel=1e-9)
    assert len([name for name in found.models if name.startswith("ngram")]) == (
        len(predictor.background) if len(predictor.background) > 1 else 0
    )
    assert found.values["all"] == pytest.approx(model.perplexity(documents, reset=reset))


@given(st.integers(0, 30))
@settings(deadline=None, max_examples=10)
def test_variants_are_weights_that_leave_components_out(seed):
    model = toy_model(seed)
    found = variants(model)
    for name, weights in found.items():
        assert weights.sum() == pytest.approx(1), name
        assert (weights >= 0).all()
    predictor = model.predictor_
    for number, name in enumerate(predictor.components[1:], start=1):
        alone, without = found[f"with {name}"], found[f"without {name}"]
        assert np.flatnonzero(alone).tolist() == [0, number]
        assert alone[number] == predictor.weights[number]
        assert without[number] == 0
        np.testing.assert_array_equal(np.delete(without, [0, number]), np.delete(predictor.weights, [0, number]))


def test_without_its_one_component_the_background_is_left():
    model = toy_model(caches=(), exponent=0.0)
    documents = Documents.from_tokens([[["w3", "w0", "w4"], ["w5", "w5"]]])
    values = document_perplexities(model, documents).values
    assert values["without hidden"] == pytest.approx(values["background"])
    assert values["with hidden"] == pytest.approx(values["all"])


# -- from files to files --------------------------------------------------------------------------------------------


def test_a_fit_describes_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    Path("loud").mkdir()
    Path("loud/text.txt").write_text(Path("text.txt").read_text().upper())
    files = FitFiles(texts=["text.txt"], background=["loud/text.txt"], save=tmp_path / "model", lowercase=True)
    notices = []
    described = fit_files(AdaptedModel(hidden=3, iterations=5, threads=1), files, notices=notices).values
    assert [ngrams["name"] for ngrams in described["ngrams"]] == ["text.txt", "loud/text.txt"]
    assert (described["lowercase"], described["boundaries"]) == (True, "blank")
    assert described["hidden"] == 3
    assert sum(described["weights"].values()) == pytest.approx(1)
    with pytest.raises(UsageError, match=r"only one input can be - \(standard input\)"):
        fit_files(AdaptedModel(), FitFiles(texts=["-"], dev=["-"], save=tmp_path / "other"))
