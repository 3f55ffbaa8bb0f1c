"""Words drawn from a factor model, and translations by places in a space."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.errors import UsageError
from cepts.names import TRANSLATION_MEASURES
from cepts.spaces import IBFA, MBFA, Procrustes, Ridge
from cepts.spaces.retrieve import unit_rows
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views()
MODEL = IBFA().fit(VIEWS, toy_dictionary())
SPACE = MODEL.space_


def test_samples_are_the_most_probable_of_the_words_nearest_to_draws():
    samples = MODEL.sample(7, draws=400, seed=5)
    drawn = SPACE.model.sample(400, 5)
    places = [part.apply(view.matrix).astype(np.float64) for part, view in zip(SPACE.preparations, VIEWS, strict=True)]
    density = {}
    for draw in range(400):
        nearest = [
            int((place @ vectors[draw] / np.linalg.norm(place, axis=1)).argmax())
            for place, vectors in zip(places, drawn, strict=True)
        ]
        words = tuple(view.words[row] for view, row in zip(VIEWS, nearest, strict=True))
        (density[words],) = SPACE.model.log_density({view: places[view][[row]] for view, row in enumerate(nearest)})
    assert len(density) < 400  # some pairs are drawn more than once, and listed once
    order = sorted(density, key=lambda words: -density[words])[:7]
    assert [sample.words for sample in samples] == order
    assert [sample.log_density for sample in samples] == pytest.approx([density[words] for words in order], rel=1e-4)


def test_words_of_a_sample_are_related_and_translated_back():
    samples = MODEL.sample(40, draws=200)
    places = [
        unit_rows(SPACE.project(vectors.matrix[vectors.vocabulary.numbers([s.words[view] for s in samples])], view))
        for view, vectors in enumerate(VIEWS)
    ]
    cosines = places[0] @ places[1].T
    others = cosines[~np.eye(40, dtype=bool)]
    assert np.diag(cosines).mean() > others.mean() + 3 * others.std() / np.sqrt(40)
    assert all(sample.back[0].startswith("en") for sample in samples)
    assert np.mean([sample.back[0][2:] == sample.words[1][2:] for sample in samples]) > 0.9


def test_less_noise_brings_the_words_together():
    shares = []
    for noise in (0.0, 0.2, 1.0):
        samples = MODEL.sample(100, draws=200, noise=noise)
        shares.append(np.mean([sample.words[0][2:] == sample.words[1][2:] for sample in samples]))
    assert shares[0] > 1.3 * shares[2]
    assert shares[0] >= shares[1]


def test_the_seed_decides():
    draw = {"count": 5, "draws": 50}
    assert MODEL.sample(seed=1, **draw) == IBFA(threads=1).fit(VIEWS, toy_dictionary()).sample(seed=1, **draw)
    assert MODEL.sample(seed=1, **draw) != MODEL.sample(seed=2, **draw)


def test_samples_of_three_languages():
    views = toy_views(widths=(10, 8, 9))
    model = MBFA(iterations=20).fit(views, toy_dictionary(("en", "fr", "ru")))
    (sample, *_) = model.sample(3, draws=20)
    assert [word[:2] for word in sample.words] == ["en", "fr", "ru"]
    assert [word[:2] for word in sample.back] == ["en", "en"]


def test_what_cannot_be_drawn():
    direct = Procrustes().fit(VIEWS, toy_dictionary())
    with pytest.raises(UsageError, match="procrustes has no factor model to draw from"):
        direct.sample()
    with pytest.raises(UsageError, match="`count` must be 1 to 3, the number of `draws`"):
        MODEL.sample(4, draws=3)
    with pytest.raises(UsageError, match="`noise` must lie between 0 and 1"):
        MODEL.sample(noise=2.0)


@pytest.mark.parametrize("measure", TRANSLATION_MEASURES)
def test_translations_in_both_directions(measure):
    for source, target in ((0, 1), (1, 0)):
        found = MODEL.neighbours(np.arange(80, 120), source=source, target=target, measure=measure)
        assert found.rows.shape == (40, 5)
        assert np.mean(found.rows[:, 0] == np.arange(80, 120)) > 0.9
        assert (np.diff(found.scores, axis=1) <= 0).all()


def test_likelihood_ranks_as_the_density_does():
    """The order of log p(x, y) - log p(y) over target words y, from the densities themselves."""
    rows = np.array([3, 90])
    found = MODEL.neighbours(rows, measure="likelihood", count=10)
    x, y = (SPACE.preparations[view].apply(VIEWS[view].matrix).astype(np.float64) for view in (0, 1))
    for place, row in enumerate(rows):
        joint = SPACE.model.log_density({0: np.repeat(x[row : row + 1], len(y), axis=0), 1: y})
        order = np.argsort(-(joint - SPACE.model.log_density({1: y})))
        assert found.rows[place].tolist() == order[:10].tolist()


def test_hubs_are_measured_by_the_source_words_that_are_asked_for():
    rows = np.arange(5)
    few = MODEL.neighbours(rows, sources=20)
    every = MODEL.neighbours(rows, sources=None)
    np.testing.assert_allclose(every.scores, MODEL.neighbours().scores[:5], atol=1e-6)
    assert np.abs(few.scores - every.scores).max() > 1e-3


@pytest.mark.parametrize("measure", TRANSLATION_MEASURES)
def test_mutual_translations_are_those_that_lead_back(measure):
    model = IBFA(shrinkage=0.1, exponent=1.0).fit(VIEWS, toy_dictionary(numbers=range(8)))
    found = model.mutual_neighbours(measure=measure)
    there = model.neighbours(measure=measure).rows[:, 0].tolist()
    back = model.neighbours(source=1, measure=measure).rows[:, 0].tolist()
    wanted = [target if back[target] == source else -1 for source, target in enumerate(there)]
    assert found.rows[:, 0].tolist() == wanted
    assert 0 < wanted.count(-1) < len(wanted)


def test_unknown_measures():
    with pytest.raises(UsageError, match="`measure` must be one of csls"):
        MODEL.neighbours(measure="dot")
    direct = Ridge().fit(VIEWS, toy_dictionary())
    with pytest.raises(UsageError, match="ridge has no likelihood"):
        direct.neighbours(measure="likelihood")
