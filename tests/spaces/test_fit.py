"""From vectors and dictionaries to spaces: every method, every refusal."""

from __future__ import annotations

import numpy as np
import pytest

import oracles_spaces_models as oracles
from cepts.data import Dictionary, Vectors
from cepts.errors import CeptsError, DataError, UsageError
from cepts.spaces.entries import entry_weights
from cepts.spaces.fit import METHODS, TWO_VIEWS_ONLY, Options, fit_space
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.induce import Induction
from cepts.spaces.moments import gather_moments
from cepts.spaces.retrieve import cosine

WORDS = 300
TRAIN = range(200)
TEST = np.arange(200, WORDS)


def precision(space, views, source, target):
    """Share of the words outside of the dictionary whose translation is the nearest of all target words."""
    queries = space.project(views[source].matrix[TEST], source)
    targets = space.project(views[target].matrix, target)
    return float((cosine(queries, targets, count=1).rows[:, 0] == TEST).mean())


def two(**options):
    return oracles.translated_views(WORDS, (12, 12), **{"noise": 0.15, **options})


@pytest.mark.parametrize("method", METHODS)
def test_every_method_translates_words_outside_of_its_dictionary(method):
    views = two()
    space, report = fit_space(views, oracles.right_dictionary(views, TRAIN), method=method)
    assert space.method == method
    assert space.languages == ("en", "fr")
    assert precision(space, views, 0, 1) > 0.95
    assert precision(space, views, 1, 0) > 0.95
    assert report.entries.coverage == 1.0
    assert (space.model is not None) == (method in ("ibfa", "mbfa"))


@pytest.mark.parametrize("method", [method for method in METHODS if method not in TWO_VIEWS_ONLY])
def test_three_views_are_joined(method):
    views = oracles.translated_views(WORDS, (12, 12, 12), noise=0.15)
    space, _ = fit_space(views, oracles.right_dictionary(views, TRAIN), method=method)
    for source, target in ((0, 1), (1, 2), (2, 0)):
        assert precision(space, views, source, target) > 0.95


@pytest.mark.parametrize("method", METHODS)
def test_views_may_have_other_widths(method):
    views = oracles.translated_views(WORDS, (12, 9), noise=0.1)
    space, _ = fit_space(views, oracles.right_dictionary(views, TRAIN), method=method)
    assert space.widths == (12, 9)
    assert space.width == 9
    assert precision(space, views, 1, 0) > 0.5


def test_bilingual_dictionaries_alone_join_three_views():
    views = oracles.translated_views(WORDS, (12, 12, 12), noise=0.15)
    parts = [oracles.right_dictionary(views, range(100), ("en", "fr"))]
    parts.append(oracles.right_dictionary(views, range(100, 200), ("en", "ru")))
    space, report = fit_space(views, parts)
    assert space.method == "mbfa"
    assert report.entries.complete == 0
    assert precision(space, views, 1, 2) > 0.8  # French and Russian have no entry together


@pytest.mark.parametrize("method", METHODS)
def test_the_same_input_gives_the_same_bytes(method):
    views = two()
    given = oracles.right_dictionary(views, TRAIN)
    first, again = (fit_space(views, given, method=method, seed=3)[0] for _ in range(2))
    assert [part.tobytes() for part in (*first.maps, *first.centres)] == [
        part.tobytes() for part in (*again.maps, *again.centres)
    ]
    assert first.settings == again.settings
    assert first.objectives == again.objectives


def test_ibfa_is_the_closed_form_on_prepared_vectors():
    views = two()
    given = Dictionary(("en", "fr"), (*oracles.right_dictionary(views, TRAIN), ("en0", "fr1"), ("en0", "fr2")))
    space, report = fit_space(views, given, method="ibfa", exponent=0.5, shrinkage=0.2, factors=7)
    prepared = [part.apply(view.matrix) for part, view in zip(space.preparations, views, strict=True)]
    (moments,) = gather_moments(prepared, report.entries.rows, entry_weights(report.entries.rows))
    model = fit_ibfa(canonical(moments, (12, 12), factors=7, shrinkage=0.2))
    for view in range(2):
        wanted = model.latent_mean(prepared[view], view)
        np.testing.assert_allclose(space.project(views[view].matrix, view), wanted, rtol=1e-3, atol=1e-4)
    assert report.choice.tried == ()
    assert (space.settings["factors"], space.settings["shrinkage"], space.settings["exponent"]) == (7, 0.2, 0.5)
    assert space.correlations.shape == (7,)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_mbfa_of_two_views_lies_as_ibfa_does_at_every_exponent(exponent):
    views = two(noise=0.5)
    given = oracles.right_dictionary(views, TRAIN)
    options = {"exponent": exponent, "shrinkage": 0.2}
    ibfa, _ = fit_space(views, given, method="ibfa", **options)
    mbfa, _ = fit_space(views, given, method="mbfa", start="canonical", tolerance=0.0, iterations=100, **options)
    np.testing.assert_allclose(mbfa.correlations, ibfa.correlations, atol=0.02)
    placed = [
        np.concatenate([space.project(view.matrix, number) for number, view in enumerate(views)])
        for space in (ibfa, mbfa)
    ]
    products = [part @ part.T for part in placed]
    np.testing.assert_allclose(products[1], products[0], atol=0.05 * np.abs(products[0]).max())


def test_the_exponent_of_cca_is_zero_and_of_ibfa_a_power_of_the_correlations():
    views = two(noise=0.5)
    given = oracles.right_dictionary(views, TRAIN)
    options = {"shrinkage": 0.1, "weighted": False}
    cca, _ = fit_space(views, given, method="cca", **options)
    ibfa, _ = fit_space(views, given, method="ibfa", exponent=1.0, **options)
    np.testing.assert_allclose(ibfa.maps[0], cca.maps[0] * cca.correlations, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pivot", [None, 0, 1])
def test_direct_methods_leave_the_pivot_where_it_is(pivot):
    views = two()
    space, _ = fit_space(views, oracles.right_dictionary(views, TRAIN), method="procrustes", pivot=pivot)
    still = 1 if pivot is None else pivot
    assert space.maps[still].tolist() == np.eye(12).tolist()
    np.testing.assert_allclose(space.maps[1 - still] @ space.maps[1 - still].T, np.eye(12), atol=1e-5)


@pytest.mark.parametrize("shrinkage", [None, 0.0])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [2, 3, 8])
def test_few_entries_give_finite_spaces(method, shrinkage, count):
    views = two()
    space, _ = fit_space(views, oracles.right_dictionary(views, range(count)), method=method, shrinkage=shrinkage)
    for number, view in enumerate(views):
        assert np.isfinite(space.project(view.matrix, number)).all()
    assert space.width >= 1


def test_progress_tells_of_each_stage():
    views = oracles.translated_views(WORDS, (6, 6, 6), noise=0.2)
    steps = []
    fit_space(views, oracles.right_dictionary(views, TRAIN), induction=Induction(rounds=1), progress=steps.append)
    assert {step.stage for step in steps} >= {"preparing", "induction", "MBFA"}


def test_settings_are_the_fields_of_the_options():
    views = two()
    given = oracles.right_dictionary(views, TRAIN)
    one, _ = fit_space(views, given, Options(method="cca", factors=5))
    other, _ = fit_space(views, given, Options(factors=5), method="cca")
    assert one.maps[0].tobytes() == other.maps[0].tobytes()
    with pytest.raises(TypeError, match="factor_count"):
        fit_space(views, given, factor_count=5)


# -- refusals ------------------------------------------------------------------------------------------------


def changed(view, **changes):
    matrix = view.matrix.copy()
    for place, value in changes.get("values", ()):
        matrix[place] = value
    return Vectors(view.vocabulary, matrix, changes.get("name", view.name))


EN, FR = two()
RU = oracles.translated_views(WORDS, (12, 12, 12), noise=0.15)[2]
RIGHT = oracles.right_dictionary([EN, FR], TRAIN)
STAR = [
    oracles.right_dictionary([EN], range(50), ("en", "fr")),
    oracles.right_dictionary([EN], range(50), ("fr", "ru")),
]
REFUSED = {
    "one view": ([EN], RIGHT, {}, UsageError, "found 1 view, wanted two or more"),
    "names": ([EN, changed(FR, name="en")], RIGHT, {}, UsageError, "found two views with the name 'en'"),
    "method": ([EN, FR], RIGHT, {"method": "magic"}, UsageError, "found the method 'magic', wanted one of ibfa, mbfa"),
    "views": ([EN, FR, RU], STAR, {"method": "ibfa"}, UsageError, "ibfa joins two languages, found 3; choose mbfa"),
    "factors": ([EN, FR], RIGHT, {"factors": 13}, UsageError, "found 13 factors, wanted 1 to 12"),
    "exponent": ([EN, FR], RIGHT, {"exponent": -1.0}, UsageError, "found exponent -1.0, wanted a number from 0"),
    "shrinkage": ([EN, FR], RIGHT, {"shrinkage": np.nan}, UsageError, "found shrinkage nan, wanted a number from 0"),
    "pivot": ([EN, FR], RIGHT, {"pivot": 2}, UsageError, "found the pivot 2, wanted a view from 0 to 1"),
    "pivot below 0": ([EN, FR], RIGHT, {"pivot": -1}, UsageError, "found the pivot -1"),
    "iterations": ([EN, FR], RIGHT, {"iterations": 0}, UsageError, "found 0 iterations, wanted at least 1"),
    "one entry": (
        [EN, FR],
        oracles.right_dictionary([EN, FR], range(1)),
        {},
        DataError,
        "found 1 entry of 1 with words in two of the views, wanted at least 2",
    ),
    "no entry": ([EN, FR], [], {}, DataError, "found no entry of 0 with words in two of the views"),
    "a view without entries": ([EN, FR, RU], STAR[:1], {}, DataError, "found no entry with a word of ru"),
    "no pivot entries": ([EN, FR, RU], STAR, {"method": "ridge"}, DataError, "ridge maps view 3 straight into view 1"),
    "not a number": (
        [changed(EN, values=[((7, 3), np.nan)]), FR],
        RIGHT,
        {},
        DataError,
        "en: found a value that is not finite in the vector of 'en7'",
    ),
    "infinite": ([EN, changed(FR, values=[((250, 0), np.inf)])], RIGHT, {}, DataError, "in the vector of 'fr250'"),
    "zeros": ([changed(EN, values=[(..., 0.0)]), FR], RIGHT, {}, DataError, "en: found the same vector for all words"),
    "one word again and again": (
        [EN, FR],
        Dictionary(("en", "fr"), tuple(("en0", f"fr{row}") for row in range(50))),
        {},
        DataError,
        "en: found the same vector for all words with an entry",
    ),
}


@pytest.mark.parametrize(("views", "given", "options", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_fitted_is_refused_in_one_line(views, given, options, kind, message):
    with pytest.raises(CeptsError) as error:
        fit_space(views, given, **options)
    assert type(error.value) is kind
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_sets_of_languages_without_a_common_entry_are_refused():
    views = oracles.translated_views(WORDS, (4, 4, 4, 4), noise=0.1)
    parts = [oracles.right_dictionary(views, range(50), pair) for pair in (("en", "fr"), ("ru", "it"))]
    with pytest.raises(DataError, match="joined by no dictionary"):
        fit_space(views, parts)


def test_views_without_names_are_numbered():
    views = [Vectors(view.vocabulary, view.matrix) for view in two()]
    space, _ = fit_space(views, RIGHT, method="procrustes")
    assert space.languages == ("view 1", "view 2")
    with pytest.raises(DataError, match="view 2: found the same vector"):
        fit_space([views[0], changed(views[1], values=[(..., 1.0)])], RIGHT)


def test_a_zero_vector_and_a_constant_dimension_do_no_harm():
    views = [changed(EN, values=[(3, 0.0), ((slice(None), 2), 0.0)]), FR]
    for method in METHODS:
        space, _ = fit_space(views, RIGHT, method=method, shrinkage=0.0, steps=("unit",))
        assert all(np.isfinite(part).all() for part in space.maps)
        assert precision(space, views, 0, 1) > 0.5
