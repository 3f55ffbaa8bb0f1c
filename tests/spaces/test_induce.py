"""Entries that a fitted space finds: which pairs, how sure they are, and whether they are used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import oracles_spaces
import oracles_spaces_models as oracles
from cepts.errors import UsageError
from cepts.spaces import IBFA, MBFA, METHODS, Procrustes
from cepts.spaces.induce import Induction, induce, mutual_pairs
from cepts.spaces.retrieve import retrieve
from cepts.spaces.sureness import MutualPairs, Sureness


def points(seed, count, width=4):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


def pairs_of(x, y, *, measure="csls", count=10, **options):
    """The mutual pairs of two matrices."""
    there, back = (retrieve(*sides, measure=measure, count=count) for sides in ((x, y), (y, x)))
    return mutual_pairs(there, back, **options)


@pytest.mark.parametrize("measure", ["cosine", "csls"])
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 25), st.sampled_from([2, 10]))
def test_mutual_pairs_are_highest_in_line_and_column(measure, seed, left, right, count):
    x, y = points(seed, left), points(seed + 1, right)
    found = pairs_of(x, y, measure=measure, count=count)
    table = oracles_spaces.score_matrix(x, y, measure)
    assert [tuple(pair) for pair in found.rows.tolist()] == oracles.mutual_nearest(table)
    np.testing.assert_allclose(found.scores, [table[i, j] for i, j in found.rows], rtol=1e-5, atol=1e-5)
    for (i, j), margin in zip(found.rows, found.margins, strict=True):
        others = [*np.delete(table[i], j), *np.delete(table[:, j], i)]
        wanted = table[i, j] - max(others, default=-np.inf)
        assert margin == pytest.approx(wanted, abs=1e-5)


def test_a_vector_of_zeros_has_no_partner():
    x, y = points(0, 5), points(0, 5)
    x[2] = 0.0
    found = pairs_of(x, y)
    assert 2 not in found.rows[:, 0]
    assert len(found.rows) >= 1
    empty = pairs_of(np.zeros_like(x), y)
    assert empty.rows.shape == (0, 2)
    assert len(empty.scores) == len(empty.margins) == 0


def test_stochastic_pairs_find_each_other_among_the_candidates_that_are_kept():
    x = points(0, 40)
    y = x + 0.3 * points(1, 40)
    found = [pairs_of(x, y, keep=0.3, random=np.random.default_rng(seed)) for seed in (5, 5, 6)]
    rows = [each.rows.tolist() for each in found]
    assert rows[0] == rows[1] != rows[2]
    all_pairs = pairs_of(x, y)
    assert 0 < len(rows[0]) < len(all_pairs.rows)
    assert len({first for first, _ in rows[0]}) == len({second for _, second in rows[0]}) == len(rows[0])
    # Where a nearer neighbour was passed over, another is nearer than the partner.
    best = {tuple(pair) for pair in all_pairs.rows.tolist()}
    for pair, margin in zip(rows[0], found[0].margins, strict=True):
        assert (margin >= 0) == (tuple(pair) in best)
    certain = pairs_of(x, y, keep=1.0, random=np.random.default_rng(5))
    assert certain.rows.tolist() == all_pairs.rows.tolist()


# -- how sure pairs are --------------------------------------------------------------------------------------


def some_pairs(seed, count):
    random = np.random.default_rng(seed)
    rows = random.integers(0, 5000, (count, 2))
    return MutualPairs(rows, random.standard_normal(count), random.uniform(0, 1.5, count))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 60), st.floats(0, 1))
@example(49185, 4, 0.0)
def test_sureness_is_the_maximum_of_its_penalised_likelihood(seed, count, share):
    pairs = some_pairs(seed, count)
    right = np.random.default_rng(seed + 1).random(count) < share
    evidence = np.stack(
        [pairs.scores, np.sqrt(np.minimum(pairs.margins, 1.0)), np.log(1 + pairs.rows.max(axis=1))], axis=1
    )
    spread = evidence.std(axis=0)
    spread[spread == 0] = 1.0  # Margins that are all wide are evidence of nothing.
    scaled = (evidence - evidence.mean(axis=0)) / spread

    def loss(weights):
        values = weights[0] + scaled @ weights[1:]
        signs = np.where(right, 1, -1)
        average = np.logaddexp(0, -weights[0]) + np.logaddexp(0, weights[0])
        return np.logaddexp(0, -signs * values).sum() + average + 0.5 * weights[1:] @ weights[1:]

    wanted = minimize(loss, np.zeros(4), options={"gtol": 1e-9}).x
    found = Sureness.learn(pairs, right)
    np.testing.assert_allclose(found.weights, wanted, atol=1e-4)
    others = some_pairs(seed + 2, 5)
    their = np.stack(
        [others.scores, np.sqrt(np.minimum(others.margins, 1.0)), np.log(1 + others.rows.max(axis=1))], axis=1
    )
    values = wanted[0] + (their - evidence.mean(axis=0)) / spread @ wanted[1:]
    np.testing.assert_allclose(found.probability(others), 1 / (1 + np.exp(-values)), atol=1e-3)


def test_nothing_judged_leaves_one_half():
    nothing = MutualPairs(np.empty((0, 2), dtype=np.int64), np.empty(0), np.empty(0))
    found = Sureness.learn(nothing, np.empty(0, dtype=bool))
    np.testing.assert_allclose(found.probability(some_pairs(0, 4)), 0.5)


def test_an_infinite_margin_is_one_like_any_wide_one():
    pairs = some_pairs(3, 30)
    found = Sureness.learn(pairs, pairs.margins > 0.5)
    one = MutualPairs(np.array([[3, 4], [3, 4]]), np.array([0.2, 0.2]), np.array([np.inf, 1.2]))
    assert found.probability(one)[0] == found.probability(one)[1] > 0.5


# -- growing a dictionary ------------------------------------------------------------------------------------


def test_words_without_an_entry_get_one_and_the_first_entries_stay():
    x = points(0, 30)
    rows, weights = np.array([[0, 1], [2, 2]]), np.array([0.25, 0.5])
    seen = []

    def fit(entries, masses):
        seen.append((entries, masses))
        return [x, x]

    found, masses, report = induce(fit, rows, weights, Induction(rounds=2, measure="cosine"))
    assert found[:2].tolist() == rows.tolist()
    assert masses[:2].tolist() == weights.tolist()
    # Word 0 of one side and word 1 of the other have an entry, so neither gets another.
    assert found[2:].tolist() == [[row, row] for row in range(3, 30)]
    # Two entries are too few to hold some out: all that is found is used, and counts fully.
    assert (masses[2:] == 1.0).all()
    assert [entries.tolist() for entries, _ in seen] == [rows.tolist(), found.tolist()]
    assert [one.entries for one in report.rounds] == [27, 27]
    assert [one.sure for one in report.rounds] == [1.0, 1.0]
    assert report.held_out == ()


def test_it_ends_when_the_entries_are_no_longer_more_alike():
    x = points(0, 30)
    calls = []
    _, _, report = induce(
        lambda *given: calls.append(given) or [x, x], np.zeros((1, 2), int), np.ones(1), Induction(rounds=9)
    )
    assert len(report.rounds) == len(calls) == 3


def test_every_pair_of_views_gives_entries():
    x = points(0, 20)
    once = Induction(rounds=1, measure="cosine")
    found, _, report = induce(lambda *_: [x, x, x], np.array([[0, 0, 0]]), np.ones(1), once)
    assert report.rounds[0].entries == 57
    patterns = {tuple(row >= 0) for row in found[1:]}
    assert patterns == {(True, True, False), (True, False, True), (False, True, True)}


def test_a_word_may_lack_an_entry_with_one_language_alone():
    x = points(0, 20)
    given = np.array([[0, 0, -1], [1, 1, 1]])
    found, _, _ = induce(lambda *_: [x, x, x], given, np.ones(2), Induction(rounds=1, measure="cosine"))
    added = {tuple(row) for row in found[2:].tolist()}
    assert (0, -1, 0) in added
    assert (-1, 0, 0) in added
    assert not {(0, 0, -1), (1, -1, 1)} & added


def test_no_entries_found_leave_what_there_was():
    nothing = np.zeros((4, 3), dtype=np.float32)
    rows = np.array([[0, 0], [1, 1]])
    found, weights, report = induce(lambda *_: [nothing, nothing], rows, np.ones(2), Induction())
    assert found.tolist() == rows.tolist()
    assert weights.tolist() == [1.0, 1.0]
    assert report.rounds == ()


# -- the rehearsal -------------------------------------------------------------------------------------------


class Rehearsed:
    """A fit in which word n of one side is near word n of the other; `gains` are the noise of each later fit."""

    def __init__(self, words=300, *, noises):
        self.x, self.errors = points(0, words, 12), points(1, words, 12)
        self.noises, self.calls = noises, []

    def __call__(self, rows, weights):
        self.calls.append((rows, weights))
        noise = self.noises[min(len(self.calls), len(self.noises)) - 1]
        return [self.x, self.x + noise * self.errors]


GIVEN = np.stack([np.arange(150)] * 2, axis=1)


@pytest.mark.parametrize(
    ("noises", "kept"),
    [([0.6, 0.9], 0), ([0.9, 0.6, 0.9], 1), ([0.9, 0.8, 0.6, 0.9], 2), ([0.9, 0.8, 0.7, 0.6], 3)],
)
def test_only_rounds_after_which_held_out_words_are_found_better_are_used(noises, kept):
    fit = Rehearsed(noises=noises)
    found, masses, report = induce(fit, GIVEN, np.ones(150), Induction(rounds=3))
    ranks = report.held_out
    assert int(np.argmax(ranks)) == kept == len(report.rounds)
    # It stops after the first round that does not help, and fits once more for each round that is used.
    assert len(ranks) == min(kept + 2, 4)
    assert len(fit.calls) == len(ranks) + kept
    assert (len(found) == 150) == (kept == 0)
    assert found[:150].tolist() == GIVEN.tolist()
    # A fifth of the given entries is held out in the rehearsal, and none afterwards.
    assert len(fit.calls[0][0]) == 120
    assert all(len(rows) >= 150 for rows, _ in fit.calls[len(ranks) :])
    assert ((masses[150:] > 0) & (masses[150:] < 1)).all()


def test_entries_count_as_much_as_they_are_likely_to_be_right():
    """Half of the words are where their translation is, the other half anywhere."""
    random = np.random.default_rng(0)
    x = points(0, 1500, 8)
    y = x + 0.3 * points(1, 1500, 8)
    wrong = random.permutation(1500)[:750]
    y[wrong] = points(2, 750, 8)
    given_words = np.sort(random.permutation(1500)[:1000])
    rows = np.stack([given_words] * 2, axis=1)
    calls = iter(range(100))

    def fit(*_):
        """Each fit is a little better, so that induction is used."""
        return [x, y + (0.1 - 0.01 * next(calls)) * points(3, 1500, 8)]

    found, masses, report = induce(fit, rows, np.ones(1000), Induction(rounds=1))
    (only,) = report.rounds
    new, mass = found[1000:], masses[1000:]
    right = (new[:, 0] == new[:, 1]) & ~np.isin(new[:, 0], wrong)
    assert 0.25 < right.mean() < 0.9
    assert mass[right].mean() > mass[~right].mean() + 0.2
    assert mass.mean() == pytest.approx(only.sure)
    assert mass.mean() == pytest.approx(right.mean(), abs=0.08)


@pytest.mark.parametrize("alike", [False, True])
def test_entries_that_are_spelt_the_same_do_not_judge(alike):
    """Fits that get worse: only other entries say so."""
    fit = Rehearsed(noises=[0.6, 0.9])
    mask = np.full(150, alike)
    _, masses, report = induce(fit, GIVEN, np.ones(150), Induction(rounds=2), alike=mask)
    assert (len(report.rounds), len(report.held_out)) == ((2, 0) if alike else (0, 2))
    assert (masses[150:] < 1).all()  # how sure entries are, they do tell


def test_words_outside_of_the_vocabulary_are_not_asked_for():
    fit = Rehearsed(words=100, noises=[0.6])
    rows = np.concatenate([GIVEN[:50], np.stack([np.arange(1000, 2000)] * 2, axis=1)])
    _, _, report = induce(fit, rows, np.ones(len(rows)), Induction(rounds=1, vocabulary=100))
    assert report.held_out == ()  # about 200 words are held out, but only about 10 of them are among the first 100


@pytest.mark.parametrize("method", ["ibfa", "procrustes"])
def test_a_small_dictionary_grows_to_nearly_all_pairs(method):
    views = oracles.translated_views(400, (16, 16), noise=0.25)
    given = oracles.right_dictionary(views, range(14))
    settings = {} if method == "procrustes" else {"shrinkage": 0.3, "exponent": 0.5}
    alone = METHODS[method](**settings).fit(views, given)
    grown = METHODS[method](induction=Induction(rounds=5), **settings).fit(views, given)

    def right(space):
        placed = [space.project(view.matrix, number) for number, view in enumerate(views)]
        found = pairs_of(*placed).rows
        return int((found[:, 0] == found[:, 1]).sum())

    assert right(grown) >= 385
    assert right(grown) > right(alone)
    assert grown.report_.induction.rounds[-1].entries >= 370
    assert grown.record_.induced > 300


@pytest.mark.parametrize("kind", [IBFA, MBFA])
def test_a_dictionary_of_some_size_is_rehearsed_and_helps(kind):
    widths = (20, 20) if kind is IBFA else (20, 20, 20)
    views = oracles.translated_views(500, widths, noise=0.6)
    given = oracles.right_dictionary(views, range(120))
    model = kind(induction=Induction(rounds=2), shrinkage=0.3, exponent=0.5).fit(views, given)
    report = model.report_.induction
    assert len(report.held_out) > 1
    assert 1 <= len(report.rounds) == int(np.argmax(report.held_out))
    assert 0.3 < report.rounds[0].sure < 1
    assert model.record_.induced == report.rounds[-1].entries


def test_stochastic_induction_is_the_same_for_the_same_seed():
    views = oracles.translated_views(200, (12, 12), noise=0.3)
    given = oracles.right_dictionary(views, range(20))
    induction = Induction(rounds=4, keep=0.2, vocabulary=150)
    one, again, other = (Procrustes(induction=induction, seed=seed).fit(views, given) for seed in (1, 1, 2))
    assert one.space_.maps[0].tobytes() == again.space_.maps[0].tobytes()
    assert one.report_.induction == again.report_.induction != other.report_.induction
    assert all(found.entries <= 150 for found in one.report_.induction.rounds)


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
