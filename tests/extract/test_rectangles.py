from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrase_scores as oracles
from cepts.data import Alignments
from cepts.errors import DataError
from cepts.extract.rectangles import rectangles

LINKS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30)
LIMITS = st.one_of(st.none(), st.integers(1, 4))


@settings(deadline=None, max_examples=300)
@given(st.lists(LINKS, max_size=4), LIMITS, LIMITS, st.booleans())
def test_rectangles_equal_those_of_the_oracle(pairs, max_source, max_target, every_link):
    got = rectangles(Alignments.from_links(pairs), max_source=max_source, max_target=max_target, every_link=every_link)
    assert len(got) == len(pairs)
    for n, links in enumerate(pairs):
        want = oracles.rectangles(links, max_source or 99, max_target or 99, every_link)
        assert [(*source, *target) for source, target, _ in got[n]] == want
    assert not got.path_words.any() and not got.scores.any()


@settings(deadline=None)
@given(st.lists(LINKS, max_size=4), LIMITS, LIMITS)
def test_every_link_is_covered_once_if_asked_for(pairs, max_source, max_target):
    links = Alignments.from_links(pairs)
    got = rectangles(links, max_source=max_source, max_target=max_target, every_link=True)
    assert int(np.prod(got.spans[:, 1::2] - got.spans[:, ::2], axis=1).sum()) == len(links.source)
    back = got.alignments()
    assert [alignment.links for alignment in back] == [alignment.links for alignment in links]


def test_a_source_word_has_one_rectangle():
    links = Alignments.from_links([[(0, 0), (0, 3), (1, 0), (1, 1), (2, 1)]])
    assert [(source, target) for source, target, _ in rectangles(links)[0]] == [((0, 2), (0, 1)), ((2, 3), (1, 2))]


def test_rows_come_before_columns():
    links = Alignments.from_links([[(0, 0), (0, 1), (1, 0)]])
    assert [(source, target) for source, target, _ in rectangles(links)[0]] == [((0, 2), (0, 1))]


def test_the_confidence_is_the_mean_of_the_links():
    links = Alignments.from_links([[], [(0, 0), (0, 1), (2, 2)]])
    links.confidence[:] = [0.5, 1.0, 0.25]
    assert [segment.confidence for segment in rectangles(links)[1]] == [0.75, 0.25]


def test_links_of_confidence_zero_are_links():
    links = Alignments.from_links([[(0, 0), (1, 1)]])
    links.confidence[:] = 0
    assert len(rectangles(links)[0]) == 2


def test_bad_arguments():
    links = Alignments.from_links([[(0, 2)]])
    with pytest.raises(ValueError, match="`max_source` must be 1 or more"):
        rectangles(links, max_source=0)
    with pytest.raises(DataError, match=r"pair 1 has the link 0-2, but its target sentence has 2 words"):
        rectangles(links, [1], [2])
