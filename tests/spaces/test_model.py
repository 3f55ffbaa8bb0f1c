"""Questions to fitted models of spaces, beside the functions that answer them."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.errors import UsageError
from cepts.spaces import (
    IBFA,
    MBFA,
    Induction,
    Procrustes,
    find_senses,
    fit_mixture,
)
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views(widths=(10, 8, 9))
PAIR = VIEWS[:2]


@pytest.fixture(scope="module")
def model():
    return IBFA().fit(PAIR, toy_dictionary())


@pytest.mark.parametrize("direction", [(0, 1), (1, 0)])
def test_translations_are_those_of_the_rows(model, direction):
    source, target = (PAIR[view] for view in direction)
    words = [source.words[90], "nowhere", source.words[91].upper()]
    found = model.translate(words, source=source.name, measure="cosine", count=3)
    rows = np.array([90, 91])
    want = model.neighbours(rows, source=direction[0], measure="cosine", count=3)
    assert found[1] == []
    for answers, places, scores in zip((found[0], found[2]), want.rows, want.scores, strict=True):
        assert [answer.word for answer in answers] == [target.words[place] for place in places]
        assert [answer.score for answer in answers] == scores.tolist()
    assert len(model.translate(words[:1], source=source.name, count=500)[0]) == len(target)


def test_translation_between_any_two_of_three_languages():
    model = MBFA(iterations=10).fit(VIEWS, toy_dictionary(("en", "fr", "ru")))
    assert model.translate(["fr90"], source="fr", target="ru")[0][0].word == "ru90"
    with pytest.raises(UsageError, match=r"choose the one to translate into \(`target`\)"):
        model.translate(["fr90"], source="fr")


def test_senses_are_those_of_the_mixture(model):
    mixture = fit_mixture(model.space_, PAIR, model.entries_, components=4, seed=2)
    (want,) = find_senses(mixture, PAIR, [3], count=2)
    found, unknown = model.senses(["en3", "nowhere"], components=4, seed=2, count=2)
    assert unknown == []
    assert found == want
    given = model.senses(["en3"], components=4, seed=2, count=2, dictionaries=[toy_dictionary()])
    assert given == [found]


def test_aligned_vectors_are_the_places_of_the_words(model):
    aligned = model.aligned("fr", max_vocabulary=50)
    assert (aligned.words, aligned.name) == (PAIR[1].words[:50], "fr")
    np.testing.assert_array_equal(aligned.matrix, model.project(PAIR[1].matrix[:50], "fr"))


def test_a_model_that_is_not_fitted_says_so():
    model = Procrustes()
    for question in (
        lambda: model.translate(["en1"]),
        lambda: model.senses(["en1"]),
        lambda: model.project(PAIR[0].matrix, "en"),
        lambda: model.save("nowhere"),
        lambda: model.facts,
    ):
        with pytest.raises(UsageError, match="this Procrustes is not trained"):
            question()


def test_models_show_what_differs_from_the_defaults():
    assert repr(IBFA()) == "IBFA()"
    shown = repr(IBFA(shrinkage=0.1, prepare=("unit",), induction=Induction(rounds=2)))
    assert shown == (
        "IBFA(prepare=('unit',), induction=Induction(rounds=2, vocabulary=10000, keep=1.0, measure='csls'), "
        "shrinkage=0.1)"
    )
    assert IBFA().set_params(factors=3).factors == 3
    with pytest.raises(UsageError, match="`factors` must be 1 or more"):
        IBFA().set_params(factors=0)
