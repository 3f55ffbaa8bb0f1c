from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from cepts.data import Text, Vocabulary
from cepts.errors import ModelError
from cepts.lm.adapted import AdaptedModel
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import predictor_from, predictor_parts
from cepts.pipeline import load
from cepts.store import save_model
from cepts.store.header import sealed
from toy_lm import fitted, models, toy_model, toy_predictor

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
TEXT = Text.from_tokens([["w3", "w0", "w4", "x0"], ["unknown"], [], ["x1", "w5", "w5", "w1", "w3"]])


def scores(model, text=TEXT):
    return model.predictor_.mixed(model.score(text))


@settings(deadline=None, max_examples=20)
@given(models)
def test_a_directory_gives_the_model_back(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("models") / "model"
    model.set_params(stop=("the", "a"), caches=("0.9",), seed=3, threads=2)
    model.save(path)
    again = AdaptedModel.load(path, threads=1)
    np.testing.assert_array_equal(scores(again), scores(model))
    assert again.predictor_.vocabulary.words == model.predictor_.vocabulary.words
    for name in ("history", "caches", "mixture", "exponent", "components"):
        assert getattr(again.predictor_, name) == getattr(model.predictor_, name)
    assert again.record_ == model.record_
    assert repr(again) == "AdaptedModel(stop=['a', 'the'], caches=['0.9'], seed=3, threads=1)"
    again.save(path.with_name("again"))
    for name in ("model.json", "arrays.safetensors"):
        assert (path / name).read_bytes() == (path.with_name("again") / name).read_bytes()


def test_settings_of_older_versions_only_say_that_there_are_hidden_documents():
    model = toy_predictor(3)
    settings, arrays = predictor_parts(model)
    assert settings["hidden"] == "hidden documents"
    for name in ("places", "posterior"):
        del settings["history"][name]
    again = predictor_from("model", {**settings, "hidden": True}, arrays)
    assert again.history == model.history
    np.testing.assert_array_equal(again.hidden.priors, model.hidden.priors)


def test_caches_keep_all_their_digits(tmp_path):
    model = toy_model(caches=(Cache(0, 1 - 2**-30), Cache(7, 1 / 3)))
    model.save(tmp_path / "model")
    assert AdaptedModel.load(tmp_path / "model").predictor_.caches == model.predictor_.caches


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_a_changed_byte_is_refused(tmp_path, name):
    toy_model().save(tmp_path / "model")
    path = tmp_path / "model" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelError) as caught:
        AdaptedModel.load(tmp_path / "model")
    assert "\n" not in str(caught.value)


def test_other_kinds_of_model_are_refused(tmp_path):
    save_model(tmp_path / "model", kind="hmm", settings={}, arrays={"a": np.ones(1)})
    with pytest.raises(ModelError):
        AdaptedModel.load(tmp_path / "model")


def test_a_directory_tells_which_kind_of_model_it_holds(tmp_path):
    KneserNey(order=2).fit(TEXT).save(tmp_path / "ngrams")
    toy_model().save(tmp_path / "adapted")
    assert isinstance(load(tmp_path / "ngrams", threads=2), KneserNey)
    adapted = load(tmp_path / "adapted", threads=2)
    assert isinstance(adapted, AdaptedModel)
    assert adapted.threads == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mixture", "other"),
        ("history", {"history": -1}),
        ("caches", ["x"]),
        ("exponent", None),
        ("parameters", {"ordre": 3}),
    ],
)
def test_settings_of_another_version_are_refused(tmp_path, name, value):
    toy_model().save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    contents = json.loads(path.read_bytes())
    del contents["checksum"]
    contents["settings"][name] = value
    path.write_bytes(sealed(contents))
    with pytest.raises(ModelError, match="is not a model of this version of cepts") as caught:
        AdaptedModel.load(tmp_path / "model")
    assert "\n" not in str(caught.value)


@pytest.fixture
def with_binary(tmp_path):
    """A saved model of a KenLM binary, its directory, and the binary."""
    pytest.importorskip("kenlm")
    binary = tmp_path / "tiny.binary"
    shutil.copy(GOLDEN / "tiny.trie", binary)
    ngrams = KenLMModel(binary)
    vocabulary = joined_vocabulary(ngrams.vocabulary, Vocabulary.from_words(["new"]))
    content = np.array([word[0] in "ncgZK" for word in vocabulary.words])
    model = fitted(toy_predictor(2, background=(Background([ngrams], vocabulary, content), content)))
    model.save(tmp_path / "model")
    return model, tmp_path / "model", binary


def test_a_binary_is_found_by_its_path(with_binary):
    model, path, _ = with_binary
    text = Text.from_tokens([["the", "cell", "new", "genes"], ["der", "Kern"]])
    np.testing.assert_array_equal(scores(AdaptedModel.load(path), text), scores(model, text))


def test_a_binary_that_is_gone_is_named(with_binary):
    _, path, binary = with_binary
    binary.unlink()
    with pytest.raises(ModelError, match=r"needs a file that it does not contain: .*tiny\.binary") as caught:
        AdaptedModel.load(path)
    assert "\n" not in str(caught.value)


def test_a_binary_that_has_changed_is_refused(with_binary):
    _, path, binary = with_binary
    data = bytearray(binary.read_bytes())
    data[len(data) // 2] ^= 1  # the size stays
    binary.write_bytes(data)
    with pytest.raises(
        ModelError, match=r"tiny\.binary has changed \(its checksum differs\); restore the old file"
    ) as caught:
        AdaptedModel.load(path)
    assert "\n" not in str(caught.value)


def test_a_package_that_is_not_there_is_asked_for(with_binary, monkeypatch):
    _, path, _ = with_binary
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(ModelError, match=r"pip install kenlm$") as caught:
        AdaptedModel.load(path)
    assert "fit it again" not in str(caught.value)


def test_ngram_models_come_back(tmp_path):
    model = KneserNey(order=2, fallback=(0.4, 1.0, 1.5)).fit(TEXT)
    model.save(tmp_path / "model")
    again = KneserNey.load(tmp_path / "model")
    assert again.get_params() == {"order": 2, "min_count": 1, "fallback": [0.4, 1.0, 1.5]}
    np.testing.assert_array_equal(again.log_probs(TEXT), model.log_probs(TEXT))
    assert again.perplexity(TEXT) == pytest.approx(np.exp(-model.log_probs(TEXT).mean()))
    with pytest.raises(ModelError):
        AdaptedModel.load(tmp_path / "model")
