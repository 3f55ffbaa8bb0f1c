from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_hypotheses as oracles
from cepts.errors import DataError
from cepts.evaluate import differences, intervals
from cepts.evaluate.word_errors import closest_hypothesis, word_errors

WORDS = st.lists(st.sampled_from("abc"), max_size=7)


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_counts_equal_recursion(pairs):
    references, hypotheses = [[*reference, "x"] for reference, _ in pairs], [hypothesis for _, hypothesis in pairs]
    scored = word_errors(references, hypotheses)
    for row, reference, hypothesis in zip(scored.counts.tolist(), references, hypotheses, strict=True):
        _, *edits = oracles.edits(reference, hypothesis)
        assert row == [*edits, len(reference), int(sum(edits) > 0), 1]
    assert scored.errors == sum(scored.counts[:, :3].sum(axis=1))


def test_rates():
    references = [["the", "cell", "divides", "in", "two"], ["a", "gene"], ["meiosis"]]
    hypotheses = [["the", "sell", "divides", "too"], ["a", "gene"], ["my", "oh", "sis"]]
    scored = word_errors(references, hypotheses, name="demo")
    # cell -> sell, in left out, two -> too; meiosis -> my, two more words put in
    assert scored.counts.tolist() == [[2, 0, 1, 5, 1, 1], [0, 0, 0, 2, 0, 1], [1, 2, 0, 1, 1, 1]]
    assert (scored.errors, len(scored)) == (6, 3)
    assert scored.wer == pytest.approx(75)
    got = scored.as_dict()
    assert (got["substitutions"], got["insertions"], got["deletions"], got["words"]) == (3, 2, 1, 8)
    assert got["utterance_error_rate"] == pytest.approx(200 / 3)
    assert got["insertion_rate"] == 25
    assert scored.signature.startswith("task:demo|rate:wer|utterances:3|words:8|case:kept|cepts:")


def test_more_words_may_be_wrong_than_there_are():
    assert word_errors([["a"]], [["b", "c", "d"]]).wer == 300
    assert word_errors([["a"], []], [[], ["b"]]).wer == 200


def test_case_and_accents_count():
    assert word_errors([["Ère", "ère"]], [["ère", "ere"]]).errors == 2


def test_intervals_and_differences():
    references = [["a", "b", "c", "d"]] * 40
    bad = word_errors(references, [["a", "x", "c", "y"]] * 40)
    good = word_errors(references, [["a", "b", "c", "y"]] * 40)
    assert intervals(bad, samples=50)["wer"].low == 50
    got = differences(bad, good, samples=200)["wer"]
    assert (got.first, got.second, got.value, got.p_value) == (50, 25, -25, 1 / 201)


def test_the_closest_hypothesis_is_the_first_of_the_best():
    assert closest_hypothesis(["a", "b"], [["a"], ["a", "b", "c"], ["b"], ["a", "x"]]) == 0
    assert closest_hypothesis(["a", "b"], [["x"], ["a", "b"]]) == 1
    assert closest_hypothesis([], [["x"], []]) == 1


@pytest.mark.parametrize(
    ("references", "hypotheses", "match"),
    [
        ([["a"]], [], "there are 1 references but 0 hypotheses"),
        ([[], []], [["a"], []], "the references have no words"),
        ([], [], "the references have no words"),
    ],
)
def test_what_cannot_be_scored(references, hypotheses, match):
    with pytest.raises(DataError, match=match) as caught:
        word_errors(references, hypotheses)
    assert "\n" not in str(caught.value)
