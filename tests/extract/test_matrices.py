from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_extract as oracles
from cepts import extract
from cepts.data import Association, offsets_of

# Few distinct values, so that ties and entries equal to the threshold or to null are common.
values = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9])


@st.composite
def associations(draw):
    shapes = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4))

    def numbers(count):
        return np.array(draw(st.lists(values, min_size=count, max_size=count)), dtype=np.float32)

    rows, columns = (np.array([shape[axis] for shape in shapes], dtype=np.int64) for axis in (0, 1))
    cells = rows * columns
    return Association(
        rows,
        columns,
        offsets_of(cells),
        numbers(int(cells.sum())),
        *((numbers(int(rows.sum())), numbers(int(columns.sum()))) if draw(st.booleans()) else ()),
    )


@settings(deadline=None)
@given(associations(), values)
def test_threshold_equals_its_definition(association, least):
    got = extract.threshold(association, least)
    assert [a.links for a in got] == [sorted(oracles.threshold(matrix, least)) for matrix in association]
    for alignment, matrix in zip(got, association, strict=True):
        np.testing.assert_array_equal(alignment.confidence, matrix[alignment.source, alignment.target])


@settings(deadline=None)
@given(associations())
def test_best_equals_its_definition(association):
    by_target = extract.best(association, axis="target")
    by_source = extract.best(association, axis="source")
    starts = [offsets_of(association.source_lengths), offsets_of(association.target_lengths)]
    for pair, matrix in enumerate(association):
        nulls = [
            np.zeros(matrix.shape[side]) if null is None else null[starts[side][pair] : starts[side][pair + 1]]
            for side, null in enumerate((association.source_null, association.target_null))
        ]
        wanted = oracles.best_of_each_target(matrix, nulls[1])
        assert by_target[pair].links == sorted(wanted)
        wanted = {(i, j) for j, i in oracles.best_of_each_target(matrix.T, nulls[0])}
        assert by_source[pair].links == sorted(wanted)
        chosen = by_target[pair]
        np.testing.assert_array_equal(chosen.confidence, matrix[chosen.source, chosen.target])


def one(matrix, **nulls):
    matrix = np.array(matrix, dtype=np.float32)
    rows, columns = matrix.shape
    return Association(np.array([rows]), np.array([columns]), offsets_of([matrix.size]), matrix.ravel(), **nulls)


def test_best_must_beat_null():
    matrix = [[0.5, 0.2], [0.4, 0.5]]
    null = np.array([0.5, 0.3], dtype=np.float32)
    assert extract.best(one(matrix, target_null=null), axis="target")[0].links == [(1, 1)]
    assert extract.best(one(matrix), axis="target")[0].links == [(0, 0), (1, 1)]


def test_not_a_number_is_never_a_link():
    matrix = one([[np.nan, 0.5], [0.25, np.nan]])
    assert extract.threshold(matrix, 0.0)[0].links == [(0, 1), (1, 0)]
    assert extract.best(matrix, axis="source")[0].links == [(0, 1), (1, 0)]


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="`axis` must be"):
        extract.best(one([[1.0]]), axis="both")
    with pytest.raises(ValueError, match="`threshold` must be a number"):
        extract.threshold(one([[1.0]]), float("nan"))
    with pytest.raises(ValueError, match="`target_null` must have one mass for each of 1 target words"):
        extract.best(one([[1.0]], target_null=np.zeros(2, dtype=np.float32)), axis="target")
