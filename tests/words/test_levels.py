from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import WORDS_WITH_STEMS, bitexts, index_of, sides_of
from cepts.words.levels import build_levels, words_by_level

stemmed = bitexts(words=WORDS_WITH_STEMS, min_length=1, max_length=4, max_pairs=6)
STEMS = st.sampled_from([(), (4,), (6, 4), (6, 5, 4), (1,)])


def levels_of(bitext, stems):
    index = index_of(bitext)
    sides = [words_by_level(side.vocabulary.words, side.frequencies, stems) for side in sides_of(bitext)]
    return build_levels(index.rows(len(bitext.source.vocabulary)), index.targets, *sides)


def cell_words(level):
    """The (coarser) word pair of each cell."""
    source = np.repeat(np.arange(len(level.source.names)), np.diff(level.rows))
    return [(level.source.names[e], level.target.names[f]) for e, f in zip(source, level.targets, strict=True)]


@settings(deadline=None, max_examples=50)
@given(stemmed, STEMS)
def test_a_coarse_cell_has_the_stems_of_its_cells(bitext, stems):
    levels = levels_of(bitext, stems)
    assert len(levels) == len(stems) + 1
    for letters, level, coarser in zip(stems, levels, levels[1:], strict=False):
        fine, coarse = cell_words(level), cell_words(coarser)
        assert len(coarse) == len(set(coarse))
        assert [coarse[cell] for cell in level.coarse_of_cell] == [(e[:letters], f[:letters]) for e, f in fine]
        assert set(coarse) == {(e[:letters], f[:letters]) for e, f in fine}
    assert len(levels[-1].coarse_of_cell) == 0


@settings(deadline=None, max_examples=50)
@given(stemmed, STEMS)
def test_the_shares_of_a_coarse_words_words_sum_to_one(bitext, stems):
    for level in levels_of(bitext, stems):
        for side in (level.source, level.target):
            coarse = side.coarse if len(side.coarse) else np.zeros(len(side.names), dtype=np.int32)
            np.testing.assert_allclose(np.bincount(coarse, side.share), 1, rtol=1e-6)


@settings(deadline=None, max_examples=50)
@given(stemmed, STEMS)
def test_every_level_counts_all_words(bitext, stems):
    for level in levels_of(bitext, stems):
        assert level.source.frequencies.sum() == len(bitext.source.ids)
        assert level.target.frequencies.sum() == len(bitext.target.ids)
