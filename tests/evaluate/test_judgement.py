from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrase_scores as oracles
from cepts.errors import DataError
from cepts.evaluate import binary_judgement, choose_threshold, intervals, ranking

JUDGED = st.lists(st.tuples(st.integers(-3, 3).map(lambda n: n / 2), st.integers(0, 1)), min_size=1, max_size=12)
ANSWERS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from("pqr")), min_size=1, max_size=15)


@settings(deadline=None)
@given(JUDGED)
def test_no_threshold_is_more_accurate(judged):
    scores, labels = zip(*judged, strict=True)
    got = binary_judgement(scores, labels, choose_threshold(scores, labels))
    assert round(got.accuracy * len(scores)) == oracles.best_accuracy(scores, labels)


@pytest.mark.parametrize(
    ("scores", "labels", "threshold"),
    [
        ([1, 3], [0, 1], 2),
        ([3, 1], [1, 0], 2),
        ([1, 2, 5], [0, 1, 1], 1.5),
        ([0, 1, 2, 5, 6], [0, 1, 0, 1, 1], 3.5),  # as good between 0 and 1, which is narrower
        ([1, 2, 3, 4], [0, 1, 0, 1], 1.5),  # two gaps as good and as wide: the lower
        ([2, 4], [1, 1], 2),
        ([2, 4], [0, 0], np.nextafter(4, 5)),
        ([2, 2], [0, 1], 2),
    ],
)
def test_thresholds_worked_by_hand(scores, labels, threshold):
    assert choose_threshold(scores, labels) == threshold


def test_neighbouring_floats_are_kept_apart():
    low = 0.1
    high = float(np.nextafter(low, 1))
    assert choose_threshold([low, high], [0, 1]) == high


@settings(deadline=None)
@given(JUDGED, st.floats(-2, 2))
def test_judgements_are_counted(judged, threshold):
    scores, labels = zip(*judged, strict=True)
    got = binary_judgement(scores, labels, threshold)
    pairs = [(score >= threshold, label > 0) for score, label in judged]
    yes, true, both = sum(a for a, _ in pairs), sum(b for _, b in pairs), sum(a and b for a, b in pairs)
    assert got.accuracy == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert got.precision == pytest.approx(oracles.ratio(both, yes))
    assert got.recall == pytest.approx(oracles.ratio(both, true))
    assert got.f1 == pytest.approx(oracles.ratio(2 * both, yes + true))


def test_judgements_have_intervals_and_a_signature():
    got = binary_judgement([1, 0] * 50, [1, 0, 0, 0] * 25, 0.5)
    assert intervals(got, samples=200)["accuracy"].low < 0.75 < intervals(got, samples=200)["accuracy"].high
    assert got.signature.startswith("pairs:100|threshold:0.5|")


@settings(deadline=None)
@given(ANSWERS, st.sampled_from(["mixed", "answered", "all"]))
def test_rankings_equal_the_oracle(answers, keep):
    got = ranking(*zip(*answers, strict=True), keep=keep)
    wanted = {}
    for question in dict.fromkeys(group for _, _, group in answers):
        mine = sorted([(score, label) for score, label, group in answers if group == question], key=lambda a: -a[0])
        labels = [label for _, label in mine]
        if keep == "all" or (any(labels) and (keep == "answered" or not all(labels))):
            wanted[question] = labels
    assert list(got.questions) == list(wanted)
    average = [oracles.average_precision(labels, sum(labels)) for labels in wanted.values()]
    assert got.average_precisions.tolist() == pytest.approx(average)
    assert got.reciprocal_ranks.tolist() == pytest.approx([oracles.reciprocal_rank(v) for v in wanted.values()])
    assert got.mean_average_precision == pytest.approx(sum(average) / max(len(average), 1))


def test_a_judgement_file_says_which_questions_count_and_of_how_many_answers():
    got = ranking([3, 2, 1, 9, 8], [0, 1, 0, 0, 1], list("ppprr"), judged={"p": 2, "gone": 1})
    assert got.questions == ("p",)
    assert (got.mean_average_precision, got.mean_reciprocal_rank) == (0.25, 0.5)
    assert got.signature.startswith("questions:1|answers:3|kept:judged|")
    none = ranking([3], [0], ["p"], judged={"p": 2})
    assert (none.mean_average_precision, none.mean_reciprocal_rank) == (0, 0)


def test_rankings_have_intervals():
    got = ranking([2, 1] * 30, [1, 0, 0, 1] * 15, [n // 2 for n in range(60)])
    found = intervals(got, samples=200)
    assert found["map"].low < got.mean_average_precision < found["map"].high
    assert got.mean_reciprocal_rank == 0.75


def test_bad_input():
    with pytest.raises(ValueError, match="`scores` and `labels` must be of the same length"):
        choose_threshold([1, 2], [1])
    with pytest.raises(DataError, match="found no sentence pairs"):
        choose_threshold([], [])
    with pytest.raises(DataError, match="sentence pair 2: found the score nan"):
        binary_judgement([1, np.nan], [1, 0], 0)
    with pytest.raises(DataError, match="sentence pair 1: found the label nan"):
        binary_judgement([1, 2], [np.nan, 0], 0)
    with pytest.raises(ValueError, match="`groups` must have the same length"):
        ranking([1], [1], [])
    with pytest.raises(ValueError, match="`keep` must be one of"):
        ranking([1], [1], ["q"], keep="some")
