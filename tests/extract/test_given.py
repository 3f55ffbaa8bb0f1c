"""Scorers of what users bring, against brute force: links of two directions, matrices of probabilities or counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Alignments, Association, Bitext, offsets_of
from cepts.errors import DataError, UsageError
from cepts.extract import LinkScorer, MatrixScorer, are_probabilities, combine
from cepts.factor import in_counts

SIZE = 4
LINKS = st.dictionaries(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), st.sampled_from([0.25, 0.5, 1.0]), max_size=8
)


def alignments_of(pairs):
    """Links with confidences, which are given as a dictionary for each pair."""
    plain = Alignments.from_links(pairs)
    confidence = [pair[link] for pair, found in zip(pairs, plain, strict=True) for link in found.links]
    return Alignments(plain.offsets, plain.source, plain.target, np.array(confidence, dtype=np.float32), plain.sure)


@settings(deadline=None)
@given(st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=4), st.booleans())
def test_links_are_matrices_of_their_confidences(pairs, with_lengths):
    links = [alignments_of([pair[way] for pair in pairs]) for way in (0, 1)]
    if with_lengths:
        sizes = [(SIZE, SIZE + 1)] * len(pairs)
    else:  # a sentence reaches as far as its last link
        sizes = [tuple(1 + max((link[way] for link in {**a, **b}), default=-1) for way in (0, 1)) for a, b in pairs]
    lengths = [[size[way] for size in sizes] for way in (0, 1)] if with_lengths else [None, None]
    forward, reverse = LinkScorer(*links, *lengths, threads=1).posteriors(None)
    for n, (one, other) in enumerate(pairs):
        ahead, back = np.zeros(sizes[n]), np.zeros(sizes[n])
        for link, confidence in one.items():
            ahead[link] = confidence
        for link, confidence in other.items():
            back[link] = confidence
        np.testing.assert_array_equal(forward[n], ahead)
        np.testing.assert_array_equal(reverse[n], back)
        columns = slice(*forward.target_offsets[n : n + 2])
        rows = slice(*reverse.source_offsets[n : n + 2])
        np.testing.assert_allclose(forward.target_null[columns], np.maximum(1 - ahead.sum(axis=0), 0), atol=1e-6)
        np.testing.assert_allclose(reverse.source_null[rows], np.maximum(1 - back.sum(axis=1), 0), atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=4), st.sampled_from([0.0, 0.3, 0.5]))
def test_links_are_combined_as_they_are(pairs, least):
    """Heuristics read the links themselves, agreement the geometric mean of the confidences."""
    forward, reverse = (alignments_of([pair[way] for pair in pairs]) for way in (0, 1))
    scorer = LinkScorer(forward, reverse, [SIZE] * len(pairs), [SIZE] * len(pairs), threads=1)
    for method in ("grow-diag-final-and", "union"):
        wanted = combine(forward, reverse, method=method)
        got = scorer.align(None, combine=method)
        assert [one.links for one in got] == [one.links for one in wanted]
        np.testing.assert_array_equal(got.confidence, wanted.confidence)
    assert [one.links for one in scorer.align(None, combine="reverse")] == [one.links for one in reverse]
    for (one, other), found in zip(pairs, scorer.align(None, threshold=least), strict=True):
        mean = np.zeros((SIZE, SIZE), dtype=np.float32)
        for link in set(one) & set(other):
            mean[link] = np.sqrt(np.float32(one[link]) * np.float32(other[link]))
        assert found.links == list(zip(*np.nonzero(mean >= np.float32(least)), strict=True))


def test_links_that_do_not_fit_are_refused():
    one, two = Alignments.from_links([[(0, 0)]]), Alignments.from_links([[(0, 0)], []])
    with pytest.raises(DataError, match="for 1 sentence pairs but the reverse links are for 2"):
        LinkScorer(one, two)
    with pytest.raises(DataError, match="the forward links: sentence pair 1 has the link 0-0"):
        LinkScorer(one, one, [1], [0])
    with pytest.raises(DataError, match="the forward links: sentence pair 1 has the link 0-0"):
        LinkScorer(one, one).align(Bitext.from_tokens([([], ["a"])]))
    with pytest.raises(UsageError, match="a pair of link files gives no scores"):
        LinkScorer(one, one).score(None)


# -- matrices --------------------------------------------------------------------------------------------------------


@st.composite
def matrices(draw, top):
    """Matrices with entries up to `top`, of which some have null."""
    shapes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3))
    values = st.sampled_from([0.0, 0.1 * top, 0.5 * top, top])
    rows, columns = (np.array([shape[axis] for shape in shapes], dtype=np.int64) for axis in (0, 1))

    def numbers(count):
        return np.array(draw(st.lists(values, min_size=count, max_size=count)), dtype=np.float32)

    nulls = [numbers(int(sizes.sum())) if draw(st.booleans()) else None for sizes in (rows, columns)]
    return Association(rows, columns, offsets_of(rows * columns), numbers(int((rows * columns).sum())), *nulls)


@settings(deadline=None)
@given(matrices(top=1.0))
def test_probabilities_stand_for_both_directions(given):
    forward, reverse = MatrixScorer(given, threads=1).posteriors(None)
    for found, null, other in ((forward, "target_null", "source_null"), (reverse, "source_null", "target_null")):
        np.testing.assert_array_equal(found.values, given.values)
        assert getattr(found, other) is None
        if getattr(given, null) is not None:
            np.testing.assert_array_equal(getattr(found, null), getattr(given, null))


@settings(deadline=None)
@given(matrices(top=40.0))
def test_of_counts_a_direction_has_the_shares_in_columns_or_rows(given):
    forward, reverse = MatrixScorer(given, threads=1).posteriors(None)
    if are_probabilities(given):  # nothing but zeros
        return
    for n, matrix in enumerate(given):
        rows, columns = slice(*given.source_offsets[n : n + 2]), slice(*given.target_offsets[n : n + 2])
        source_null = np.zeros(matrix.shape[0]) if given.source_null is None else given.source_null[rows]
        target_null = np.zeros(matrix.shape[1]) if given.target_null is None else given.target_null[columns]
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                column, row = matrix[:, j].sum() + target_null[j], matrix[i].sum() + source_null[i]
                assert forward[n][i, j] == pytest.approx(matrix[i, j] / column if column else 0)
                assert reverse[n][i, j] == pytest.approx(matrix[i, j] / row if row else 0)
        for null, found, sums in (
            (given.target_null, forward.target_null, matrix.sum(axis=0)),
            (given.source_null, reverse.source_null, matrix.sum(axis=1)),
        ):
            assert (null is None) == (found is None)
            if null is not None:
                words = columns if null is given.target_null else rows
                wanted = [mass / (mass + total) if mass else 0 for mass, total in zip(null[words], sums, strict=True)]
                np.testing.assert_allclose(found[words], wanted, rtol=1e-5)


@pytest.mark.parametrize("top", [1.0, 7.0])
def test_cepts_are_made_of_counts_as_they_are_and_of_probabilities_scaled(top):
    lengths = np.array([2])
    given = Association(lengths, lengths, offsets_of([4]), np.array([top, 0, 0.1, top], dtype=np.float32))
    (make,) = MatrixScorer(given).directions().makers
    wanted = in_counts(given) if top == 1 else given
    np.testing.assert_array_equal(make().counts.values, wanted.values)


def test_one_entry_above_1_anywhere_makes_all_matrices_counts():
    lengths = np.array([1, 1])
    plain = Association(lengths, lengths, offsets_of([1, 1]), np.array([0.5, 1.0], dtype=np.float32))
    assert are_probabilities(plain)
    null = np.array([0, 2], dtype=np.float32)
    counts = Association(lengths, lengths, plain.offsets, plain.values, target_null=null)
    assert not are_probabilities(counts)
    forward, _ = MatrixScorer(counts).posteriors(None)
    assert forward.values.tolist() == [1.0, pytest.approx(1 / 3)]


def test_matrices_must_fit_the_sentences_but_may_leave_pairs_out():
    lengths = np.array([1, 0])
    given = Association(lengths, lengths, offsets_of([1, 0]), np.ones(1, dtype=np.float32))
    scorer = MatrixScorer(given, threads=1)
    assert [one.links for one in scorer.align([(["a"], ["b"]), (["a", "b"], ["c"])])] == [[(0, 0)], []]
    with pytest.raises(DataError, match="there are 2 matrices but 1 sentence pairs"):
        scorer.align([(["a"], ["b"])])
    with pytest.raises(DataError, match="the matrix of pair 1 is for 1 target words but the sentence has 2"):
        scorer.align([(["a"], ["b", "c"]), ([], [])])
