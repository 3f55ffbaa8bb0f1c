from __future__ import annotations

import sys
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oracles_spaces as oracles
from cepts.errors import DataError, UsageError
from cepts.names import RETRIEVAL_MEASURES
from cepts.spaces import search
from cepts.spaces.retrieve import (
    mean_similarity,
    retrieve,
    unit_rows,
)

DIRECTIONS = [measure for measure in RETRIEVAL_MEASURES if measure != "dot"]
SIZES = {"memory": st.sampled_from([4, 40, 400, 1 << 20]), "threads": st.integers(1, 3)}


def whole_numbers(width, rows):
    """Small whole numbers: their products are exact, many rows are equal and some are zeros."""
    return hnp.arrays(np.float32, st.tuples(rows, st.just(width)), elements=st.integers(-2, 2).map(float))


problems = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        whole_numbers(width, st.integers(0, 9)),
        whole_numbers(width, st.integers(0, 9)),
        whole_numbers(width, st.integers(1, 5)),
    )
)


@contextmanager
def patched(**constants):
    """The constants of the search with other values."""
    with mock.patch.multiple(search, **constants):
        yield


def random_space(queries, targets, width=20, seed=0):
    """Vectors around a few centres, so that there are hubs."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((5, width))
    return [
        (centres[random.integers(0, 5, rows)] + 0.5 * random.standard_normal((rows, width))).astype(np.float32)
        for rows in (queries, targets)
    ]


def assert_best(found, scores, count, tolerance=1e-6):
    """`found` are the best of each line of `scores`, whose last digits may be others."""
    _, wanted = oracles.best(scores, count)
    np.testing.assert_allclose(found.scores, wanted, rtol=tolerance, atol=tolerance)
    assert found.rows.dtype == np.int64
    assert found.scores.dtype == np.float32
    assert ((found.rows >= 0) == np.isfinite(wanted)).all()
    for line, rows, values in zip(scores, found.rows, found.scores, strict=True):
        rows, values = rows[rows >= 0], values[rows >= 0]
        assert len(set(rows.tolist())) == len(rows)
        np.testing.assert_allclose(line[rows], values, rtol=tolerance, atol=tolerance)


# -- against brute force -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(problems, st.integers(1, 12), st.integers(0, 3), st.fixed_dictionaries(SIZES))
def test_dot_equals_sorting_all_products(problem, count, spare, sizes):
    queries, targets, _ = problem
    bias = np.arange(len(targets)) % 3 / 4
    with patched(SPARE=spare, LEAST_WIDTH=2):
        found = retrieve(queries, targets, measure="dot", count=count, bias=bias, **sizes)
    rows, scores = oracles.best(queries @ targets.T + bias, count)
    assert found.rows.tolist() == rows.tolist()
    assert found.scores.tolist() == scores.tolist()


@pytest.mark.parametrize("measure", DIRECTIONS)
@settings(deadline=None, max_examples=60)
@given(problems, st.integers(1, 12), st.integers(1, 6), st.booleans(), st.integers(0, 3), st.fixed_dictionaries(SIZES))
def test_measures_equal_their_definition(measure, problem, count, neighbourhood, own, spare, sizes):
    queries, targets, sources = problem
    given = {"neighbourhood": neighbourhood, "temperature": 5.0, "sources": None if own else sources}
    if not own and not sources.any():
        return
    with patched(SPARE=spare, LEAST_WIDTH=2):
        found = retrieve(queries, targets, measure=measure, count=count, **given, **sizes)
    assert_best(found, oracles.score_matrix(queries, targets, measure, **given), count, 2e-6)


@pytest.mark.parametrize("width", [63, 64, 65, 200, 700])
@pytest.mark.parametrize("memory", [40_000, 1 << 24])
def test_rows_of_any_width_are_searched_whole(width, memory):
    """The kernels look at chunks of 64 first; whole numbers make every product exact."""
    random = np.random.default_rng(width)
    queries, targets = (random.integers(-9, 10, (rows, 7)).astype(np.float32) for rows in (150, width))
    products = queries @ targets.T
    for left, right, scores in ((queries, targets, products), (targets, queries, products.T)):
        found = retrieve(left, right, measure="dot", count=5, memory=memory, threads=2)
        assert found.rows.tolist() == oracles.best(scores, 5)[0].tolist()


@pytest.mark.parametrize("measure", DIRECTIONS)
@pytest.mark.parametrize("memory", [20_000, 400_000, 1 << 24])
def test_larger_spaces_equal_their_definition(measure, memory):
    queries, targets = random_space(190, 700)
    found = retrieve(queries, targets, measure=measure, count=7, memory=memory, threads=2)
    assert_best(found, oracles.score_matrix(queries, targets, measure), 7, 4e-6)


def test_csls_is_of_all_sources_that_are_given():
    queries, targets = random_space(40, 300)
    sources, _ = random_space(500, 0, seed=1)
    found = retrieve(queries, targets, count=5, sources=sources, neighbourhood=4, measure="csls")
    wanted = oracles.score_matrix(queries, targets, "csls", sources=sources, neighbourhood=4)
    assert_best(found, wanted, 5)
    assert (found.rows != retrieve(queries, targets, count=5, neighbourhood=4, measure="csls").rows).any()


def test_csls_finds_what_a_hub_hides():
    """Target 2 lies between both queries and is the nearest to either; each has a target of its own."""
    queries = np.array([[1, 0.2, 0], [0.2, 1, 0]], dtype=np.float32)
    targets = np.array([[1, 0, 0.8], [0, 1, 0.8], [1, 1, 0.3]], dtype=np.float32)
    assert retrieve(queries, targets, count=1, measure="cosine").rows.tolist() == [[2], [2]]
    assert retrieve(queries, targets, count=1, neighbourhood=2, measure="csls").rows.tolist() == [[0], [1]]
    assert retrieve(queries, targets, count=1, measure="inverted-softmax").rows.tolist() == [[0], [1]]


def test_mean_similarity_is_the_mean_of_the_nearest():
    queries, targets = random_space(50, 80)
    queries[3] = 0
    wanted = oracles.mean_of_highest(oracles.unit(queries) @ oracles.unit(targets).T, 10)
    np.testing.assert_allclose(mean_similarity(queries, targets), np.where(np.arange(50) == 3, 0, wanted), atol=1e-6)


@pytest.mark.parametrize("temperature", [0.01, 30.0, 5000.0])
def test_inverted_softmax_neither_overflows_nor_vanishes(temperature):
    queries, targets = random_space(30, 90)
    found = retrieve(queries, targets, count=3, temperature=temperature, measure="inverted-softmax")
    wanted = oracles.score_matrix(queries, targets, "inverted-softmax", temperature=temperature)
    assert_best(found, wanted, 3, 1e-6 * max(temperature, 4))


# -- promises ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", RETRIEVAL_MEASURES)
def test_any_number_of_threads_gives_the_same_bytes(measure):
    queries, targets = random_space(300, 5000)
    one, *others = (retrieve(queries, targets, measure=measure, threads=n, memory=1 << 20) for n in (1, 2, 3))
    for other in others:
        assert one.rows.tobytes() == other.rows.tobytes()
        assert one.scores.tobytes() == other.scores.tobytes()


@pytest.mark.parametrize("measure", ["dot", "cosine", "csls"])
def test_blocks_of_any_size_give_the_same_bytes(measure):
    """What BLAS gives depends on the shape of a block; what is found does not."""
    queries, targets = random_space(120, 900, width=50)
    targets[500:600] = targets[:100]
    one, *others = (retrieve(queries, targets, measure=measure, memory=m) for m in (1 << 24, 70_000, 4_000))
    for other in others:
        assert one.rows.tobytes() == other.rows.tobytes()
        assert one.scores.tobytes() == other.scores.tobytes()


@pytest.mark.parametrize("measure", RETRIEVAL_MEASURES)
def test_the_second_search_finds_the_same(measure):
    """A bound so wide that it makes every query doubtful."""
    queries, targets = random_space(60, 400)
    wanted = retrieve(queries, targets, measure=measure)
    with (
        patched(ROUNDING=1e-4),
        mock.patch.object(
            search.Best, "_searched_again", autospec=True, side_effect=search.Best._searched_again
        ) as again,
    ):
        found = retrieve(queries, targets, measure=measure)
    assert again.called
    assert found.rows.tobytes() == wanted.rows.tobytes()
    assert found.scores.tobytes() == wanted.scores.tobytes()


@pytest.mark.parametrize("measure", ["dot", "cosine", "csls"])
def test_of_equal_targets_the_first_come_first(measure):
    queries, targets = random_space(20, 30, width=37)
    found = retrieve(queries, np.tile(targets, (9, 1)), measure=measure, count=12)
    assert (found.rows[:, :9] == found.rows[:, :1] + 30 * np.arange(9)).all()
    assert (found.rows[:, 0] < 30).all()
    assert (found.rows[:, 9:] == found.rows[:, 9:10] + 30 * np.arange(3)).all()


# -- edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", DIRECTIONS)
def test_zeros_are_never_found_and_find_nothing(measure):
    queries, targets = random_space(6, 8)
    queries[2] = targets[5] = 0
    found = retrieve(-queries, targets, measure=measure, count=8)
    assert found.rows[2].tolist() == [-1] * 8
    assert (found.scores[2] == -np.inf).all()
    for line in np.delete(found.rows, 2, axis=0):
        assert sorted(line.tolist()) == [-1, 0, 1, 2, 3, 4, 6, 7]
    nothing = retrieve(0 * queries, targets, measure=measure)
    assert (nothing.rows == -1).all()


@pytest.mark.parametrize("measure", RETRIEVAL_MEASURES)
def test_no_queries_one_query_and_no_targets(measure):
    queries, targets = random_space(1, 30)
    assert retrieve(queries[:0], targets, measure=measure).rows.shape == (0, 10)
    assert retrieve(queries, targets, measure=measure).rows.shape == (1, 10)
    nothing = retrieve(queries, targets[:0], measure=measure, count=3)
    assert nothing.rows.tolist() == [[-1, -1, -1]]
    assert nothing.scores.tolist() == [[-np.inf] * 3]


def test_a_bias_of_minus_infinity_leaves_targets_out():
    queries, targets = random_space(4, 100)
    bias = np.where(np.arange(100) % 10 == 0, 0.0, -np.inf)
    found = retrieve(queries, targets, measure="dot", count=12, bias=bias)
    assert [sorted(line) for line in found.rows.tolist()] == [[-1, -1, *range(0, 100, 10)]] * 4


def test_half_precision_is_searched_as_what_it_holds():
    queries, targets = (each.astype(np.float16) for each in random_space(30, 200))
    wanted = retrieve(queries.astype(np.float32), targets.astype(np.float32), measure="cosine")
    assert retrieve(queries, targets, measure="cosine").rows.tolist() == wanted.rows.tolist()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_unit_rows(kind):
    rows = unit_rows(np.array([[3, 4], [0, 0], [-1e-7, 0], [6e4, 6e4]], dtype=kind)[:, ::-1])
    np.testing.assert_allclose(rows, [[0.8, 0.6], [0, 0], [0, -1], [0.5**0.5, 0.5**0.5]], rtol=1e-6)
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous


def test_progress_ends_with_all_targets():
    queries, targets = random_space(30, 2000)
    steps = []
    retrieve(queries, targets, memory=200_000, threads=2, progress=steps.append, measure="csls")
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert (steps[-1].done, steps[-1].total) == (2000, 2000)
    assert len(steps) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "`count` must be 1 or more. Got 0"),
        ({"measure": "csls", "neighbourhood": 0}, "`neighbourhood` must be 1 or more"),
        ({"measure": "inverted-softmax", "temperature": 0.0}, "`temperature` must be above 0"),
        ({"measure": "euclid"}, "`measure` must be one of csls, cosine"),
        ({"engine": "annoy"}, "`engine` must be one of exact, faiss"),
        ({"threads": 0}, "`threads` must be 1 or more"),
        ({"bias": np.zeros(8)}, "`bias` works only with the `measure` dot"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    queries, targets = random_space(6, 8)
    with pytest.raises(UsageError, match=message):
        retrieve(queries, targets, **options)


def test_vectors_that_make_no_sense_are_refused():
    queries, targets = random_space(6, 8)
    broken = targets.copy()
    broken[4, 7] = np.nan
    with pytest.raises(DataError, match=r"row 4 \(from 0\) of the targets has a value that is not a finite float32"):
        retrieve(queries, broken)
    with pytest.raises(DataError, match="width 20 cannot be compared with vectors of width 19"):
        retrieve(queries, targets[:, :19])
    with pytest.raises(DataError, match="whose rows are vectors"):
        retrieve(queries[0], targets)
    with pytest.raises(DataError, match="bias must be 8 numbers"):
        retrieve(queries, targets, measure="dot", bias=np.zeros(7))
    with pytest.raises(DataError, match="too much for float32; scale them down"):
        retrieve(queries * np.float32(1e30), targets * np.float32(1e10), measure="dot")
    with pytest.raises(DataError, match="all vectors of the sources are zero"):
        retrieve(queries, targets, sources=0 * queries, measure="csls")


# -- faiss ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", RETRIEVAL_MEASURES)
def test_faiss_finds_the_same(measure):
    pytest.importorskip("faiss")
    queries, targets = random_space(60, 500)
    bias = np.linspace(-1, 1, 500) if measure == "dot" else None
    wanted, found = (retrieve(queries, targets, measure=measure, bias=bias, engine=e) for e in ("exact", "faiss"))
    assert wanted.rows.tobytes() == found.rows.tobytes()
    assert wanted.scores.tobytes() == found.scores.tobytes()


def test_faiss_that_is_not_installed_is_asked_for_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    queries, targets = random_space(6, 8)
    with pytest.raises(UsageError, match=r"pip install faiss-cpu"):
        retrieve(queries, targets, engine="faiss")
