from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_extract as oracles
from cepts import extract
from cepts.data import Alignments
from cepts.errors import DataError

SIZE = 6
links = st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=20)
pairs = st.lists(st.tuples(links, links), max_size=4)


@pytest.mark.parametrize("method", extract.METHODS)
@settings(deadline=None)
@given(pairs)
def test_methods_equal_their_definition(method, pairs):
    forward = Alignments.from_links(f for f, _ in pairs)
    reverse = Alignments.from_links(r for _, r in pairs)
    lengths = [SIZE] * len(pairs)
    got = extract.combine(forward, reverse, lengths, lengths, method=method)
    assert [a.links for a in got] == [sorted(oracles.combine(f, r, method)) for f, r in pairs]
    assert got.offsets[-1] == len(got.source) == len(got.confidence) == len(got.sure)


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=90), st.randoms())
def test_growth_equals_its_definition_on_longer_sentences(union, random):
    """Long chains of neighbours, grown from a few links, need many passes."""
    diagonal = {(i, 30 - i) for i in range(31)} | union
    forward = {link for link in diagonal if random.random() < 0.6}
    reverse = {link for link in diagonal if link not in forward or random.random() < 0.05}
    for method in ("grow-diag", "grow-diag-final", "grow-diag-final-and"):
        got = extract.combine(Alignments.from_links([forward]), Alignments.from_links([reverse]), method=method)
        assert got[0].links == sorted(oracles.combine(forward, reverse, method))


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("intersection", [(0, 0)]),
        # (1, 1) touches (0, 0) and covers two words; (2, 1) then touches (1, 1) and covers source 2.
        ("grow-diag", [(0, 0), (1, 1), (2, 1)]),
        # (4, 4) has two uncovered words, (0, 3) an uncovered target; (4, 3) comes later and has none.
        ("grow-diag-final", [(0, 0), (0, 3), (1, 1), (2, 1), (4, 4)]),
        ("grow-diag-final-and", [(0, 0), (1, 1), (2, 1), (4, 4)]),
        ("union", [(0, 0), (0, 3), (1, 1), (2, 1), (4, 3), (4, 4)]),
    ],
)
def test_a_pair_worked_by_hand(method, wanted):
    forward = Alignments.from_links([[(0, 0), (1, 1), (4, 4)]])
    reverse = Alignments.from_links([[(0, 0), (2, 1), (0, 3), (4, 3)]])
    assert extract.combine(forward, reverse, method=method)[0].links == wanted


def test_final_takes_forward_links_first():
    forward = Alignments.from_links([[(0, 1)]])
    reverse = Alignments.from_links([[(0, 0)]])
    assert extract.combine(forward, reverse, method="grow-diag-final-and")[0].links == [(0, 1)]
    assert extract.combine(reverse, forward, method="grow-diag-final-and")[0].links == [(0, 0)]


def with_confidence(links, confidence, sure=None):
    plain = Alignments.from_links([links])
    return Alignments(
        plain.offsets,
        plain.source,
        plain.target,
        np.array(confidence, dtype=np.float32),
        plain.sure if sure is None else np.array(sure),
    )


def test_confidence_is_the_mean_of_both_directions():
    forward = with_confidence([(0, 0), (1, 1)], [0.5, 0.75], [False, False])
    reverse = with_confidence([(0, 0), (2, 2)], [1.0, 0.25], [True, False])
    union = extract.combine(forward, reverse, method="union")
    assert union[0].links == [(0, 0), (1, 1), (2, 2)]
    assert union.confidence.tolist() == [0.75, 0.375, 0.125]
    assert union.sure.tolist() == [True, False, False]
    assert extract.combine(forward, reverse, method="intersection").confidence.tolist() == [0.75]


def test_no_pairs_and_no_links():
    for method in extract.METHODS:
        nothing = Alignments.from_links([])
        assert len(extract.combine(nothing, nothing, [], [], method=method)) == 0
        empty = Alignments.from_links([[], []])
        assert [a.links for a in extract.combine(empty, empty, [0, 3], [2, 0], method=method)] == [[], []]


def test_different_numbers_of_pairs_are_refused():
    with pytest.raises(DataError, match="for 2 sentence pairs but the reverse links are for 1"):
        extract.combine(Alignments.from_links([[], []]), Alignments.from_links([[]]), method="intersection")
    with pytest.raises(DataError, match="for 1 sentence pairs but there are 2 source sentences"):
        extract.combine(Alignments.from_links([[]]), Alignments.from_links([[]]), [1, 1], [1], method="union")


@pytest.mark.parametrize("method", ["union", "grow-diag"])
def test_links_out_of_range_are_refused(method):
    good, bad = Alignments.from_links([[(0, 0)], [(1, 1)]]), Alignments.from_links([[(0, 0)], [(1, 2)]])
    with pytest.raises(DataError, match="the reverse links: sentence pair 2 has the link 1-2, but its target"):
        extract.combine(good, bad, [1, 2], [1, 2], method=method)
    with pytest.raises(DataError, match=r"the forward links: .* its source sentence has 1 word, numbered from 0"):
        extract.combine(good, good, [1, 1], [1, 2], method=method)
    with pytest.raises(DataError, match="positions start at 0"):
        extract.combine(Alignments.from_links([[(-1, 0)], []]), good, method=method)


def test_unknown_method_is_refused():
    with pytest.raises(ValueError, match="`method` must be one of intersection"):
        extract.combine(Alignments.from_links([]), Alignments.from_links([]), method="grow")
