from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import bitext_of, bitexts, cells_of_pairs, index_of, pairs_of, sentence_pairs
from cepts.data import Bitext
from cepts.words.index import IndexShard, cut, in_word_order, index_shard, merge_cells, rows_between
from cepts.words.text import SIDES

any_bitext = bitexts(min_pairs=0, max_pairs=8, max_length=5)


def words_of_cell(index, bitext):
    """The word pair of each cell of the index."""
    words = len(bitext.source.vocabulary)
    source = np.repeat(np.arange(words), np.diff(index.rows(words)))
    return [
        (bitext.source.vocabulary[e], bitext.target.vocabulary[f]) for e, f in zip(source, index.targets, strict=True)
    ]


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_every_token_pair_has_the_cell_of_its_words(bitext, cells_in_block):
    index = index_of(bitext, cells_in_block=cells_in_block)
    words = words_of_cell(index, bitext)
    found = [words[cell] for cells in cells_of_pairs(index) for cell in cells]
    assert found == list(oracles.token_pairs(sentence_pairs(bitext)))


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_there_is_one_cell_for_each_distinct_word_pair(bitext, cells_in_block):
    index = index_of(bitext, cells_in_block=cells_in_block)
    words = words_of_cell(index, bitext)
    assert len(index) == len(words) == len(set(words))
    assert set(words) == oracles.cells(sentence_pairs(bitext))


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30), st.randoms(use_true_random=False))
def test_rows_are_in_the_order_of_ranks_and_can_be_brought_into_that_of_words(bitext, cells_in_block, random):
    words = len(bitext.source.vocabulary)
    ranks = np.array(random.sample(range(words), words), dtype=np.int32)
    index = index_shard(pairs_of(bitext), ranks, len(bitext.target.vocabulary), cells_in_block=cells_in_block)
    whole = index_of(bitext, cells_in_block=cells_in_block)
    order, rows = in_word_order(index.rows(words), ranks)
    np.testing.assert_array_equal(rows, whole.rows(words))
    targets = index.targets[order]
    for start, stop in pairwise(whole.rows(words)):
        assert set(targets[start:stop]) == set(whole.targets[start:stop])


@settings(deadline=None)
@given(st.lists(any_bitext, min_size=1, max_size=4))
def test_merged_cells_are_those_of_all_parts(bitexts):
    names = [sorted({word for text in bitexts for word in getattr(text, side).vocabulary.words}) for side in SIDES]
    parts = []
    for bitext in bitexts:
        numbers = (
            np.array([own.index(word) for word in getattr(bitext, side).vocabulary.words], dtype=np.int32)
            for own, side in zip(names, SIDES, strict=True)
        )
        pairs = pairs_of(bitext).renumbered(*numbers)
        parts.append(index_shard(pairs, np.arange(len(names[0]), dtype=np.int32), len(names[1])))
    rows, targets, numbers = merge_cells(
        [(part.rows(len(names[0])), part.targets) for part in parts], len(names[0]), len(names[1])
    )
    source = np.repeat(np.arange(len(names[0])), np.diff(rows))
    words = [(names[0][e], names[1][f]) for e, f in zip(source, targets, strict=True)]
    assert len(words) == len(set(words))
    assert set(words) == set().union(*(oracles.cells(sentence_pairs(bitext)) for bitext in bitexts))
    for part, own in zip(parts, numbers, strict=True):
        source = np.repeat(np.arange(len(names[0])), np.diff(part.rows(len(names[0]))))
        here = [(names[0][e], names[1][f]) for e, f in zip(source, part.targets, strict=True)]
        assert [words[cell] for cell in own] == here


@settings(deadline=None)
@given(any_bitext)
def test_a_shard_comes_back_from_its_arrays(bitext):
    index = index_of(bitext, cells_in_block=7)
    again = IndexShard.of(index.arrays())
    for name, array in index.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
    assert len(again.blocks) == len(index.blocks)


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30), st.integers(1, 3))
def test_block_size_and_threads_do_not_change_the_rows_or_the_set_of_cells(bitext, cells_in_block, threads):
    whole = index_of(bitext)
    index = index_of(bitext, cells_in_block=cells_in_block, threads=threads)
    words = len(bitext.source.vocabulary)
    np.testing.assert_array_equal(index.rows(words), whole.rows(words))
    for start, stop in pairwise(whole.rows(words)):
        assert set(index.targets[start:stop]) == set(whole.targets[start:stop])


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_runs_are_whole_pairs_in_order_and_no_larger_than_asked_for(bitext, cells):
    pairs = pairs_of(bitext)
    runs = list(cut(pairs, cells))
    assert [pair for start, stop in runs for pair in range(start, stop)] == list(range(len(pairs)))
    for start, stop in runs:
        assert stop > start
        size = pairs.cell_offsets[stop] - pairs.cell_offsets[start]
        assert size <= cells or stop == start + 1


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_blocks_hold_the_words_of_the_distinct_pairs_sorted_by_length(bitext, cells_in_block):
    index = index_of(bitext, cells_in_block=cells_in_block)
    distinct = []
    for block in index.blocks:
        for pair in range(len(block.pairs)):
            source = block.pairs.source_ids[slice(*block.pairs.source_offsets[pair : pair + 2])]
            target = block.pairs.target_ids[slice(*block.pairs.target_offsets[pair : pair + 2])]
            distinct.append(
                ([bitext.source.vocabulary[e] for e in source], [bitext.target.vocabulary[f] for f in target])
            )
        assert block.pairs.by_length.tolist() == list(range(len(block.pairs)))
    assert [distinct[place] for place in index.places] == sentence_pairs(bitext)
    assert index.times.tolist() == [sentence_pairs(bitext).count(pair) for pair in distinct]


def test_empty_pairs_have_no_cells():
    index = index_of(bitext_of([("", ""), ("", "a b"), ("a", ""), ("a", "b")]))
    assert len(index) == 1
    assert len(index_of(Bitext.from_tokens([]))) == 0
    assert len(index_of(bitext_of([("", "")] * 3))) == 0


def test_repeated_words_share_their_cells():
    index = index_of(bitext_of([("a a", "b b"), ("a", "b")]))
    assert len(index) == 1
    np.testing.assert_array_equal(np.concatenate(cells_of_pairs(index)), np.zeros(5))


@settings(deadline=None)
@given(bitexts(words=("a", "b"), min_pairs=0, max_pairs=12, max_length=2))
def test_distinct_pairs_are_all_pairs_once_in_order_of_first_use(bitext):
    pairs = [(tuple(source), tuple(target)) for source, target in sentence_pairs(bitext)]
    distinct, times, places = pairs_of(bitext).distinct()
    words = bitext.source.vocabulary, bitext.target.vocabulary
    got = [
        (
            tuple(words[0][e] for e in distinct.source_ids[slice(*distinct.source_offsets[pair : pair + 2])]),
            tuple(words[1][f] for f in distinct.target_ids[slice(*distinct.target_offsets[pair : pair + 2])]),
        )
        for pair in range(len(distinct))
    ]
    assert got == list(dict.fromkeys(pairs))
    assert times.tolist() == [pairs.count(pair) for pair in got]
    assert [got[place] for place in places] == pairs


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_rows_of_a_range_are_those_of_all_words_counted_from_its_first(sizes, data):
    first = data.draw(st.integers(0, len(sizes)))
    last = data.draw(st.integers(first, len(sizes)))
    ranks = np.flatnonzero(sizes).astype(np.int32)
    starts = np.cumsum([0, *(size for size in sizes if size)])
    wanted = [sum(sizes[first:word]) for word in range(first, last + 1)]
    assert rows_between(ranks, starts, first, last).tolist() == wanted
