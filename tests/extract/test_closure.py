from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_extract as oracles
from cepts.data import Alignments
from cepts.extract import cepts_of_links, closure

positions = st.integers(0, 5)
link_sets = st.dictionaries(st.tuples(positions, positions), st.booleans(), max_size=9)


def alignments_of(rows):
    """Alignments of the links of each pair, with whether they are sure."""
    columns = [(pair, *link, 0.5, sure) for pair, links in enumerate(rows) for link, sure in links.items()]
    kinds = (np.int64, np.int32, np.int32, np.float32, np.bool_)
    arrays = (np.array([row[place] for row in columns], dtype=kind) for place, kind in enumerate(kinds))
    return Alignments.from_columns(len(rows), *arrays)


@settings(deadline=None)
@given(st.lists(link_sets, max_size=4))
def test_closure_equals_that_of_sets(rows):
    got = closure(alignments_of(rows))
    for links, found in zip(rows, got, strict=True):
        assert set(found.links) == oracles.closure(links)
        sure = oracles.closure({link for link, is_sure in links.items() if is_sure})
        assert {link for link, is_sure in zip(found.links, found.sure.tolist(), strict=True) if is_sure} == sure
    again = closure(got)
    assert [a.links for a in again] == [a.links for a in got]
    np.testing.assert_array_equal(again.sure, got.sure)


@settings(deadline=None)
@given(st.lists(link_sets, max_size=4))
def test_cepts_of_links_are_groups_of_connected_words(rows):
    found = cepts_of_links(alignments_of(rows))
    for pair, links in enumerate(rows):
        closed = oracles.closure(links)
        groups = found[pair]
        assert {(i, j) for cept in groups for i in cept.source for j in cept.target} == closed
        assert all(cept.source and cept.target for cept in groups)
        assert [cept.source[0] for cept in groups] == sorted(cept.source[0] for cept in groups)
        of_words = [i for cept in groups for i in cept.source]
        assert sorted(of_words) == sorted({i for i, _ in links})


def test_links_to_null_stay_in_the_closure():
    columns = [np.array(column) for column in ([0, 0], [0, 1], [0, -1], [1.0, 1.0], [True, False])]
    kinds = (np.int64, np.int32, np.int32, np.float32, np.bool_)
    links = Alignments.from_columns(1, *(column.astype(kind) for column, kind in zip(columns, kinds, strict=True)))
    assert closure(links).nulls[0] == [(0, 1, 1.0, False)]
