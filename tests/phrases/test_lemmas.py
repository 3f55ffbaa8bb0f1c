"""Dictionary forms of words."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepts
from cepts.errors import DataError, ModelError
from cepts.phrases import lemmas as module
from cepts.phrases.lemmas import Lemmatiser

SHIPPED = Path(cepts.__file__).parent / "phrases" / "english" / "lemmas.safetensors"
# Word, tag, lemma.
ENTRIES = """
Geese/NNS/goose were/VBD/be n't/RB/not flying/VBG/fly over/IN/over the/DT/the older/JJR/old churches/NNS/church ;/:/;
she/PRP/she 's/VBZ/be sold/VBN/sell the/DT/the children/NNS/child 's/POS/'s books/NNS/book
"""


@pytest.fixture
def small():
    words = {
        "dog": "nv",
        "find": "nv",
        "found": "v",
        "hope": "nv",
        "hop": "nv",
        "fast": "ar",
        "large": "a",
        "glass": "n",
    }
    words |= {"glasses": "n", "plan": "v", "high": "a"}
    return Lemmatiser(words, {("v", "found"): "find", ("v", "planned"): "plan", ("o", "an"): "a"})


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("Dogs", "NNS", "dog"),
        ("dogs", "VBZ", "dog"),
        ("dogs", "NOUN", "dog"),
        ("dogs", "IN", "dogs"),
        ("found", "VBD", "find"),  # an exception goes before the word itself ...
        ("found", "VB", "found"),  # ... unless the tag says that it is a dictionary form
        ("hoping", "VBG", "hope"),  # the rules in their order: not hop
        ("hopped", "VBD", "hopped"),  # an unknown word
        ("faster", "JJR", "fast"),
        ("faster", "RBR", "fast"),
        ("faster", "NN", "faster"),
        ("largest", "JJS", "large"),
        ("glasses", "NNS", "glass"),
        ("glasses", "NN", "glasses"),
        ("glass", "NNS", "glass"),
        ("planned", "JJ", "plan"),  # a participle
        ("Hopes", "NNP", "hopes"),
        ("Hopes", "NNPS", "hope"),
        ("an", "DT", "a"),
        ("İX", "FW", "i̇x"),
        ("", "NN", ""),
    ],
)
def test_lemma(small, word, tag, lemma):
    assert small.lemma(word, tag) == lemma
    assert small.lemmas([word, word], [tag, tag]) == (lemma, lemma)


def test_the_memo_is_bounded_and_does_not_show(small, monkeypatch):
    monkeypatch.setattr(module, "MEMO_SIZE", 2)
    words = ["dogs", "found", "dogs", "largest", "hoping", "found"]
    tags = ["NNS", "VBD", "VBZ", "JJS", "VBG", "VB"]
    assert small.lemmas(words, tags) == ("dog", "find", "dog", "large", "hope", "found")
    assert len(small._memo) <= 2


def test_saved_and_loaded_it_is_the_same(small, tmp_path):
    small.save(tmp_path / "one")
    loaded = Lemmatiser.load(tmp_path / "one")
    assert (loaded._words, loaded._exceptions) == (small._words, small._exceptions)
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    Lemmatiser({}, {}).save(tmp_path / "empty")
    assert Lemmatiser.load(tmp_path / "empty").lemma("Dogs", "NNS") == "dogs"


def test_bad_input_is_named(small, tmp_path):
    with pytest.raises(DataError, match="2 words but 1 tags"):
        small.lemmas(["a", "b"], ["DT"])
    with pytest.raises(ValueError, match="part of speech must be one of"):
        Lemmatiser({"dog": "x"}, {})
    path = tmp_path / "lemmas"
    small.save(path)
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ModelError, match="lemmas"):
        Lemmatiser.load(path)


def test_the_shipped_ones_are_english():
    lemmatiser = Lemmatiser.load(SHIPPED)
    words, tags, lemmas = zip(*(entry.split("/") for entry in ENTRIES.split()), strict=True)
    assert lemmatiser.lemmas(words, tags) == lemmas
    assert lemmatiser.lemma("species", "NNS") == "species"
    assert SHIPPED.stat().st_size < 1_100_000
