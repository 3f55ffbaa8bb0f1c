"""The cells that may become links and their features, against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_tuning as oracles
from cepts.data import Association, Bitext, GivenDirections, Runs, offsets_of
from cepts.extract import said_together
from cepts.kernels.spelling import word_likeness
from cepts.tuning.cells import Cells, logit
from cepts.tuning.context import CONTEXT, context_of
from cepts.tuning.features import Evidence, Opinion, features_of
from cepts.tuning.lexical import Lexical
from cepts.tuning.texts import DIGITS, LETTERS, SIGNS, TextFacts, kind, plain, repeated

words = st.text(alphabet="abc", max_size=6)


@st.composite
def matrices(draw, largest: int = 5):
    """A few matrices with values from 0 to 1, many of them 0, as an association."""
    shapes = draw(st.lists(st.tuples(st.integers(1, largest), st.integers(1, largest)), min_size=1, max_size=3))
    rows, columns = (np.array(side) for side in zip(*shapes, strict=True))
    cells = int((rows * columns).sum())
    values = draw(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), min_size=cells, max_size=cells))
    return Association(rows, columns, offsets_of(rows * columns), np.array(values, dtype=np.float32))


@settings(deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=8))
def test_likeness_is_that_of_edit_distance_and_prefix(pairs):
    sides = [list(side) for side in zip(*pairs, strict=True)]
    letters = [np.frombuffer("".join(side).encode("utf-32-le"), dtype=np.uint32) for side in sides]
    offsets = [offsets_of([len(word) for word in side]) for side in sides]
    places = np.column_stack([np.arange(len(pairs))] * 2)
    out = np.empty((len(pairs), 2))
    word_likeness(letters[0], offsets[0], letters[1], offsets[1], places, np.empty(8, np.int64), out)
    np.testing.assert_allclose(out, [oracles.likeness(*pair) for pair in pairs])


@settings(deadline=None)
@given(matrices())
def test_neighbours_and_rivals_stay_in_their_matrix(association):
    cells = Cells.at(np.arange(len(association.values)), association)
    values = association.values.astype(np.float64)
    below = cells.neighbour(values, 1, -1)
    for by_target in (False, True):
        rivals = cells.rivals(values, by_target=by_target)
        for cell, (pair, i, j) in enumerate(zip(cells.pair, cells.source, cells.target, strict=True)):
            matrix = association[pair]
            line = matrix[:, j] if by_target else matrix[i]
            assert rivals.best[cell] == pytest.approx(oracles.best_rival(matrix, i, j, by_target=by_target))
            assert rivals.rest[cell] == pytest.approx(line.sum() - matrix[i, j], abs=1e-6)
            assert rivals.highest[cell] == line.max()
            place = i if by_target else j
            assert rivals.rank[cell] == (line > matrix[i, j]).sum() + (line[:place] == matrix[i, j]).sum()
            inside = i + 1 < matrix.shape[0] and j > 0
            assert below[cell] == (matrix[i + 1, j - 1] if inside else 0.0)


@settings(deadline=None)
@given(matrices())
def test_context_is_that_of_the_first_pass(association):
    cells = Cells.at(np.arange(len(association.values)), association)
    scores = logit(association.values, 1e-6)
    found = context_of(cells, association, scores)
    assert found.shape == (len(cells), len(CONTEXT))
    probabilities = 1.0 / (1.0 + np.exp(-scores))
    column = {name: found[:, place] for place, name in enumerate(CONTEXT)}
    for cell, (pair, i, j) in enumerate(zip(cells.pair, cells.source, cells.target, strict=True)):
        run = slice(association.offsets[pair], association.offsets[pair + 1])
        matrix = probabilities[run].reshape(association[pair].shape)
        for name, by_target in (("row", False), ("column", True)):
            wanted = oracles.best_elsewhere(matrix, i, j, by_target=by_target)
            assert column[f"{name} best elsewhere"][cell] == pytest.approx(wanted)
        assert column["chains"][cell] == pytest.approx(min(oracles.chains(matrix, i, j), 3.0))


def runs_of(forward: Association, reverse: Association) -> Runs:
    return Runs([lambda: GivenDirections(forward, reverse)], len(forward))


def test_a_pair_that_one_scorer_leaves_out_has_the_values_of_the_other():
    lengths = np.array([2, 1])
    whole = Association(lengths, lengths, np.array([0, 4, 5]), np.array([0.9, 0.1, 0.2, 0.8, 0.7], np.float32))
    short = np.array([0, 1])
    partial = Association(short, short, np.array([0, 0, 1]), np.array([0.5], np.float32))
    ((first, parts),) = said_together([runs_of(whole, whole), runs_of(partial, partial)], 1, Opinion)
    evidence = Evidence.of(parts, first)
    np.testing.assert_allclose(evidence.members[1]["forward"], [0.9, 0.1, 0.2, 0.8, 0.5], rtol=1e-6)
    np.testing.assert_allclose(evidence.members[1]["tables"], 0.0)
    cells = evidence.cells()
    text = TextFacts.of(Bitext.from_tokens([("a b", "a c"), ("12", "12")]))
    found = features_of(evidence, cells, text)
    assert found["same"].tolist() == [1.0, 0.0, 0.0, 0.0, 1.0]
    assert found["both digits"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert np.isfinite(found.matrix()).all()


def test_words_are_compared_without_case_and_marks():
    assert plain("Élève") == "eleve"
    assert [kind("x1"), kind("12."), kind("...")] == [LETTERS, DIGITS, SIGNS]
    ids, offsets = np.array([1, 2, 1, 1, 2], dtype=np.int32), np.array([0, 3, 5])
    assert repeated(ids, offsets).tolist() == [True, False, True, False, False]


def test_lexical_weights_are_of_words_and_pairs_that_occur_twice():
    lexical = Lexical.of(["a", "a", "b", "a"], ["x", "x", "y", "y"])
    assert (lexical.source.words, lexical.target.words, len(lexical.pairs)) == (["a"], ["x", "y"], 1)
    source, target = np.array([0, 0, -1]), np.array([0, 1, 1])
    found = lexical.categories(source, target, np.array([1.0, -1.0, 1.0]))
    absent = len(lexical)
    assert absent == 3 + 6 + 1
    assert found.tolist() == [[0, 1, 3, 4, 9], [0, 2, 6, 8, absent], [absent, absent, 6, 7, absent]]
    again = Lexical.from_arrays(lexical.arrays())
    assert again.source.words == ["a"]
    assert again.pairs.tolist() == lexical.pairs.tolist()
