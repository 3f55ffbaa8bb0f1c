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
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.persist import load_adapted, save_adapted
from cepts.store import directory, save_model
from toy_lm import models, toy_model

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"
TEXT = Text.from_tokens([["w3", "w0", "w4", "x0"], ["unknown"], [], ["x1", "w5", "w5", "w1", "w3"]])


def scores(model, text=TEXT):
    return model.score(text, model.memory()).mixed(model.weights, model.mixture)


@settings(deadline=None, max_examples=20)
@given(models())
def test_a_directory_gives_the_model_back(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("models") / "model"
    model = model.varied(facts={"words": 12, "held_out": "a text of its own"})
    save_adapted(model, path)
    again = load_adapted(path)
    np.testing.assert_array_equal(scores(again), scores(model))
    assert again.vocabulary.words == model.vocabulary.words
    for name in ("history", "caches", "mixture", "exponent", "facts", "components"):
        assert getattr(again, name) == getattr(model, name)


def test_caches_keep_all_their_digits(tmp_path):
    model = toy_model(caches=(Cache(0, 1 - 2**-30), Cache(7, 1 / 3)))
    save_adapted(model, tmp_path / "model")
    assert load_adapted(tmp_path / "model").caches == model.caches


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_a_changed_byte_is_refused(tmp_path, name):
    save_adapted(toy_model(), tmp_path / "model")
    path = tmp_path / "model" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelError) as caught:
        load_adapted(tmp_path / "model")
    assert "\n" not in str(caught.value)


def test_other_kinds_of_model_are_refused(tmp_path):
    save_model(tmp_path / "model", kind="hmm", settings={}, arrays={"a": np.ones(1)})
    with pytest.raises(ModelError):
        load_adapted(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "value"), [("mixture", "other"), ("history", {"size": -1}), ("caches", ["x"]), ("exponent", None)]
)
def test_settings_of_another_version_are_refused(tmp_path, name, value):
    save_adapted(toy_model(), tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    contents = json.loads(path.read_bytes())
    del contents["checksum"]
    contents["settings"][name] = value
    path.write_bytes(directory._sealed(contents))
    with pytest.raises(ModelError, match="no model of this version of cepts") as caught:
        load_adapted(tmp_path / "model")
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
    model = toy_model(2, background=(Background([ngrams], vocabulary, content), content))
    save_adapted(model, tmp_path / "model")
    return model, tmp_path / "model", binary


def test_a_binary_is_found_by_its_path(with_binary):
    model, path, _ = with_binary
    text = Text.from_tokens([["the", "cell", "new", "genes"], ["der", "Kern"]])
    np.testing.assert_array_equal(scores(load_adapted(path), text), scores(model, text))


def test_a_binary_that_is_gone_is_named(with_binary):
    _, path, binary = with_binary
    binary.unlink()
    with pytest.raises(ModelError, match=r"needs a file that it does not hold: .*tiny\.binary") as caught:
        load_adapted(path)
    assert "\n" not in str(caught.value)


def test_a_package_that_is_not_there_is_asked_for(with_binary, monkeypatch):
    _, path, _ = with_binary
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(ModelError, match=r"pip install 'cepts\[lm\]'") as caught:
        load_adapted(path)
    assert "fit it again" not in str(caught.value)
