"""Runs of pairs: taken, cut and put end to end, they stay what they are pair by pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Alignments, Association, Cept, Cepts, NBest, offsets_of
from cepts.data.offsets import take_runs

SEEDS = st.integers(0, 2**32 - 1)
shapes_of = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=5)


def places_of(random: np.random.Generator, pairs: int) -> np.ndarray:
    return random.integers(0, pairs, random.integers(0, 7)) if pairs else np.empty(0, dtype=np.int64)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=6), SEEDS)
def test_runs_are_taken_in_their_order_and_may_repeat(lengths, seed):
    places = places_of(np.random.default_rng(seed), len(lengths))
    offsets = offsets_of(lengths)
    items, taken = take_runs(offsets, places)
    assert items.tolist() == [item for place in places for item in range(offsets[place], offsets[place + 1])]
    assert taken.tolist() == offsets_of([lengths[place] for place in places]).tolist()


# -- association matrices --------------------------------------------------------------------------------------------


def association(shapes, random: np.random.Generator, *, source: bool = True, target: bool = True) -> Association:
    rows, columns = (np.array([shape[side] for shape in shapes], dtype=np.int64) for side in (0, 1))
    return Association(
        rows,
        columns,
        offsets_of(rows * columns),
        random.random(int((rows * columns).sum())).astype(np.float32),
        random.random(int(rows.sum())).astype(np.float32) if source else None,
        random.random(int(columns.sum())).astype(np.float32) if target else None,
    )


@settings(deadline=None)
@given(shapes_of, SEEDS, st.booleans(), st.booleans())
def test_a_part_of_an_association_has_the_matrices_and_nulls_of_its_pairs(shapes, seed, source, target):
    random = np.random.default_rng(seed)
    whole = association(shapes, random, source=source, target=target)
    start, stop = sorted(random.integers(0, len(shapes) + 1, 2).tolist())
    part = whole.part(start, stop)
    assert len(part) == stop - start
    for pair in range(start, stop):
        np.testing.assert_array_equal(part[pair - start], whole[pair])
    for null, whole_null, offsets in (
        (part.source_null, whole.source_null, whole.source_offsets),
        (part.target_null, whole.target_null, whole.target_offsets),
    ):
        assert (null is None) == (whole_null is None)
        if whole_null is not None:
            np.testing.assert_array_equal(null, whole_null[offsets[start] : offsets[stop]])
    assert part.source_offsets[-1] == part.source_lengths.sum()
    assert part.target_offsets[-1] == part.target_lengths.sum()


# -- N-best lists ----------------------------------------------------------------------------------------------------


def nbest(lists) -> NBest:
    """Lists of pairs: the length of the explained sentence, and entries of a log-probability and positions."""
    return NBest(
        np.array([length for length, _ in lists], dtype=np.int64),
        offsets_of([len(entries) for _, entries in lists]),
        np.array([score for _, entries in lists for score, _ in entries], dtype=float),
        np.array([place for _, entries in lists for _, places in entries for place in places], dtype=np.int32),
    )


@st.composite
def lists_of(draw):
    def pair(length):
        places = st.lists(st.integers(-1, 3), min_size=length, max_size=length)
        return st.tuples(st.just(length), st.lists(st.tuples(st.floats(-9, 0), places), max_size=4))

    return draw(st.lists(st.integers(0, 3).flatmap(pair), max_size=5))


def as_lists(found: NBest):
    return [
        (int(found.lengths[pair]), list(zip(found[pair][0].tolist(), found[pair][1].tolist(), strict=True)))
        for pair in range(len(found))
    ]


@settings(deadline=None)
@given(lists_of(), lists_of(), SEEDS)
def test_lists_come_back_whole(lists, others, seed):
    found = nbest(lists)
    assert as_lists(found) == lists
    assert as_lists(NBest.concatenate([found, nbest(others)])) == [*lists, *others]
    places = places_of(np.random.default_rng(seed), len(lists))
    assert as_lists(found.take(places)) == [lists[place] for place in places]


def test_no_lists_at_all():
    nothing = NBest.concatenate([])
    assert len(nothing) == len(NBest.concatenate([nothing, nothing])) == 0
    assert nothing.positions.dtype == np.int32


# -- cepts -----------------------------------------------------------------------------------------------------------


def cepts(shapes, random: np.random.Generator) -> Cepts:
    rows, columns = ([shape[side] for shape in shapes] for side in (0, 1))
    words = sum(rows), sum(columns)
    return Cepts(
        offsets_of(rows),
        offsets_of(columns),
        *(random.integers(-1, 3, count).astype(np.int32) for count in words),
        *(random.random(count).astype(np.float32) for count in words),
        random.random(len(shapes)).astype(np.float32),
    )


def by_pair(found: Cepts):
    """All that is said of each pair."""
    sides = (
        (found.source_offsets, found.source, found.source_confidence),
        (found.target_offsets, found.target, found.target_confidence),
    )
    return [
        (
            *(array[slice(*offsets[[n, n + 1]])].tolist() for offsets, *arrays in sides for array in arrays),
            found.noise[n].tolist(),
        )
        for n in range(len(found))
    ]


def test_cepts_list_the_words_of_either_side():
    found = Cepts(
        np.array([0, 3, 3]),
        np.array([0, 4, 4]),
        np.array([0, 1, 0], np.int32),
        np.array([1, -1, 0, 1], np.int32),
        *(np.ones(count, np.float32) for count in (3, 4, 2)),
    )
    assert len(found) == 2
    # The second source word of the first cept does not stand beside the first.
    assert found[0] == [Cept([0, 2], [2]), Cept([1], [0, 3])]
    assert found[1] == []


@settings(deadline=None)
@given(shapes_of, SEEDS)
def test_cepts_hold_every_word_of_a_cept_once(shapes, seed):
    found = cepts(shapes, np.random.default_rng(seed))
    for pair in range(len(shapes)):
        words = by_pair(found)[pair]
        for side, numbers in enumerate((words[0], words[2])):
            listed = {word: number for number, cept in enumerate(found[pair]) for word in cept[side]}
            assert listed == {word: number for word, number in enumerate(numbers) if number >= 0}
            assert sum(len(cept[side]) for cept in found[pair]) == len(listed)


@settings(deadline=None)
@given(shapes_of, shapes_of, SEEDS)
def test_cepts_come_back_whole(shapes, others, seed):
    random = np.random.default_rng(seed)
    one, other = cepts(shapes, random), cepts(others, random)
    assert by_pair(Cepts.concatenate([one, other])) == [*by_pair(one), *by_pair(other)]
    places = places_of(random, len(shapes))
    assert by_pair(one.take(places)) == [by_pair(one)[place] for place in places]


# -- alignments with cepts -------------------------------------------------------------------------------------------


def alignments(shapes, random: np.random.Generator, *, with_cepts: bool = True) -> Alignments:
    links = [[(i, j) for i in range(rows) for j in range(columns) if random.random() < 0.4] for rows, columns in shapes]
    found = Alignments.from_links(links)
    return Alignments(
        found.offsets,
        found.source,
        found.target,
        random.random(len(found.source)).astype(np.float32),
        random.random(len(found.source)) < 0.5,
        cepts(shapes, random) if with_cepts else None,
    )


def as_pairs(found: Alignments):
    assert found.cepts is not None
    assert len(found) == len(found.cepts)
    rows = [(one.links, one.confidence.tolist(), one.sure.tolist()) for one in found]
    return list(zip(rows, by_pair(found.cepts), strict=True))


@settings(deadline=None)
@given(shapes_of, st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3), SEEDS)
def test_alignments_keep_their_cepts(shapes, others, seed):
    random = np.random.default_rng(seed)
    one, other = alignments(shapes, random), alignments(others, random)
    assert as_pairs(Alignments.concatenate([one, other])) == [*as_pairs(one), *as_pairs(other)]
    places = places_of(random, len(shapes))
    assert as_pairs(one.take(places)) == [as_pairs(one)[place] for place in places]
    start, stop = sorted(random.integers(0, len(shapes) + 1, 2).tolist())
    assert as_pairs(one.part(start, stop)) == as_pairs(one)[start:stop]


def test_cepts_of_some_are_cepts_of_none():
    random = np.random.default_rng(0)
    one, other = alignments([(2, 2)], random), alignments([(2, 1)], random, with_cepts=False)
    joined = Alignments.concatenate([one, other])
    assert joined.cepts is None
    assert [two.links for two in joined] == [*(a.links for a in one), *(b.links for b in other)]
    assert Alignments.concatenate([]).cepts is None
    assert other.take(np.array([0, 0])).cepts is None
    assert other.part(0, 1).cepts is None


def test_associations_of_several_runs_one_after_the_other():
    whole = Association(
        np.array([2, 1]), np.array([1, 3]), offsets_of([2, 3]), np.arange(5, dtype=np.float32), np.ones(3, np.float32)
    )
    joined = Association.concatenate([whole.part(0, 1), whole.part(1, 2)])
    for name in ("source_lengths", "target_lengths", "offsets", "values", "source_null"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    assert joined.target_null is None
    assert len(Association.concatenate([])) == 0


def test_an_alignment_has_the_cepts_of_its_pair():
    cepts = Cepts(
        offsets_of([2, 1]),
        offsets_of([2, 1]),
        np.array([0, 0, -1], np.int32),
        np.array([-1, 0, -1], np.int32),
        np.ones(3, np.float32),
        np.ones(3, np.float32),
        np.zeros(2, np.float32),
    )
    links = Alignments.from_links([[(0, 1), (1, 1)], []])
    assert [alignment.cepts for alignment in links] == [None, None]
    kept = Alignments(links.offsets, links.source, links.target, links.confidence, links.sure, cepts)
    assert [alignment.cepts for alignment in kept] == [[Cept([0, 1], [1])], []]


def test_associations_are_scaled_as_a_whole_or_pair_by_pair():
    given = Association(
        np.array([2, 1]), np.array([1, 3]), offsets_of([2, 3]), np.arange(5, dtype=np.float32), np.ones(3, np.float32)
    )
    doubled, apart = given.scaled(2.0), given.scaled(np.array([2.0, 10.0]))
    np.testing.assert_array_equal(doubled.values, [0, 2, 4, 6, 8])
    np.testing.assert_array_equal(doubled.source_null, [2, 2, 2])
    np.testing.assert_array_equal(apart.values, [0, 2, 20, 30, 40])
    np.testing.assert_array_equal(apart.source_null, [2, 2, 10])
    assert doubled.target_null is None
    assert doubled.values.dtype == apart.values.dtype == np.float32
