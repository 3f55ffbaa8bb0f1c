from __future__ import annotations

import numpy as np
import pytest

from cepts import evaluate
from cepts.data import Alignments
from cepts.errors import DataError
from cepts.evaluate import resampling


def noisy(gold, wrong, seed):
    """Links of `gold`, a share of them moved by one target word."""
    rng = np.random.default_rng(seed)
    return Alignments.from_links([(i, j + int(rng.random() < wrong)) for i, j in row] for row in gold)


ROWS = [[(i, 2 * i) for i in range(1 + n % 7)] for n in range(60)]
GOLD = Alignments.from_links(ROWS)
GOOD = evaluate.compare(GOLD, noisy(ROWS, 0.05, 1))
BAD = evaluate.compare(GOLD, noisy(ROWS, 0.30, 2))


def test_intervals_hold_their_score_and_are_reproducible():
    got = evaluate.intervals(BAD, samples=500, seed=3)
    assert set(got) == set(evaluate.METRICS)
    for metric, interval in got.items():
        assert 0 <= interval.low <= getattr(BAD.scores, metric) <= interval.high <= 1
        assert interval.low < interval.high
    assert got == evaluate.intervals(BAD, samples=500, seed=3)
    assert got != evaluate.intervals(BAD, samples=500, seed=4)
    narrow = evaluate.intervals(BAD, samples=500, seed=3, level=0.5)["aer"]
    assert got["aer"].low < narrow.low < narrow.high < got["aer"].high


def test_chunks_do_not_change_the_numbers(monkeypatch):
    wanted = evaluate.intervals(BAD, samples=50), evaluate.differences(GOOD, BAD, samples=50)
    monkeypatch.setattr(resampling, "_CHUNK", 7 * len(ROWS))
    assert (evaluate.intervals(BAD, samples=50), evaluate.differences(GOOD, BAD, samples=50)) == wanted


def test_interval_has_the_width_theory_gives():
    """With one link in each of n pairs and a share p of them wrong, AER has the variance p (1 - p) / n."""
    wrong, pairs = 30, 120
    gold = Alignments.from_links([[(0, 0)]] * pairs)
    system = Alignments.from_links([[(0, int(n < wrong))] for n in range(pairs)])
    got = evaluate.intervals(evaluate.compare(gold, system), samples=4000)["aer"]
    half = 1.96 * np.sqrt(0.25 * 0.75 / pairs)
    assert got.low == pytest.approx(0.25 - half, abs=0.015)
    assert got.high == pytest.approx(0.25 + half, abs=0.015)


def test_a_perfect_system_has_no_interval():
    got = evaluate.intervals(evaluate.compare(GOLD, GOLD), samples=20)
    assert (got["aer"].low, got["aer"].high) == (0, 0)


def test_a_clear_difference_is_significant():
    got = evaluate.differences(GOOD, BAD, samples=999, seed=5)["aer"]
    assert got.value == pytest.approx(BAD.scores.aer - GOOD.scores.aer)
    assert (got.first, got.second) == pytest.approx((GOOD.scores.aer, BAD.scores.aer))
    assert 0 < got.interval.low < got.value < got.interval.high
    assert got.p_value == 1 / 1000
    turned = evaluate.differences(BAD, GOOD, samples=999, seed=5)["aer"]
    assert turned.value == -got.value
    assert turned.p_value == got.p_value
    assert "test:approximate-randomisation|samples:999|seed:5" in got.signature


def test_a_system_does_not_differ_from_itself():
    got = evaluate.differences(BAD, BAD, samples=99)["aer"]
    assert (got.value, got.p_value, got.interval.low, got.interval.high) == (0, 1, 0, 0)


def test_the_p_value_is_that_of_all_exchanges():
    """Four pairs can be exchanged in 16 ways, of which the two extreme ones are as large as what is seen."""
    gold = Alignments.from_links([[(0, 0)]] * 4)
    right, wrong = gold, Alignments.from_links([[(0, 1)]] * 4)
    first, second = evaluate.compare(gold, right), evaluate.compare(gold, wrong)
    got = evaluate.differences(first, second, samples=8000)["aer"]
    assert got.p_value == pytest.approx(2 / 16, abs=0.015)


def test_any_metric_can_be_compared():
    got = evaluate.differences(GOOD, BAD, samples=99)["sure_f1"]
    assert got.value == pytest.approx(BAD.scores.sure_f1 - GOOD.scores.sure_f1)
    assert got.value < 0


def test_no_sentences():
    nothing = evaluate.compare(Alignments.from_links([]), Alignments.from_links([]))
    assert evaluate.intervals(nothing, samples=3)["aer"] == evaluate.Interval(0, 0)
    assert evaluate.differences(nothing, nothing, samples=3)["aer"].p_value == 1


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="`samples` must be 1 or more"):
        evaluate.intervals(GOOD, samples=0)
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1"):
        evaluate.intervals(GOOD, level=95)
    one = evaluate.compare(Alignments.from_links([[]]), Alignments.from_links([[]]))
    with pytest.raises(DataError, match="on 60 sentence pairs and the second on 1"):
        evaluate.differences(GOOD, one)


def test_several_systems_are_resampled_as_one_by_one():
    found = evaluate.resample([GOOD, BAD, GOOD], samples=50, seed=3)
    assert found.intervals == [evaluate.intervals(system, samples=50, seed=3) for system in (GOOD, BAD, GOOD)]
    assert found.differences == [evaluate.differences(GOOD, other, samples=50, seed=3) for other in (BAD, GOOD)]
    assert found.facts == {"bootstrap": 50, "seed": 3, "level": "0.95", "test": "approximate-randomisation"}
    assert "test" not in evaluate.resample([GOOD], samples=50).facts
    assert evaluate.resample([GOOD, BAD], samples=0) == evaluate.Resampled([], [], {})
