"""Words that leave their cepts, held against a plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts import factor
from cepts.data import Alignments, Association, offsets_of
from cepts.extract import without_loose_words


@st.composite
def associations(draw):
    """A few matrices of values like probabilities."""
    shapes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
    cells = sum(rows * columns for rows, columns in shapes)
    values = draw(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]), min_size=cells, max_size=cells))
    rows, columns = (np.array(sizes) for sizes in zip(*shapes, strict=True))
    null = np.full(rows.sum(), 0.2, np.float32), np.full(columns.sum(), 0.2, np.float32)
    return Association(rows, columns, offsets_of(rows * columns), np.array(values, np.float32), *null)


@settings(deadline=None)
@given(associations(), st.sampled_from([0.0, 0.25, 0.4, 0.7]))
def test_a_word_stays_where_it_has_enough_in_common_with_its_cept(association, least):
    made = factor.onmf(association.scaled(20.0))
    firm = without_loose_words(made, association, least)
    for n in range(len(association)):
        matrix = association[n].astype(np.float64)
        links = set(made[n].links)
        source = {i: sum(matrix[i, b] for a, b in links if a == i) for i, _ in links}
        target = {j: sum(matrix[a, j] for a, b in links if b == j) for _, j in links}
        wanted = {(i, j) for i, j in links if source[i] >= least and target[j] >= least}
        assert set(firm[n].links) == wanted
        # Cepts are those of before without the words that have no link any more.
        left = [
            (
                [i for i in cept.source if any(a == i for a, _ in wanted)],
                [j for j in cept.target if any(b == j for _, b in wanted)],
            )
            for cept in made[n].cepts
        ]
        assert [pair for pair in left if pair[0]] == [(c.source, c.target) for c in firm[n].cepts if c.source]


def test_links_without_cepts_are_refused():
    links = Alignments.from_links([[(0, 0)]])
    association = Association(*[np.array([1])] * 2, np.array([0, 1]), np.ones(1, np.float32))
    with pytest.raises(ValueError, match="must have cepts"):
        without_loose_words(links, association, 0.5)
