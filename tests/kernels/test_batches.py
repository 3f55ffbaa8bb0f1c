from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from cepts.data import offsets_of
from cepts.kernels.batches import CELLS_IN_LANE, next_batch
from cepts.kernels.blocks import BlockArrays
from cepts.kernels.lanes import LANES

lengths = st.integers(0, 12) | st.sampled_from((40, 64, 65, 130))


@njit
def batches(block, pairs, found):
    """Number of pairs, longest sentences and the pairs themselves, a row for each batch."""
    place = 0
    row = 0
    while True:
        count, size, length, place = next_batch(block, place, pairs)
        found[row, 0] = count
        if count == 0:
            break
        found[row, 1], found[row, 2] = size, length
        found[row, 3 : 3 + count] = pairs[:count]
        row += 1


def batches_of(shapes):
    """The batches of pairs of these lengths, in this order: the pairs of each, and the lengths that it has room for."""
    nothing = np.empty(0, dtype=np.float32)
    offsets = [offsets_of([shape[side] for shape in shapes]) for side in range(2)]
    block = BlockArrays(np.arange(len(shapes)), *offsets, *[nothing] * 6)
    found = np.zeros((len(shapes) + 1, 3 + LANES), dtype=np.int64)
    batches(block, np.zeros(LANES, dtype=np.int64), found)
    for count, size, length, *pairs in found[: int(np.argmin(found[:, 0]))].tolist():
        yield pairs[:count], size, length


@settings(deadline=None)
@given(st.lists(st.tuples(lengths, lengths), max_size=60))
def test_each_pair_with_words_is_in_one_batch_that_has_room_for_it(shapes):
    found = list(batches_of(shapes))
    assert [pair for pairs, *_ in found for pair in pairs] == [n for n, shape in enumerate(shapes) if min(shape)]
    for pairs, size, length in found:
        assert size == max(shapes[pair][0] for pair in pairs)
        assert length == max(shapes[pair][1] for pair in pairs)
        if len(pairs) > 1:
            assert LANES * size * length <= 2 * sum(shapes[pair][0] * shapes[pair][1] for pair in pairs)
            assert size * length <= CELLS_IN_LANE


def test_pairs_of_the_same_lengths_fill_batches():
    assert [len(pairs) for pairs, *_ in batches_of([(5, 6)] * (2 * LANES + 4))] == [LANES, LANES, 4]
    assert [len(pairs) for pairs, *_ in batches_of([(5, 6)] * 3)] == [1, 1, 1]


def test_a_long_pair_does_not_break_up_the_batch_before_it():
    assert [len(pairs) for pairs, *_ in batches_of([(5, 6)] * (LANES - 1) + [(60, 60)])] == [LANES - 1, 1]


def test_very_long_pairs_are_alone():
    assert [len(pairs) for pairs, *_ in batches_of([(70, 70)] * LANES)] == [1] * LANES
