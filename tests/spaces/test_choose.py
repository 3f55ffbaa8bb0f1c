"""Exponent and shrinkage from held-out entries."""

from __future__ import annotations

import numpy as np
import pytest

import oracles_spaces_models as oracles
from cepts.spaces.choose import DEFAULT, EXPONENTS, SHRINKAGES, ChosenSettings, choose
from cepts.spaces.space import Preparation


def prepared(words=600, widths=(20, 20), noise=0.5, seed=0):
    views = oracles.translated_views(words, widths, noise=noise, seed=seed)
    return [Preparation.learn(view.matrix, ("unit", "centre", "unit"))[1] for view in views]


def rows_of(count, views=2):
    return np.stack([np.arange(count)] * views, axis=1)


def scores(choice):
    return {(exponent, shrinkage): score for exponent, shrinkage, score in choice.tried}


def test_the_best_that_was_tried_is_chosen():
    choice = choose(prepared(), rows_of(300), np.ones(300))
    tried = scores(choice)
    ridges = {ridge: tried[DEFAULT[0], ridge] for ridge in SHRINKAGES}
    assert ridges[choice.shrinkage] == max(ridges.values())
    powers = {power: tried[power, choice.shrinkage] for power in EXPONENTS}
    assert powers[choice.exponent] == max(powers.values())
    assert all(0.0 < score <= 1.0 for score in tried.values())


def test_few_entries_call_for_more_shrinkage_than_many():
    """With few more entries than dimensions, covariances without a ridge are mostly chance."""
    views = prepared(words=1500, widths=(60, 60), noise=0.8)
    few = choose(views, rows_of(110), np.ones(110), exponent=0.5)
    many = choose(views, rows_of(1500), np.ones(1500), exponent=0.5)
    assert few.shrinkage > many.shrinkage
    assert scores(few)[0.5, few.shrinkage] > 1.1 * scores(few)[0.5, min(SHRINKAGES)]


def test_what_is_given_is_kept():
    views, rows = prepared(), rows_of(300)
    assert choose(views, rows, np.ones(300), exponent=0.9, shrinkage=0.2) == ChosenSettings(0.9, 0.2)
    one = choose(views, rows, np.ones(300), exponent=0.9)
    assert one.exponent == 0.9
    assert one.shrinkage in SHRINKAGES
    assert {power for power, _, _ in one.tried} == {0.9}
    other = choose(views, rows, np.ones(300), shrinkage=0.2)
    assert other.shrinkage == 0.2
    assert other.exponent in EXPONENTS
    assert {ridge for _, ridge, _ in other.tried} == {0.2}


def test_the_seed_decides_which_words_are_held_out():
    views, rows = prepared(noise=1.0), rows_of(300)
    first, again, other = (choose(views, rows, np.ones(300), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.tried != other.tried


def test_held_out_words_take_all_their_entries_with_them():
    """Were one of two equal entries left in the fit, the other would be found too well."""
    views = prepared(words=300, noise=1.0)
    rows = np.concatenate([rows_of(150), rows_of(150)])
    once = choose(views, rows_of(150), np.ones(150), exponent=0.5, shrinkage=None)
    twice = choose(views, rows, np.ones(300), exponent=0.5, shrinkage=None)
    np.testing.assert_allclose([score for *_, score in once.tried], [score for *_, score in twice.tried], rtol=1e-6)


@pytest.mark.parametrize("count", [2, 50, 99])
def test_too_few_entries_to_hold_any_out_give_the_defaults(count):
    choice = choose(prepared(), rows_of(count), np.ones(count))
    assert (choice.exponent, choice.shrinkage) == DEFAULT
    assert choice.tried == ()
    assert choose(prepared(), rows_of(count), np.ones(count), exponent=1.0).shrinkage == DEFAULT[1]


def test_three_views_are_judged_pair_by_pair_whatever_is_missing():
    views = prepared(widths=(20, 16, 20))
    rows = rows_of(400, 3)
    rows[:200, 2] = -1
    rows[200:390, 1] = -1
    choice = choose(views, rows, np.ones(400))
    pairs = [
        choose([views[i], views[j]], part[:, [i, j]], np.ones(len(part)))
        for i, j, part in ((0, 1, rows[rows[:, 1] >= 0]), (0, 2, rows[rows[:, 2] >= 0]))
    ]
    key = DEFAULT[0], SHRINKAGES[0]
    assert scores(choice)[key] == pytest.approx(np.mean([scores(pair)[key] for pair in pairs]))


def test_more_factors_than_a_pair_of_views_has_are_no_hindrance():
    views = prepared(widths=(20, 6))
    assert choose(views, rows_of(200), np.ones(200), factors=20).shrinkage in SHRINKAGES
