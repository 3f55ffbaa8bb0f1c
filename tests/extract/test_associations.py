"""Matrices out of lists of alignments and out of statistics, against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_association as oracles
from cepts.data import Association, NBest, offsets_of
from cepts.errors import UsageError
from cepts.extract import association_of_nbest, compete

LISTS = ("nbest", "nbest-plain", "nbest-probability", "nbest-rank", "nbest-agreement")


def nbest_of(lists: list[tuple[int, oracles.Entries]]) -> NBest:
    """Lists of pairs, each with the length of its explained sentence."""
    return NBest(
        np.array([length for length, _ in lists], dtype=np.int64),
        offsets_of([len(entries) for _, entries in lists]),
        np.array([score for _, entries in lists for score, _ in entries]),
        np.array([place for _, entries in lists for _, places in entries for place in places], dtype=np.int32),
    )


def association_of(matrices):
    rows, columns = (np.array([matrix.shape[axis] for matrix in matrices], dtype=np.int64) for axis in (0, 1))
    values = [matrix.ravel() for matrix in matrices]
    return Association(rows, columns, offsets_of(rows * columns), np.concatenate(values).astype(np.float32))


@st.composite
def lists_of_a_pair(draw):
    size, length = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    if not (size and length):
        size = length = 0
    scores = st.floats(-40, 0)

    def entries(explained, others):
        positions = st.lists(st.integers(-1, others - 1), min_size=explained, max_size=explained)
        found = draw(st.lists(st.tuples(scores, positions), max_size=5))
        return sorted(found, key=lambda entry: -entry[0])

    return size, length, entries(length, size), entries(size, length)


def null_times(name: str) -> int:
    """How often null counts: once in the plain counts of onmf."""
    return 1 if name == "nbest-plain" else 2


@pytest.mark.parametrize("name", LISTS)
@settings(deadline=None, max_examples=100)
@given(st.lists(lists_of_a_pair(), min_size=1, max_size=3))
def test_lists_are_counted_entry_by_entry(name, cases):
    got = association_of_nbest(
        nbest_of([(length, forward) for _, length, forward, _ in cases]),
        nbest_of([(size, reverse) for size, _, _, reverse in cases]),
        name,
    )
    sources, targets = offsets_of(got.source_lengths), offsets_of(got.target_lengths)
    for pair, case in enumerate(cases):
        matrix, source_null, target_null = oracles.nbest(*case, name)
        close = {"rtol": 1e-6, "atol": 1e-12}
        np.testing.assert_allclose(got[pair], matrix, **close)
        np.testing.assert_allclose(got.source_null[sources[pair] : sources[pair + 1]], source_null, **close)
        np.testing.assert_allclose(got.target_null[targets[pair] : targets[pair + 1]], target_null, **close)
        # Each entry gives every explained word its weight, often twice where null has it; the weights sum to the number
        # of entries.
        mass = len(case[2]) * case[1] + len(case[3]) * case[0]
        found = float(got[pair].sum() + (source_null.sum() + target_null.sum()) / null_times(name))
        assert found <= mass * (1 + 1e-5) if name == "nbest-agreement" else found == pytest.approx(mass, rel=1e-5)


def test_a_link_in_every_entry_of_both_lists_counts_twice_their_length():
    lists = nbest_of([(1, [(-1.0 - rank, [0]) for rank in range(100)])])
    for name in LISTS:
        assert association_of_nbest(lists, lists, name)[0] == pytest.approx(200)


def test_a_word_at_null_in_every_entry_counts_as_much_as_a_link_in_every_entry():
    """Null competes with links that both directions count, but only one direction has it; plain counts do not care."""
    lists = nbest_of([(1, [(-1.0 - rank, [-1]) for rank in range(100)])])
    for name in LISTS:
        got = association_of_nbest(lists, lists, name)
        assert got[0] == 0
        assert [got.source_null[0], got.target_null[0]] == pytest.approx([100 * null_times(name)] * 2)


def test_lists_of_impossible_entries_count_alike():
    impossible = nbest_of([(1, [(-np.inf, [0]), (-np.inf, [-1])])])
    got = association_of_nbest(impossible, impossible, "nbest-probability")
    assert (got.values.tolist(), got.source_null.tolist(), got.target_null.tolist()) == ([2.0], [2.0], [2.0])


def test_lists_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="Got 1 and 2 instead"):
        association_of_nbest(nbest_of([(0, [])]), nbest_of([(0, []), (0, [])]))
    with pytest.raises(UsageError, match="nbest-rank"):
        association_of_nbest(nbest_of([]), nbest_of([]), "dice")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=3), st.integers(0, 99))
def test_competing_values_are_the_mean_of_their_shares(shapes, seed):
    random = np.random.default_rng(seed)
    matrices = [(random.uniform(0, 9, shape) * (random.random(shape) < 0.7)).astype(np.float32) for shape in shapes]
    for got, matrix in zip(compete(association_of(matrices)), matrices, strict=True):
        np.testing.assert_allclose(got, oracles.shares(matrix.astype(float)), rtol=1e-5)


def test_the_largest_and_smallest_values_compete_without_harm():
    limits = np.finfo(np.float32)
    for value in (limits.max, limits.smallest_subnormal):
        matrix = np.full((2, 2), value, dtype=np.float32)
        np.testing.assert_allclose(compete(association_of([matrix]))[0], 0.5, rtol=1e-3)


def test_competing_takes_the_edge_off_common_words():
    """The second word stands with both words of the other side, the first with one of them in every pair."""
    got = compete(association_of([np.array([[4, 1], [1, 1]])]))[0]
    assert got[1, 1] > got[1, 0]


def test_null_does_not_compete():
    null = np.zeros(1, dtype=np.float32)
    with pytest.raises(UsageError, match="must not have null masses"):
        compete(Association(np.array([1]), np.array([1]), offsets_of([1]), null, source_null=null))
