"""A saved space is the same space."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cepts.data import Dictionary, Vectors
from cepts.errors import ModelError, UsageError
from cepts.names import SPACE_METHODS
from cepts.spaces import CCA, IBFA, MBFA, METHODS, Induction, SpaceModel
from cepts.store import load_model, save_model
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views()


def same_arrays(one, two):
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


def equal(one, two):
    """Whether two models are the same to the last bit."""
    assert type(one) is type(two)
    assert (one.get_params(), one.record_) == (two.get_params(), two.record_)
    one, two = one.space_, two.space_
    assert (one.method, one.languages, one.objectives) == (two.method, two.languages, two.objectives)
    same_arrays(one.centres, two.centres)
    same_arrays(one.maps, two.maps)
    for first, second in zip(one.preparations, two.preparations, strict=True):
        assert first.steps == second.steps
        same_arrays(first.centres, second.centres)
    assert (one.model is None) == (two.model is None)
    if one.model is not None:
        for part in ("loadings", "noises", "means"):
            same_arrays(getattr(one.model, part), getattr(two.model, part))
    assert (one.correlations is None) == (two.correlations is None)
    if one.correlations is not None:
        np.testing.assert_array_equal(one.correlations, two.correlations)


@pytest.mark.parametrize("method", SPACE_METHODS)
def test_a_space_comes_back_as_it_was(tmp_path, method):
    model = METHODS[method](seed=4, induction=Induction(rounds=1)).fit(VIEWS, toy_dictionary())
    model.save(tmp_path / "space")
    for kind in (SpaceModel, METHODS[method]):
        saved = kind.load(tmp_path / "space")
        equal(model, saved)
        np.testing.assert_array_equal(saved.entries_, model.entries_)
        for view, kept in zip(VIEWS, saved.views_, strict=True):
            assert (kept.words, kept.name, kept.reading) == (view.words, view.name, view.reading)
            np.testing.assert_array_equal(kept.matrix, view.matrix)
        assert saved.translate(["en90", "nowhere"]) == model.translate(["en90", "nowhere"])


@pytest.mark.parametrize("steps", [(), ("centre",), ("centre", "unit", "centre")])
def test_every_preparation_comes_back(tmp_path, steps):
    model = IBFA(prepare=steps).fit(VIEWS, toy_dictionary())
    model.save(tmp_path / "space")
    equal(model, SpaceModel.load(tmp_path / "space"))


def test_three_languages_come_back(tmp_path):
    views = toy_views(widths=(10, 8, 9))
    dictionaries = [toy_dictionary(("en", "fr"), range(60)), toy_dictionary(("en", "ru"), range(30, 90))]
    model = MBFA(iterations=5).fit(views, dictionaries)
    model.save(tmp_path / "space")
    saved = SpaceModel.load(tmp_path / "space")
    equal(model, saved)
    assert [view.name for view in saved.views_] == ["en", "fr", "ru"]


def test_vectors_keep_their_type_and_words_their_bytes(tmp_path):
    words = ["été", "a b", "家", "\udcff", "e", "f"]
    matrix = np.random.default_rng(0).standard_normal((6, 4))
    views = [
        Vectors.from_words(words, matrix.astype(np.float16), "half"),
        # The head of a longer vocabulary shares its buffer.
        Vectors.from_words([*words, "more"], np.vstack([matrix, matrix[:1]]).astype(np.float32), "single").first(6),
    ]
    entries = tuple((word, word) for word in words)
    IBFA().fit(views, Dictionary(("half", "single"), entries)).save(tmp_path / "space")
    kept = SpaceModel.load(tmp_path / "space").views_
    assert [view.matrix.dtype for view in kept] == [np.float16, np.float32]
    assert [view.words for view in kept] == [words, words]


def test_without_vectors_the_space_alone_is_kept(tmp_path):
    views = [VIEWS[0].lowercased().first(100), VIEWS[1]]
    model = IBFA().fit(views, toy_dictionary())
    model.save(tmp_path / "space", vectors=False)
    saved = SpaceModel.load(tmp_path / "space")
    assert saved.views_ == (None, None)
    assert saved.entries_ is None
    with pytest.raises(UsageError, match="saved without vectors, but those of en are needed"):
        saved.translate(["en90"])
    with pytest.raises(UsageError, match="saved without vectors"):
        saved.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    saved.attach(views[0]).attach(views[1])
    assert saved.translate(["en90"]) == model.translate(["en90"])
    assert saved.translate(["en90"])[0][0].word == "fr90"


def test_only_vectors_that_were_read_in_the_same_way_are_attached():
    model = IBFA().fit([VIEWS[0].lowercased(), VIEWS[1].first(110)], toy_dictionary())
    assert [how.lowercase for how in model.record_.reading] == [True, False]
    assert [how.max_vocabulary for how in model.record_.reading] == [None, 110]
    for wrong in (VIEWS[0], VIEWS[0].lowercased().first(50), VIEWS[1]):
        with pytest.raises(UsageError, match="which the space was fitted with"):
            model.attach(wrong)
    with pytest.raises(UsageError, match="found vectors of width 8 for en, wanted width 10"):
        model.attach(VIEWS[1], "en")


def test_the_same_space_is_the_same_bytes(tmp_path):
    for name, threads in (("one", 1), ("two", 2)):
        IBFA(seed=3, threads=threads).fit(VIEWS, toy_dictionary()).save(tmp_path / name)
    for file in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_kind_of_model_is_refused(tmp_path):
    save_model(tmp_path / "words", kind="words", settings={}, arrays={"x": np.zeros(1)})
    with pytest.raises(ModelError, match="holds a model of kind words, not space"):
        SpaceModel.load(tmp_path / "words")
    CCA().fit(VIEWS, toy_dictionary()).save(tmp_path / "cca")
    with pytest.raises(ModelError, match="holds a space fitted by cca, not by ibfa"):
        IBFA.load(tmp_path / "cca")


def test_damage_is_found(tmp_path):
    IBFA().fit(VIEWS, toy_dictionary()).save(tmp_path / "space")
    path = tmp_path / "space" / "arrays.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match="checksum"):
        SpaceModel.load(tmp_path / "space")


@pytest.mark.parametrize("wrong", ["languages", "preparations", "method", "options", "record", "vectors", "model"])
def test_what_another_version_wrote_is_refused_in_one_line(tmp_path, wrong):
    IBFA().fit(VIEWS, toy_dictionary()).save(tmp_path / "space")
    saved = load_model(tmp_path / "space")
    settings = {name: value for name, value in saved.settings.items() if name != wrong}
    save_model(tmp_path / "space", kind="space", settings=settings, arrays=saved.arrays)
    assert wrong not in json.loads((tmp_path / "space" / "model.json").read_text())["settings"]
    with pytest.raises(ModelError, match="is not damaged, but it holds no space that this version") as raised:
        SpaceModel.load(tmp_path / "space")
    assert "\n" not in str(raised.value)


def test_options_of_another_version_are_refused_in_one_line(tmp_path):
    IBFA().fit(VIEWS, toy_dictionary()).save(tmp_path / "space")
    saved = load_model(tmp_path / "space")
    settings = {**saved.settings, "options": {**saved.settings["options"], "magic": 1}}
    save_model(tmp_path / "space", kind="space", settings=settings, arrays=saved.arrays)
    with pytest.raises(ModelError, match="was saved with other options"):
        SpaceModel.load(tmp_path / "space")
