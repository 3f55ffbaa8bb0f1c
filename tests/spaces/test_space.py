"""Questions to a fitted space."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_spaces_models as oracles
from cepts.errors import UsageError
from cepts.spaces import CCA, IBFA, METHODS
from cepts.spaces import space as module
from cepts.spaces.retrieve import retrieve
from cepts.spaces.space import Preparation, Space


def space_of(model, steps=()):
    """A space around `model`, with the views' latent means as its maps."""
    random = np.random.default_rng(0)
    preparations = [Preparation.learn(random.standard_normal((20, width)) + 1.0, steps)[0] for width in model.widths]
    return Space(
        method="mbfa",
        languages=tuple("abc"[: len(model)]),
        preparations=tuple(preparations),
        centres=tuple(mean.astype(np.float32) for mean in model.means),
        maps=tuple(matrix.astype(np.float32) for matrix in model.latent_maps),
        model=model,
    )


@pytest.mark.parametrize("steps", [(), ("unit", "centre", "unit")])
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_likelihood_points_rank_targets_by_the_likelihood_of_the_source_given_them(steps, seed, left, right, factors):
    """log p(x | y) = log p(x, y) - log p(y), for every source and target word; in all but a constant of the source."""
    random = np.random.default_rng(seed)
    model = oracles.random_model(random, (left, right), factors)
    space = space_of(model, steps)
    sources, targets = (random.standard_normal((count, width)) for count, width in ((5, left), (9, right)))
    queries, points, bias = space.likelihood_points(sources, targets, "a", "b")
    prepared = [part.apply(vectors) for part, vectors in zip(space.preparations, (sources, targets), strict=True)]
    wanted = np.empty((5, 9))
    alone = model.log_density({1: prepared[1]})
    for row in range(5):
        repeated = np.repeat(prepared[0][row : row + 1], 9, axis=0)
        wanted[row] = model.log_density({0: repeated, 1: prepared[1]}) - alone
    scores = queries @ points.T + bias
    differences = (scores - scores[:, :1], wanted - wanted[:, :1])
    np.testing.assert_allclose(*differences, rtol=1e-3, atol=1e-3)
    found = retrieve(queries, points, measure="dot", count=1, bias=bias).rows[:, 0]
    np.testing.assert_allclose(wanted[np.arange(5), found], wanted.max(axis=1), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("method", ["ibfa", "mbfa"])
def test_the_likelihood_finds_translations(method):
    views = oracles.translated_views(200, (10, 8), noise=0.1)
    space = METHODS[method]().fit(views, oracles.right_dictionary(views, range(150))).space_
    for source, target in (("en", "fr"), ("fr", "en")):
        x, y = views[space.view(source)].matrix[150:], views[space.view(target)].matrix
        queries, points, bias = space.likelihood_points(x, y, source, target)
        assert (
            retrieve(queries, points, measure="dot", count=1, bias=bias).rows[:, 0] == np.arange(150, 200)
        ).mean() > 0.8


def test_direct_maps_know_no_likelihood():
    views = oracles.translated_views(50, (4, 4), noise=0.1)
    space = CCA().fit(views, oracles.right_dictionary(views, range(50))).space_
    with pytest.raises(UsageError, match="cca has no likelihood"):
        space.likelihood_points(views[0].matrix, views[1].matrix, 0, 1)


def test_vectors_are_prepared_centred_and_mapped(monkeypatch):
    views = oracles.translated_views(50, (4, 3), noise=0.1)
    space = IBFA().fit(views, oracles.right_dictionary(views, range(50))).space_
    for number, view in enumerate(views):
        prepared = space.preparations[number].apply(view.matrix)
        wanted = (prepared - space.centres[number]) @ space.maps[number]
        np.testing.assert_allclose(space.project(view.matrix, number), wanted, rtol=1e-5, atol=1e-6)
    whole = space.project(views[0].matrix, "en")
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(space.project(views[0].matrix, "en"), whole, rtol=1e-5, atol=1e-6)
    assert space.project(views[0].matrix[:0], "en").shape == (0, 3)
    half = space.project(views[0].matrix.astype(np.float16), "en")
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, whole, atol=0.05)


def test_a_preparation_does_the_same_again():
    matrix = oracles.translated_views(30, (5, 5), noise=0.1)[0].matrix + 3.0
    preparation, prepared = Preparation.learn(matrix, ("unit", "centre", "unit"))
    np.testing.assert_allclose(np.linalg.norm(prepared, axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(preparation.apply(matrix), prepared, rtol=1e-6)
    np.testing.assert_allclose(preparation.apply(matrix[3:5]), prepared[3:5], rtol=1e-6)
    _, centred = Preparation.learn(matrix, ("centre",))
    np.testing.assert_allclose(centred.mean(axis=0), 0.0, atol=1e-6)
    with pytest.raises(UsageError, match="`prepare` must have only the steps unit and centre"):
        Preparation.learn(matrix, ("whiten",))


def test_views_are_called_by_name_or_number():
    space = space_of(oracles.random_model(np.random.default_rng(0), (3, 4), 2))
    assert [space.view("b"), space.view(0), space.view(np.int64(1))] == [1, 0, 1]
    assert len(space) == 2
    assert (space.width, space.widths) == (2, (3, 4))
    with pytest.raises(UsageError, match=r"the language must be one of a, b\. Got 'x' instead"):
        space.view("x")
    for wrong in (-1, 2):
        with pytest.raises(UsageError, match=f"must be 0 to 1. Got {wrong} instead"):
            space.view(wrong)


def test_directions_are_filled_in_where_there_is_one_choice():
    pair, three = (space_of(oracles.random_model(np.random.default_rng(0), (3, 4, 2)[:n], 2)) for n in (2, 3))
    assert [pair.direction(), pair.direction("b"), pair.direction(None, "a"), pair.direction("b", 0)] == [
        (0, 1),
        (1, 0),
        (1, 0),
        (1, 0),
    ]
    assert [three.direction(None, "a"), three.direction(None, "c"), three.direction("c", "b")] == [
        (1, 0),
        (0, 2),
        (2, 1),
    ]
    for source in (None, "a"):
        with pytest.raises(UsageError, match=r"choose the one to translate into \(`target`\)"):
            three.direction(source)
    with pytest.raises(UsageError, match="`source` and `target` are both b"):
        pair.direction("b", "b")


@pytest.mark.parametrize("shape", [(5, 4), (3,)])
def test_vectors_of_another_shape_are_refused(shape):
    space = space_of(oracles.random_model(np.random.default_rng(0), (3, 4), 2))
    with pytest.raises(UsageError, match="for a, wanted width 3 as when the space was fitted") as error:
        space.project(np.zeros(shape), "a")
    assert "\n" not in str(error.value)
