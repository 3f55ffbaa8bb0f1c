"""Matrices and options that cannot be: one clear line each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cepts.data import Association, offsets_of
from cepts.errors import DataError, UsageError
from cepts.factor import factorise, onmf
from oracles_factor import joined

BAD_MATRICES = {
    "negative": ([[1, 2], [3, -4]], r"Got -4\.0 at position 2, 2"),
    "NaN": ([[1, np.nan]], "Got nan at position 1, 2"),
    "infinite": ([[1], [np.inf]], "Got inf at position 2, 1"),
    "zeros": ([[0, 0], [0, 0]], "nothing but zeros"),
    "empty": (np.empty((3, 0)), "Got 3 x 0 instead"),
    "ragged": ([[1, 2], [3]], "must be a matrix of numbers"),
    "flat": ([1, 2], "two dimensions"),
}


@pytest.mark.parametrize(("matrix", "message"), BAD_MATRICES.values(), ids=BAD_MATRICES)
def test_a_bad_matrix_is_refused_in_one_line(matrix, message):
    with pytest.raises(DataError, match=message) as raised:
        factorise(matrix)
    assert "\n" not in str(raised.value)


def test_bad_null_masses_are_refused_in_one_line():
    for nulls in ({"source_null": [1, 2, 3]}, {"target_null": [1]}, {"target_null": [1, 1, -1]}):
        with pytest.raises(DataError, match=f"`{next(iter(nulls))}` must") as raised:
            factorise([[1, 2, 3], [4, 5, 6]], **nulls)
        assert "\n" not in str(raised.value)


BAD_OPTIONS = {
    "no cepts": ({"cepts": 0}, r"Got 0 instead"),
    "fewer cepts": ({"cepts": -1}, r"Got -1 instead"),
    "a wrong word": (
        {"cepts": "AIC"},
        r"`cepts` must be anneal, anneal-bic, anneal-icl, aic, bic, icl or a number.*Got 'AIC' instead",
    ),
    "a truth value": ({"cepts": True}, r"Got True instead"),
    "nothing": ({"cepts": None}, r"Got None instead"),
    "half a cept": ({"cepts": 1.5}, r"Got 1\.5 instead"),
    "no starts": ({"cepts": "aic", "restarts": 0}, r"`restarts` and `iterations` must be 1 or more\. Got 0 and 60"),
    "no steps": ({"cepts": "aic", "iterations": 0}, r"`restarts` and `iterations` must be 1 or more\. Got 10 and 0"),
}
BAD_THRESHOLDS = {
    "negative scale": ({"scale": -1.0}, r"`scale` must be 0 or more\. Got -1\.0 instead"),
    "no scale": ({"scale": np.nan}, r"`scale` must be 0 or more\. Got nan instead"),
    "infinite scale": ({"scale": np.inf}, r"`scale` must be 0 or more\. Got inf instead"),
    "negative threshold": ({"sure": -0.1}, r"`sure` must be 0 or more\. Got -0\.1 instead"),
    "no threshold": ({"sure": np.nan}, r"`sure` must be 0 or more\. Got nan instead"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
@pytest.mark.parametrize("function", [lambda **options: onmf(joined([np.eye(3)]), **options), None])
def test_bad_options_are_refused_in_one_line(options, message, function):
    with pytest.raises(UsageError, match=message) as raised:
        function(**options) if function else factorise(np.eye(3), **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("options", "message"), BAD_THRESHOLDS.values(), ids=BAD_THRESHOLDS)
def test_bad_thresholds_are_refused_in_one_line(options, message):
    with pytest.raises(UsageError, match=message):
        onmf(joined([np.eye(3)]), **options)


def test_more_cepts_than_words_are_refused_of_one_matrix_and_cut_in_many():
    with pytest.raises(UsageError, match=r"between 1 and 2, the length of the shorter side\. Got 3 instead"):
        factorise(np.ones((2, 5)), cepts=3)
    found = onmf(joined([100 * np.eye(2), 100 * np.eye(4)]), cepts=3)
    assert [len(found.cepts[pair]) for pair in range(2)] == [2, 3]


def test_bad_associations_are_refused_in_one_line():
    fine = joined([np.ones((2, 2)), np.ones((1, 3))], [np.ones(2), np.ones(1)], [np.ones(2), np.ones(3)])
    for value in (-1, np.nan, np.inf):
        for field, place, pair in (("values", 5, 2), ("source_null", 0, 1), ("target_null", 2, 2)):
            values = getattr(fine, field).copy()
            values[place] = value
            name = "the matrix" if field == "values" else field
            with pytest.raises(DataError, match=f"{name} of pair {pair} must hold .* Got {float(value)} instead"):
                onmf(replace(fine, **{field: values}))
    for field, message in (
        ("values", "the matrix of all pairs must have 7 values. Got 2 instead"),
        ("source_null", "source_null of all pairs must have 3 values. Got 2 instead"),
        ("target_null", "target_null of all pairs must have 5 values. Got 2 instead"),
    ):
        with pytest.raises(DataError, match=message):
            onmf(replace(fine, **{field: np.ones(2, np.float32)}))
    with pytest.raises(DataError, match=r"the matrix of pair 1 .* Got 3\.0\d*e\+38 instead"):
        onmf(joined([np.full((1, 1), 3e38)]), scale=200.0)


def test_other_types_of_numbers_are_taken():
    whole = Association(np.array([2]), np.array([2]), offsets_of([4]), np.array([9, 0, 0, 9]))
    assert onmf(whole)[0].links == [(0, 0), (1, 1)]
    strided = np.tile(np.array([9.0, 0, 0, 9.0]), (2, 1)).T.ravel()[::2]
    assert onmf(replace(whole, values=strided))[0].links == [(0, 0), (1, 1)]
