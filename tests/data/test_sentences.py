from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.data import Segment, Segments, Sentence, SentencePair, gold_alignments, offsets_of


def segments_of(pairs, scores=None, states=None):
    """`Segments` of lists of (source start, stop, target start, stop, confidence)."""
    rows = [row for pair in pairs for row in pair]
    return Segments(
        offsets_of([len(pair) for pair in pairs]),
        np.array([row[:4] for row in rows], dtype=np.int32).reshape(-1, 4),
        np.array([row[4] for row in rows], dtype=np.float32),
        np.array(scores if scores is not None else np.zeros(len(pairs)), dtype=np.float64),
        np.array(states if states is not None else np.ones(len(pairs)), dtype=np.int64),
    )


def test_columns_have_an_entry_a_token():
    assert len(Sentence(("a", "b"), pos=("X", "Y"))) == 2
    for column in ("pos", "chunk", "lemma"):
        with pytest.raises(ValueError, match=f"`{column}` must have one entry for each of 2 tokens. Got 1 instead"):
            Sentence(("a", "b"), **{column: ("X",)})


SPANS = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda two: (min(two), max(two)))
ROWS = st.builds(lambda a, b, c: (*a, *b, c), SPANS, SPANS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
PAIRS = st.lists(st.lists(ROWS, max_size=4), max_size=4)


@given(PAIRS)
def test_links_are_those_of_all_words_with_the_highest_confidence(pairs):
    found = segments_of(pairs).alignments()
    assert len(found) == len(pairs)
    for alignment, pair in zip(found, pairs, strict=True):
        want = {}
        for a, b, c, d, confidence in pair:
            for i in range(a, b):
                for j in range(c, d):
                    want[i, j] = max(confidence, want.get((i, j), 0.0))
        assert list(map(tuple, alignment.links)) == sorted(want)
        assert alignment.confidence.tolist() == [want[link] for link in sorted(want)]
        assert all(alignment.sure)


@given(PAIRS, st.integers(0, 4))
def test_runs_are_joined_again(pairs, cut):
    whole = segments_of(pairs, np.arange(len(pairs)), np.arange(len(pairs)) + 2)
    parts = [
        segments_of(pairs[run], np.arange(len(pairs))[run], np.arange(len(pairs))[run] + 2)
        for run in (slice(0, cut), slice(cut, None))
    ]
    joined = Segments.concatenate(parts)
    for name in ("offsets", "spans", "confidence", "scores", "path_words"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
        assert getattr(joined, name).dtype == getattr(whole, name).dtype
    assert list(joined) == list(whole)


def test_nothing_is_joined_to_nothing():
    empty = Segments.concatenate([])
    assert len(empty) == 0 and empty.spans.shape == (0, 4) and len(empty.alignments()) == 0


def test_segments_of_a_pair():
    found = segments_of([[(0, 2, 1, 2, 0.5)], [], [(0, 1, 0, 1, 1.0)]])
    assert found[0] == [Segment((0, 2), (1, 2), 0.5)]
    assert list(found) == [[((0, 2), (1, 2), 0.5)], [], [((0, 1), (0, 1), 1.0)]]


def test_scores_are_divided_by_the_states():
    found = segments_of([[], [], []], scores=[6.0, -3.0, 0.0], states=[3, 2, 0])
    assert found.normalised_scores.tolist() == [2.0, -1.5, 0.0]


def test_gold_links_of_pairs():
    words = Sentence(("a", "b"))
    pairs = [
        SentencePair(words, words, sure=((1, 0),), possible=((0, 1), (1, 1))),
        SentencePair(words, words),
        SentencePair(words, words, sure=(), possible=None),
    ]
    found = gold_alignments(pairs)
    assert [alignment.links for alignment in found] == [[(0, 1), (1, 0), (1, 1)], [], []]
    assert found[0].sure.tolist() == [False, True, False]
    assert len(gold_alignments([])) == 0
