from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles_evaluate as oracles
from cepts import evaluate
from cepts.data import Dictionary, Vectors
from cepts.errors import DataError


def view(words, name=""):
    words = list(words)
    return Vectors.from_words(words, np.ones((len(words), 2), dtype=np.float32), name)


def dictionary(*entries, name="test.txt"):
    return Dictionary(("en", "fr"), entries, name)


ENGLISH = view(["house", "cat", "dog", "home"], "en")
FRENCH = view(["maison", "chat", "chien", "foyer"], "fr")
TEST = dictionary(
    ("home", "logis"),
    ("cat", "chat"),
    ("home", "foyer"),
    ("home", "maison"),
    ("home", "foyer"),
    ("dog", "cabot"),
    ("bird", "chat"),
    ("tree", None),
)


def test_covered_words_keep_the_order_of_the_dictionary():
    gold = evaluate.gold_translations(TEST, ENGLISH, FRENCH)
    assert gold.source.tolist() == [3, 1]
    assert gold.target.tolist() == [3, 0, 1]
    assert gold.offsets.tolist() == [0, 2, 3]
    assert (gold.asked, len(gold), gold.name) == (4, 2, "test.txt")


def test_any_translation_is_right():
    gold = evaluate.gold_translations(TEST, ENGLISH, FRENCH)
    score = evaluate.translation_precision(gold, np.array([[1, 0], [3, 2]]), at=(1, 2))
    assert score.ranks.tolist() == [2, 0]
    assert score.precision == {1: 0, 2: 50}
    assert score.mean_reciprocal_rank == 25
    assert (score.asked, score.covered, score.coverage) == (4, 2, 50)
    assert score.as_dict() == {
        "asked": 4,
        "covered": 2,
        "coverage": 50,
        "precision_at_1": 0,
        "precision_at_2": 50,
        "mean_reciprocal_rank": 25,
    }
    assert score.signature.startswith("task:word-translation|dictionary:test.txt|asked:4|covered:2|at:1+2|found:2|")


WORDS = st.sampled_from("abcdefg")
ENTRIES = st.lists(st.tuples(WORDS | st.none(), WORDS | st.none()), max_size=20)


@given(ENTRIES, st.sets(WORDS), st.sets(WORDS), st.data())
def test_scores_equal_plain_counting(entries, source_words, target_words, data):
    source, target = view(sorted(source_words)), view(sorted(target_words))
    asked, right = oracles.questions(entries, source_words, target_words)
    if not right:
        with pytest.raises(DataError):
            evaluate.gold_translations(dictionary(*entries), source, target)
        return
    gold = evaluate.gold_translations(dictionary(*entries), source, target)
    assert (gold.asked, [source.words[row] for row in gold.source]) == (len(asked), list(right))
    wanted = [{target.words.index(word) for word in words} for words in right.values()]
    assert [
        set(gold.target[start:end].tolist()) for start, end in zip(gold.offsets[:-1], gold.offsets[1:], strict=True)
    ] == wanted

    depth = data.draw(st.integers(1, 5))
    row = st.lists(st.integers(-1, len(target) - 1), min_size=depth, max_size=depth)
    found = data.draw(st.lists(row, min_size=len(gold), max_size=len(gold)))
    at = data.draw(st.lists(st.integers(1, depth), min_size=1, unique=True))
    score = evaluate.translation_precision(gold, np.array(found), at=at)
    ranks = [oracles.first_hit(*pair) for pair in zip(found, wanted, strict=True)]
    assert score.ranks.tolist() == ranks
    assert score.precision == pytest.approx({k: oracles.precision(ranks, k) for k in at})
    assert score.mean_reciprocal_rank == pytest.approx(oracles.mean_reciprocal_rank(ranks))


@given(st.lists(st.tuples(st.integers(-1, 6), st.lists(st.integers(-1, 6), min_size=3, max_size=3)), min_size=1))
def test_sentences_have_one_translation(rows):
    right, found = [answer for answer, _ in rows], [answers for _, answers in rows]
    score = evaluate.retrieval_precision(np.array(found), np.array(right), at=(1, 3))
    assert score.ranks.tolist() == [oracles.first_hit(row, {answer}) for row, answer in zip(found, right, strict=True)]


def test_a_sentence_without_vectors_counts_as_missed():
    covered = np.array([True, False, True])
    score = evaluate.retrieval_precision(np.array([[0], [1], [0]]), np.arange(3), covered=covered, at=[1], name="ep")
    assert score.ranks.tolist() == [1, 0, 0]
    assert (score.asked, score.covered, score.precision[1]) == (3, 2, pytest.approx(100 / 3))
    assert "task:sentence-retrieval|bitext:ep|asked:3|covered:2" in score.signature


def scored(hits, depth=10):
    """A score of questions of which so many have a right answer at each place."""
    found = np.full((sum(hits), depth), 1)
    for question, place in enumerate(np.repeat(np.arange(len(hits)), hits)):
        if place:
            found[question, place - 1] = 0
    return evaluate.retrieval_precision(found, np.zeros(len(found), dtype=np.int64))


def test_intervals_have_the_width_theory_gives():
    score = scored([40, 100, 20])
    got = evaluate.intervals(score, samples=4000, seed=2)
    assert set(got) == set(score.metric_names)
    half = 196 * np.sqrt(0.625 * 0.375 / 160)
    assert (got["precision_at_1"].low, got["precision_at_1"].high) == pytest.approx((62.5 - half, 62.5 + half), abs=1)
    assert got["precision_at_5"] == got["precision_at_10"]
    for name in score.metric_names:
        assert got[name].low < score.as_dict()[name] < got[name].high
    assert got == evaluate.intervals(score, samples=4000, seed=2)
    assert got != evaluate.intervals(score, samples=4000, seed=3)


def test_two_systems_are_compared_in_pairs():
    worse, better = scored([60, 100]), scored([20, 140])
    got = evaluate.differences(worse, better, samples=999)["precision_at_1"]
    assert (got.value, got.p_value) == (25, 1 / 1000)
    assert 0 < got.interval.low < 25 < got.interval.high
    same = evaluate.differences(better, better, samples=99)["mean_reciprocal_rank"]
    assert (same.value, same.p_value, same.interval) == (0, 1, evaluate.Interval(0, 0))
    with pytest.raises(DataError, match="on 160 questions and the second on 30; only scores on the same gold data"):
        evaluate.differences(worse, scored([10, 20]))
    with pytest.raises(ValueError, match="scored in the same way"):
        evaluate.differences(worse, scored([60, 100], depth=12))


def test_an_empty_intersection_is_one_clear_line():
    with pytest.raises(DataError) as raised:
        evaluate.gold_translations(TEST.swapped(), ENGLISH, FRENCH)
    assert str(raised.value) == (
        "test.txt: none of the 5 source words is in the vocabularies together with a translation (en, 4 words, has 0 "
        "of the dictionary; fr, 4 words, has 0); check the order of the languages, and the case of the words."
    )
    with pytest.raises(DataError, match="the dictionary: none of the 0 source words"):
        evaluate.gold_translations(dictionary(name=""), view([]), view([]))


def test_bad_arguments_are_refused():
    gold = evaluate.gold_translations(TEST, ENGLISH, FRENCH)
    with pytest.raises(ValueError, match=r"a row for each of 2 questions. Got shape \(3, 10\)"):
        evaluate.translation_precision(gold, np.zeros((3, 10), dtype=np.int64))
    message = r"`at` must lie between 1 and 5, the number of answers found. Got \(1, 5, 10\)"
    with pytest.raises(ValueError, match=message):
        evaluate.translation_precision(gold, np.zeros((2, 5), dtype=np.int64))
    with pytest.raises(DataError, match="nothing to translate"):
        evaluate.retrieval_precision(np.zeros((0, 10), dtype=np.int64), np.zeros(0, dtype=np.int64))
