"""From vectors and dictionaries to spaces: every method, every refusal."""

from __future__ import annotations

import numpy as np
import pytest

import oracles_spaces_models as oracles
from cepts.data import Dictionary, Vectors
from cepts.errors import CeptsError, DataError, UsageError
from cepts.names import SPACE_METHODS
from cepts.spaces import CCA, IBFA, MBFA, METHODS, Procrustes, Ridge
from cepts.spaces.entries import entry_weights
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.induce import Induction
from cepts.spaces.mbfa import Battery
from cepts.spaces.moments import gather_moments
from cepts.spaces.retrieve import retrieve

WORDS = 300
TRAIN = range(200)
TEST = np.arange(200, WORDS)


def precision(space, views, source, target):
    """Share of the words outside of the dictionary whose translation is the nearest of all target words."""
    queries = space.project(views[source].matrix[TEST], source)
    targets = space.project(views[target].matrix, target)
    return float((retrieve(queries, targets, count=1).rows[:, 0] == TEST).mean())


def fitted(method, views, given, **options):
    """A fitted model of a method by name, with those of the options that it has."""
    kind = METHODS[method]
    return kind(**{name: value for name, value in options.items() if name in kind.parameters()}).fit(views, given)


def two(**options):
    return oracles.translated_views(WORDS, (12, 12), **{"noise": 0.15, **options})


@pytest.mark.parametrize("method", SPACE_METHODS)
def test_every_method_translates_words_outside_of_its_dictionary(method):
    views = two()
    model = METHODS[method]().fit(views, oracles.right_dictionary(views, TRAIN))
    space = model.space_
    assert space.method == method
    assert space.languages == ("en", "fr")
    assert precision(space, views, 0, 1) > 0.95
    assert precision(space, views, 1, 0) > 0.95
    assert model.report_.entries.coverage == 1.0
    assert (space.model is not None) == (method in ("ibfa", "mbfa"))


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if not kind.two_views])
def test_three_views_are_joined(method):
    views = oracles.translated_views(WORDS, (12, 12, 12), noise=0.15)
    space = METHODS[method]().fit(views, oracles.right_dictionary(views, TRAIN)).space_
    for source, target in ((0, 1), (1, 2), (2, 0)):
        assert precision(space, views, source, target) > 0.95


@pytest.mark.parametrize("method", SPACE_METHODS)
def test_views_may_have_other_widths(method):
    views = oracles.translated_views(WORDS, (12, 9), noise=0.1)
    space = METHODS[method]().fit(views, oracles.right_dictionary(views, TRAIN)).space_
    assert space.widths == (12, 9)
    assert space.width == 9
    assert precision(space, views, 1, 0) > 0.5


def test_bilingual_dictionaries_alone_join_three_views():
    views = oracles.translated_views(WORDS, (12, 12, 12), noise=0.15)
    parts = [oracles.right_dictionary(views, range(100), ("en", "fr"))]
    parts.append(oracles.right_dictionary(views, range(100, 200), ("en", "ru")))
    model = MBFA().fit(views, parts)
    assert model.report_.entries.complete == 0
    assert precision(model, views, 1, 2) > 0.8  # French and Russian have no entry together


@pytest.mark.parametrize("method", SPACE_METHODS)
def test_the_same_input_gives_the_same_bytes(method):
    views = two()
    given = oracles.right_dictionary(views, TRAIN)
    models = [METHODS[method](seed=3).fit(views, given) for _ in range(2)]
    first, again = (model.space_ for model in models)
    assert [part.tobytes() for part in (*first.maps, *first.centres)] == [
        part.tobytes() for part in (*again.maps, *again.centres)
    ]
    assert models[0].record_ == models[1].record_
    assert first.objectives == again.objectives


def test_ibfa_is_the_closed_form_on_prepared_vectors():
    views = two()
    given = Dictionary(("en", "fr"), (*oracles.right_dictionary(views, TRAIN), ("en0", "fr1"), ("en0", "fr2")))
    fitted_model = IBFA(exponent=0.5, shrinkage=0.2, factors=7).fit(views, given)
    space, report, record = fitted_model.space_, fitted_model.report_, fitted_model.record_
    prepared = [part.apply(view.matrix) for part, view in zip(space.preparations, views, strict=True)]
    (moments,) = gather_moments(prepared, report.entries.rows, entry_weights(report.entries.rows))
    model = fit_ibfa(canonical(moments, (12, 12), factors=7, shrinkage=0.2))
    for view in range(2):
        wanted = model.latent_mean(prepared[view], view)
        np.testing.assert_allclose(space.project(views[view].matrix, view), wanted, rtol=1e-3, atol=1e-4)
    assert report.choice.tried == ()
    assert (record.factors, record.shrinkage, record.exponent) == (7, 0.2, 0.5)
    assert space.correlations.shape == (7,)


def literal_posterior_means(model, prepared):
    """E[z | x] by eq. (4) of the paper, view by view."""
    placed = []
    for vectors, loading, noise, mean in zip(prepared, model.loadings, model.noises, model.means, strict=True):
        inner = np.eye(model.factors) + loading.T @ np.linalg.inv(noise) @ loading
        placed.append((vectors - mean) @ (np.linalg.inv(inner) @ loading.T @ np.linalg.inv(noise)).T)
    return np.concatenate(placed)


PAPER_OPTIONS = {"ibfa": {}, "mbfa": {"iterations": 60}}


@pytest.mark.parametrize(("method", "count"), [("ibfa", 2), ("mbfa", 2), ("mbfa", 3)])
def test_of_paper_compares_words_by_posterior_means_of_unweighted_entries(method, count):
    """Products of all words of all languages, which do not depend on the rotation of the space."""
    views = oracles.translated_views(WORDS, (7, 6, 8)[:count], noise=0.5)
    names = tuple(view.name for view in views)
    right = [tuple(f"{name}{n}" for name in names) for n in TRAIN]
    odd = [("en0", *(f"{name}{n}" for name in names[1:])) for n in range(1, 60)]  # weights would make these light
    half = [(f"en{n}", f"fr{n}", None) for n in range(200, WORDS)] if count > 2 else []
    given = Dictionary(names, (*right, *odd, *half))
    fitted_model = METHODS[method].of_paper(**PAPER_OPTIONS[method]).fit(views, given)
    space = fitted_model.space_
    rows = fitted_model.report_.entries.rows
    assert len(rows) == len(right) + len(odd)
    prepared = [part.apply(view.matrix) for part, view in zip(space.preparations, views, strict=True)]
    model = space.model
    if method == "ibfa":
        model = fit_ibfa(canonical(gather_moments(prepared, rows)[0], (7, 6)))
    else:
        battery = Battery(
            gather_moments(prepared, rows), [7, 6, 8][:count], factors=6, start="canonical", accelerate=False
        )
        assert battery.fit(iterations=60, tolerance=0.0)[1] == list(space.objectives)
    wanted = literal_posterior_means(model, prepared)
    found = np.concatenate([space.project(view.matrix, number) for number, view in enumerate(views)])
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-3 * np.abs(wanted @ wanted.T).max())


def test_of_paper_can_be_changed_and_is_only_of_its_methods():
    assert IBFA.of_paper().get_params() == IBFA(exponent=0.5, shrinkage=0.0, weighted=False).get_params()
    assert MBFA.of_paper(iterations=9).iterations == 9
    assert MBFA.of_paper().get_params() != MBFA().get_params()
    assert Procrustes.of_paper().get_params() == Procrustes().get_params()
    with pytest.raises(UsageError, match="ridge is not a method of Vargas et al"):
        Ridge.of_paper()


def test_without_complete_entries_mbfa_of_the_paper_says_so():
    views = oracles.translated_views(WORDS, (4, 4, 4), noise=0.2)
    star = [oracles.right_dictionary(views, range(50), pair) for pair in (("en", "fr"), ("en", "ru"))]
    with pytest.raises(DataError, match="found no entry with a word of each of the 3 languages among 100") as error:
        MBFA.of_paper().fit(views, star)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_mbfa_of_two_views_lies_as_ibfa_does_at_every_exponent(exponent):
    views = two(noise=0.5)
    given = oracles.right_dictionary(views, TRAIN)
    options = {"exponent": exponent, "shrinkage": 0.2}
    ibfa = IBFA(**options).fit(views, given).space_
    mbfa = MBFA(start="canonical", tolerance=0.0, iterations=100, **options).fit(views, given).space_
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
    cca = CCA(shrinkage=0.1).fit(views, given).space_
    ibfa = IBFA(exponent=1.0, shrinkage=0.1, weighted=False).fit(views, given).space_
    np.testing.assert_allclose(ibfa.maps[0], cca.maps[0] * cca.correlations, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pivot", [None, 0, 1, "en"])
def test_direct_methods_leave_the_pivot_where_it_is(pivot):
    views = two()
    space = Procrustes(pivot=pivot).fit(views, oracles.right_dictionary(views, TRAIN)).space_
    still = {None: 1, "en": 0}.get(pivot, pivot)
    assert space.maps[still].tolist() == np.eye(12).tolist()
    np.testing.assert_allclose(space.maps[1 - still] @ space.maps[1 - still].T, np.eye(12), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"shrinkage": 0.0}])
@pytest.mark.parametrize("method", SPACE_METHODS)
@pytest.mark.parametrize("count", [2, 3, 8])
def test_few_entries_give_finite_spaces(method, options, count):
    views = two()
    space = fitted(method, views, oracles.right_dictionary(views, range(count)), **options).space_
    for number, view in enumerate(views):
        assert np.isfinite(space.project(view.matrix, number)).all()
    assert space.width >= 1


def test_progress_tells_of_each_stage():
    views = oracles.translated_views(WORDS, (6, 6, 6), noise=0.2)
    steps = []
    MBFA(induction=Induction(rounds=1)).fit(views, oracles.right_dictionary(views, TRAIN), progress=steps.append)
    assert {step.stage for step in steps} >= {"preparing", "induction", "MBFA"}


@pytest.mark.parametrize("method", METHODS)
def test_methods_have_their_own_options_alone(method):
    kind = METHODS[method]
    assert kind().get_params() == {name: parameter.default for name, parameter in kind.parameters().items()}
    assert {"prepare", "induction", "seed", "threads"} <= set(kind.parameters())
    assert ("iterations" in kind.parameters()) == (method == "mbfa")
    assert ("pivot" in kind.parameters()) == (method in ("procrustes", "least-squares", "ridge"))
    with pytest.raises(TypeError, match="factor_count"):
        kind(factor_count=5)


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
    "one view": ([EN], RIGHT, IBFA(), UsageError, "found 1 language, wanted two or more"),
    "names": ([EN, changed(FR, name="en")], RIGHT, IBFA(), UsageError, "found two languages named 'en'"),
    "views": ([EN, FR, RU], STAR, IBFA(), UsageError, "ibfa can join two languages only, found 3; choose mbfa"),
    "factors": ([EN, FR], RIGHT, IBFA(factors=13), UsageError, "`factors` must be 1 to 12"),
    "factors of cca": ([EN, FR], RIGHT, CCA(factors=13), UsageError, "`factors` must be 1 to 12"),
    "pivot": ([EN, FR], RIGHT, Ridge(pivot=2), UsageError, "`pivot` must be 0 to 1, or a name. Got 2"),
    "pivot below 0": ([EN, FR], RIGHT, Ridge(pivot=-1), UsageError, "`pivot` must be 0 to 1, or a name. Got -1"),
    "name of a pivot": ([EN, FR], RIGHT, Ridge(pivot="ru"), UsageError, "`pivot` must be one of en, fr. Got 'ru'"),
    "one entry": (
        [EN, FR],
        oracles.right_dictionary([EN, FR], range(1)),
        IBFA(),
        DataError,
        "found 1 entry among 1 with words in two of the views, wanted at least 2",
    ),
    "no entry": ([EN, FR], [], IBFA(), DataError, "found no entry among 0 with words in two of the views"),
    "a view without entries": ([EN, FR, RU], STAR[:1], MBFA(), DataError, "found no entry with a word of ru"),
    "no pivot entries": ([EN, FR, RU], STAR, Ridge(), DataError, "ridge maps ru directly into en"),
    "not a number": (
        [changed(EN, values=[((7, 3), np.nan)]), FR],
        RIGHT,
        IBFA(),
        DataError,
        "en: found a value that is not finite in the vector of 'en7'",
    ),
    "infinite": ([EN, changed(FR, values=[((250, 0), np.inf)])], RIGHT, IBFA(), DataError, "in the vector of 'fr250'"),
    "zeros": (
        [changed(EN, values=[(..., 0.0)]), FR],
        RIGHT,
        IBFA(),
        DataError,
        "en: found the same vector for all words",
    ),
    "one word again and again": (
        [EN, FR],
        Dictionary(("en", "fr"), tuple(("en0", f"fr{row}") for row in range(50))),
        IBFA(),
        DataError,
        "en: found the same vector for all words with an entry",
    ),
}


@pytest.mark.parametrize(("views", "given", "model", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_fitted_is_refused_in_one_line(views, given, model, kind, message):
    with pytest.raises(CeptsError) as error:
        model.fit(views, given)
    assert type(error.value) is kind
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (IBFA, {"exponent": -1.0}, "`exponent` must be 0 or more. Got -1.0 instead"),
        (MBFA, {"shrinkage": np.nan}, "`shrinkage` must be 0 or more. Got nan instead"),
        (CCA, {"factors": 0}, "`factors` must be 1 or more. Got 0 instead"),
        (Ridge, {"shrinkage": np.inf}, "`shrinkage` must be 0 or more. Got inf instead"),
        (MBFA, {"iterations": 0}, "`iterations` must be 1 or more. Got 0 instead"),
        (MBFA, {"start": "here"}, "`start` must be one of joreskog, canonical, random. Got 'here' instead"),
        (MBFA, {"balance": 1.5}, "`balance` must be 0 to 1. Got 1.5 instead"),
        (MBFA, {"tolerance": -1.0}, "`tolerance` must be 0 or more. Got -1.0 instead"),
        (Procrustes, {"prepare": ("unit", "whiten")}, "`prepare` must have only the steps unit and centre"),
        (Procrustes, {"prepare": "unit"}, "`prepare` must have only the steps unit and centre"),
    ],
)
def test_wrong_options_are_refused_by_the_constructor(kind, options, message):
    with pytest.raises(UsageError) as error:
        kind(**options)
    assert message in str(error.value)


def test_sets_of_languages_without_a_common_entry_are_refused():
    views = oracles.translated_views(WORDS, (4, 4, 4, 4), noise=0.1)
    parts = [oracles.right_dictionary(views, range(50), pair) for pair in (("en", "fr"), ("ru", "it"))]
    with pytest.raises(DataError, match="dictionaries do not connect all languages"):
        MBFA().fit(views, parts)


def test_views_without_names_are_numbered():
    views = [Vectors(view.vocabulary, view.matrix) for view in two()]
    space = Procrustes().fit(views, RIGHT).space_
    assert space.languages == ("view 1", "view 2")
    with pytest.raises(DataError, match="view 2: found the same vector"):
        IBFA().fit([views[0], changed(views[1], values=[(..., 1.0)])], RIGHT)


def test_a_zero_vector_and_a_constant_dimension_do_no_harm():
    views = [changed(EN, values=[(3, 0.0), ((slice(None), 2), 0.0)]), FR]
    for method in METHODS:
        space = fitted(method, views, RIGHT, shrinkage=0.0, prepare=("unit",)).space_
        assert all(np.isfinite(part).all() for part in space.maps)
        assert precision(space, views, 0, 1) > 0.5
