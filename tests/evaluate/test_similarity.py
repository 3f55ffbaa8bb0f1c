from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles_evaluate as oracles
from cepts import evaluate
from cepts.data import Vectors
from cepts.errors import DataError

SMALL = st.integers(-3, 3)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=12))
def test_spearman_equals_counting_and_scipy(pairs):
    from scipy.stats import spearmanr

    first, second = zip(*pairs, strict=True)
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    got = evaluate.spearman(first, second)
    assert got == pytest.approx(oracles.spearman(first, second), abs=1e-12)
    assert got == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


def test_spearman_of_equal_values_is_no_number():
    assert np.isnan(evaluate.spearman([1, 1, 1], [1, 2, 3]))


WORDS = ["cat", "dog", "Paris", "tree", "void"]
MATRIX = np.array([[3, 1, 0], [2, 2, 1], [0, 1, 4], [-1, 2, 2], [0, 0, 0]], dtype=np.float16)
VECTORS = Vectors.from_words(WORDS, MATRIX, "en")
KNOWN = {"cat": 0, "Cat": 0, "dog": 1, "DOG": 1, "Paris": 2, "tree": 3}  # `paris` is no form of Paris; void is zero


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*KNOWN, "paris", "void", "unknown"]),
            st.sampled_from([*KNOWN, "paris", "void", "unknown"]),
            st.integers(0, 10),
        ),
        max_size=15,
    )
)
def test_word_similarity_equals_plain_counting(judged):
    covered = [(one, two, score) for one, two, score in judged if one in KNOWN and two in KNOWN]
    # The cosine of a word with itself differs from 1 by rounding, and so might equal cosines; whole numbers decide.
    cosines = [round(oracles.cosine(MATRIX[KNOWN[one]], MATRIX[KNOWN[two]]), 9) for one, two, _ in covered]
    pairs, scores = [(one, two) for one, two, _ in judged], [score for *_, score in judged]
    assume(len(set(cosines)) == len({frozenset((KNOWN[one], KNOWN[two])) for one, two, _ in covered}))
    if len(set(cosines)) < 2 or len({score for *_, score in covered}) < 2:
        with pytest.raises(DataError):
            evaluate.word_similarity(pairs, scores, VECTORS)
        return
    got = evaluate.word_similarity(pairs, scores, VECTORS, name="WS")
    assert (got.name, got.pairs, got.covered) == ("WS", len(judged), len(covered))
    assert got.coverage == pytest.approx(100 * len(covered) / len(judged))
    assert got.spearman == pytest.approx(100 * oracles.spearman(cosines, [score for *_, score in covered]))


def test_the_second_words_may_be_of_another_view():
    french = Vectors.from_words(["chat", "chien"], np.array([[1, 0, 0], [0, 1, 0]], dtype=np.float32))
    pairs = [("cat", "chat"), ("cat", "chien"), ("chat", "cat")]
    got = evaluate.word_similarity(pairs, [9, 2, 5], VECTORS, other=french)
    assert (got.spearman, got.pairs, got.covered) == (100, 3, 2)


def test_sentence_similarity_leaves_out_rows_of_zeros():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 30, 4)).astype(np.float32)
    scores = rng.integers(0, 6, size=30)
    first[3] = second[7] = 0
    got = evaluate.sentence_similarity(first, second, scores, name="STS")
    kept = [n for n in range(30) if n not in (3, 7)]
    cosines = [oracles.cosine(first[n], second[n]) for n in kept]
    assert got.spearman == pytest.approx(100 * oracles.spearman(cosines, scores[kept].tolist()))
    assert (got.pairs, got.covered) == (30, 28)
    assert got.signature.startswith("task:STS|correlation:spearman|pairs:30|covered:28|")
    assert set(got.as_dict()) == {"name", "spearman", "pairs", "covered", "coverage"}


def test_bad_input_is_one_clear_line():
    pairs = [("cat", "dog"), ("cat", "tree"), ("cat", "void")]
    with pytest.raises(DataError, match=r"WS: the human scores of all 2 pairs that have vectors are 5; a correlation"):
        evaluate.word_similarity(pairs, [5, 5, 6], VECTORS, name="WS")
    with pytest.raises(DataError, match=r"the pairs: the cosines of all 2 pairs that have vectors are 1; a corr"):
        evaluate.sentence_similarity(np.eye(2), np.eye(2), [1, 2])
    with pytest.raises(
        DataError, match=r"WS: 1 of 2 pairs have vectors on both sides, but a correlation needs at least two"
    ):
        evaluate.word_similarity([pairs[0], pairs[2]], [5, 6], VECTORS, name="WS")
    with pytest.raises(DataError, match=r"the pairs: 0 of 0 pairs"):
        evaluate.word_similarity([], [], VECTORS)
    with pytest.raises(DataError, match=r"WS: the score of pair 2 is nan; remove such pairs"):
        evaluate.word_similarity(pairs, [5, np.nan, 6], VECTORS, name="WS")
    with pytest.raises(ValueError, match=r"`scores` must be 3 numbers. Got an array of shape \(2,\)"):
        evaluate.word_similarity(pairs, [5, 6], VECTORS)
    with pytest.raises(ValueError, match=r"the same shape. Got \(2, 2\) and \(3, 3\)"):
        evaluate.sentence_similarity(np.eye(2), np.eye(3), [1, 2])
