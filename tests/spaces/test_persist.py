"""A saved space is the same space."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cepts.data import Dictionary, Vectors
from cepts.errors import ModelError
from cepts.spaces import METHODS, fit_space, load_space, save_space
from cepts.store import load_model, save_model
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views()


def same_arrays(one, two):
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


def equal(one, two):
    """Whether two spaces are the same to the last bit."""
    assert (one.method, one.languages, one.settings, one.objectives) == (
        two.method,
        two.languages,
        two.settings,
        two.objectives,
    )
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


@pytest.mark.parametrize("method", METHODS)
def test_a_space_comes_back_as_it_was(tmp_path, method):
    space, report = fit_space(VIEWS, toy_dictionary(), method=method)
    save_space(space, tmp_path / "space", views=VIEWS, entries=report.entries.rows)
    saved = load_space(tmp_path / "space")
    equal(space, saved.space)
    np.testing.assert_array_equal(saved.entries, report.entries.rows)
    for view, kept in zip(VIEWS, saved.views, strict=True):
        assert (kept.words, kept.name) == (view.words, view.name)
        np.testing.assert_array_equal(kept.matrix, view.matrix)
        np.testing.assert_array_equal(
            saved.space.project(kept.matrix, kept.name), space.project(view.matrix, view.name)
        )


@pytest.mark.parametrize("steps", [(), ("centre",), ("centre", "unit", "centre")])
def test_every_preparation_comes_back(tmp_path, steps):
    space, _ = fit_space(VIEWS, toy_dictionary(), steps=steps)
    save_space(space, tmp_path / "space")
    equal(space, load_space(tmp_path / "space").space)


def test_three_languages_come_back(tmp_path):
    views = toy_views(widths=(10, 8, 9))
    dictionaries = [toy_dictionary(("en", "fr"), range(60)), toy_dictionary(("en", "ru"), range(30, 90))]
    space, _ = fit_space(views, dictionaries, iterations=5)
    save_space(space, tmp_path / "space", views=views)
    saved = load_space(tmp_path / "space")
    equal(space, saved.space)
    assert saved.entries is None
    assert [view.name for view in saved.views] == ["en", "fr", "ru"]


def test_vectors_keep_their_type_and_words_their_bytes(tmp_path):
    words = ["été", "a b", "家", "\udcff", "e", "f"]
    matrix = np.random.default_rng(0).standard_normal((6, 4))
    views = [
        Vectors.from_words(words, matrix.astype(np.float16), "half"),
        # The head of a longer vocabulary shares its buffer.
        Vectors.from_words([*words, "more"], np.vstack([matrix, matrix[:1]]).astype(np.float32), "single").first(6),
    ]
    entries = tuple((word, word) for word in words)
    space, _ = fit_space(views, Dictionary(("half", "single"), entries))
    save_space(space, tmp_path / "space", views=views)
    kept = load_space(tmp_path / "space").views
    assert [view.matrix.dtype for view in kept] == [np.float16, np.float32]
    assert [view.words for view in kept] == [words, words]


def test_without_vectors_the_space_alone_is_kept(tmp_path):
    space, _ = fit_space(VIEWS, toy_dictionary())
    save_space(space, tmp_path / "space")
    saved = load_space(tmp_path / "space")
    assert saved.views is None
    assert saved.entries is None
    with pytest.raises(ValueError, match="a view for each of 2 languages"):
        save_space(space, tmp_path / "other", views=VIEWS[:1])
    assert not (tmp_path / "other").exists()


def test_the_same_space_is_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        space, report = fit_space(VIEWS, toy_dictionary(), seed=3)
        save_space(space, tmp_path / name, views=VIEWS, entries=report.entries.rows)
    for file in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_kind_of_model_is_refused(tmp_path):
    save_model(tmp_path / "words", kind="words", settings={}, arrays={"x": np.zeros(1)})
    with pytest.raises(ModelError, match="holds a model of kind words, not space"):
        load_space(tmp_path / "words")


def test_damage_is_found(tmp_path):
    space, _ = fit_space(VIEWS, toy_dictionary())
    save_space(space, tmp_path / "space", views=VIEWS)
    path = tmp_path / "space" / "arrays.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match="checksum"):
        load_space(tmp_path / "space")


@pytest.mark.parametrize("wrong", ["languages", "preparations", "method", "settings", "vectors", "model"])
def test_what_another_version_wrote_is_refused_in_one_line(tmp_path, wrong):
    space, _ = fit_space(VIEWS, toy_dictionary())
    save_space(space, tmp_path / "space", views=VIEWS)
    saved = load_model(tmp_path / "space")
    settings = {name: value for name, value in saved.settings.items() if name != wrong}
    save_model(tmp_path / "space", kind="space", settings=settings, arrays=saved.arrays)
    assert wrong not in json.loads((tmp_path / "space" / "model.json").read_text())["settings"]
    with pytest.raises(ModelError, match="does not hold a space that this version") as raised:
        load_space(tmp_path / "space")
    assert "\n" not in str(raised.value)
