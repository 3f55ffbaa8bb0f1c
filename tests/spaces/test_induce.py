"""Entries that a fitted space finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_spaces
import oracles_spaces_models as oracles
from cepts.errors import UsageError
from cepts.spaces import METHODS, Procrustes
from cepts.spaces.induce import Induction, induce, mutual_pairs


def points(seed, count, width=4):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


@pytest.mark.parametrize("measure", ["cosine", "csls"])
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 25))
def test_mutual_pairs_are_highest_in_line_and_column(measure, seed, left, right):
    x, y = points(seed, left), points(seed + 1, right)
    pairs, scores = mutual_pairs(x, y, measure=measure)
    table = oracles_spaces.score_matrix(x, y, measure)
    assert [tuple(pair) for pair in pairs.tolist()] == oracles.mutual_nearest(table)
    np.testing.assert_allclose(scores, [table[i, j] for i, j in pairs], rtol=1e-5, atol=1e-5)


def test_a_vector_of_zeros_has_no_partner():
    x, y = points(0, 5), points(0, 5)
    x[2] = 0.0
    pairs, _ = mutual_pairs(x, y)
    assert 2 not in pairs[:, 0]
    assert len(pairs) >= 1
    empty, scores = mutual_pairs(np.zeros_like(x), y)
    assert empty.shape == (0, 2)
    assert len(scores) == 0


def test_stochastic_pairs_find_each_other_among_the_candidates_that_are_kept():
    x = points(0, 40)
    y = x + 0.3 * points(1, 40)
    found = [mutual_pairs(x, y, keep=0.3, random=np.random.default_rng(seed))[0].tolist() for seed in (5, 5, 6)]
    assert found[0] == found[1] != found[2]
    all_pairs, _ = mutual_pairs(x, y)
    assert 0 < len(found[0]) < len(all_pairs)
    assert len({first for first, _ in found[0]}) == len({second for _, second in found[0]}) == len(found[0])
    certain, _ = mutual_pairs(x, y, keep=1.0, random=np.random.default_rng(5))
    assert certain.tolist() == all_pairs.tolist()


def test_the_first_entries_stay_with_their_weights():
    x = points(0, 30)
    rows, weights = np.array([[0, 1], [2, 2]]), np.array([0.25, 0.5])
    seen = []

    def fit(entries, masses):
        seen.append((entries, masses))
        return [x, x]

    found, masses, rounds = induce(fit, rows, weights, Induction(rounds=2, measure="cosine"))
    assert found[:2].tolist() == rows.tolist()
    assert masses[:2].tolist() == weights.tolist()
    assert (masses[2:] == 1.0).all()
    assert found[2:].tolist() == [[row, row] for row in range(30)]
    assert [entries.tolist() for entries, _ in seen] == [rows.tolist(), found.tolist()]
    assert [one.entries for one in rounds] == [30, 30]


def test_it_ends_when_the_entries_are_no_longer_more_alike():
    x = points(0, 30)
    calls = []
    _, _, rounds = induce(
        lambda *given: calls.append(given) or [x, x], np.zeros((1, 2), int), np.ones(1), Induction(rounds=9)
    )
    assert len(rounds) == len(calls) == 3


def test_every_pair_of_views_gives_entries():
    x = points(0, 20)
    once = Induction(rounds=1, measure="cosine")
    found, _, rounds = induce(lambda *_: [x, x, x], np.array([[0, 0, 0]]), np.ones(1), once)
    assert rounds[0].entries == 60
    patterns = {tuple(row >= 0) for row in found[1:]}
    assert patterns == {(True, True, False), (True, False, True), (False, True, True)}


def test_no_entries_found_leave_what_there_was():
    nothing = np.zeros((4, 3), dtype=np.float32)
    rows = np.array([[0, 0], [1, 1]])
    found, weights, rounds = induce(lambda *_: [nothing, nothing], rows, np.ones(2), Induction())
    assert found.tolist() == rows.tolist()
    assert weights.tolist() == [1.0, 1.0]
    assert rounds == []


@pytest.mark.parametrize("method", ["ibfa", "procrustes"])
def test_a_small_dictionary_grows_to_nearly_all_pairs(method):
    views = oracles.translated_views(400, (16, 16), noise=0.25)
    given = oracles.right_dictionary(views, range(14))
    settings = {} if method == "procrustes" else {"shrinkage": 0.3, "exponent": 0.5}
    alone = METHODS[method](**settings).fit(views, given)
    grown = METHODS[method](induction=Induction(rounds=5), **settings).fit(views, given)

    def right(space):
        placed = [space.project(view.matrix, number) for number, view in enumerate(views)]
        pairs, _ = mutual_pairs(*placed)
        return int((pairs[:, 0] == pairs[:, 1]).sum())

    assert right(grown) >= 385
    assert right(grown) > right(alone)
    assert grown.report_.rounds[-1].entries >= 385
    assert grown.record_.induced > 300


def test_stochastic_induction_is_the_same_for_the_same_seed():
    views = oracles.translated_views(200, (12, 12), noise=0.3)
    given = oracles.right_dictionary(views, range(20))
    induction = Induction(rounds=4, keep=0.2, vocabulary=150)
    one, again, other = (Procrustes(induction=induction, seed=seed).fit(views, given) for seed in (1, 1, 2))
    assert one.space_.maps[0].tobytes() == again.space_.maps[0].tobytes()
    assert one.report_.rounds == again.report_.rounds != other.report_.rounds
    assert all(found.entries <= 150 for found in one.report_.rounds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": -1}, "`rounds` must be 0 or more. Got -1"),
        ({"vocabulary": 0}, "`vocabulary` must be 1 or more. Got 0"),
        ({"keep": 0.0}, "`keep` must be above 0 and at most 1. Got 0.0"),
        ({"keep": 1.5}, "`keep` must be above 0 and at most 1. Got 1.5"),
        ({"keep": float("nan")}, "`keep` must be above 0 and at most 1. Got nan"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(UsageError, match=message) as error:
        Induction(**options)
    assert "\n" not in str(error.value)
