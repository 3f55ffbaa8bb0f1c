from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import bitext_of, bitexts, index_of, pairs_of, sentence_pairs
from cepts.data import Bitext
from cepts.words.index import cut

any_bitext = bitexts(min_pairs=0, max_pairs=8, max_length=5)


def cells_of_shards(index):
    """Cell number of every token pair of the whole bitext, in order."""
    return np.concatenate([shard.cell_numbers[shard.cells] for shard in index.shards] or [np.empty(0, np.int32)])


def words_of_cell(index, bitext):
    """The word pair of each cell of the index."""
    source = np.repeat(np.arange(index.source_words), np.diff(index.rows))
    return [
        (bitext.source.vocabulary[e], bitext.target.vocabulary[f]) for e, f in zip(source, index.targets, strict=True)
    ]


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_every_token_pair_has_the_cell_of_its_words(bitext, cells_in_shard):
    index = index_of(bitext, cells_in_shard=cells_in_shard)
    words = words_of_cell(index, bitext)
    assert [words[cell] for cell in cells_of_shards(index)] == list(oracles.token_pairs(sentence_pairs(bitext)))


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30))
def test_there_is_one_cell_for_each_distinct_word_pair(bitext, cells_in_shard):
    index = index_of(bitext, cells_in_shard=cells_in_shard)
    words = words_of_cell(index, bitext)
    assert len(index) == len(words) == len(set(words))
    assert set(words) == oracles.cells(sentence_pairs(bitext))


@settings(deadline=None)
@given(any_bitext, st.integers(1, 30), st.integers(1, 3))
def test_shard_size_and_threads_do_not_change_the_rows_or_the_set_of_cells(bitext, cells_in_shard, threads):
    whole = index_of(bitext)
    index = index_of(bitext, cells_in_shard=cells_in_shard, threads=threads)
    np.testing.assert_array_equal(index.rows, whole.rows)
    for start, stop in zip(whole.rows[:-1], whole.rows[1:], strict=True):
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
def test_shards_hold_the_words_of_their_pairs(bitext, cells_in_shard):
    index = index_of(bitext, cells_in_shard=cells_in_shard)
    whole = iter(range(len(bitext)))
    for shard in index.shards:
        for pair in range(len(shard.pairs)):
            source, target = bitext[next(whole)]
            ids = shard.pairs.source_ids[slice(*shard.pairs.source_offsets[pair : pair + 2])]
            assert [bitext.source.vocabulary[e] for e in ids] == source
            ids = shard.pairs.target_ids[slice(*shard.pairs.target_offsets[pair : pair + 2])]
            assert [bitext.target.vocabulary[f] for f in ids] == target
        assert sorted(shard.pairs.by_length) == list(range(len(shard.pairs)))
    assert next(whole, None) is None


def test_empty_pairs_have_no_cells():
    index = index_of(bitext_of([("", ""), ("", "a b"), ("a", ""), ("a", "b")]))
    assert len(index) == 1
    assert len(index_of(Bitext.from_tokens([]))) == 0
    assert len(index_of(bitext_of([("", "")] * 3))) == 0


def test_repeated_words_share_their_cells():
    index = index_of(bitext_of([("a a", "b b"), ("a", "b")]))
    assert len(index) == 1
    np.testing.assert_array_equal(cells_of_shards(index), np.zeros(5))


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
