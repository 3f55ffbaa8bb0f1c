"""Which words of two spans stand for each other, against every pair of spans looked at one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.kernels.correspondence import add_word_scores, count_word_pairs, find_parallel, path_links, word_links
from cepts.kernels.phrase_features import NONE


@st.composite
def cases(draw):
    """Shape I x Ls x J x Lt, which words match, which have the same lemma, which spans are parallel."""
    shape = tuple(draw(st.integers(1, 5)) for _ in range(4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    match = random.choice([0, 4, NONE], (shape[0], shape[2]), p=[0.2, 0.2, 0.6]).astype(np.int32)
    parallel = np.empty((shape[0], shape[2], min(shape[1], shape[3])), dtype=np.bool_)
    find_parallel(match, parallel)
    return random, shape, match != NONE, match == 0, parallel


def spans_inside(shape):
    """Every pair of spans that does not leave its sentence."""
    for i, size, j, wide in np.ndindex(shape):
        if i + size < shape[0] and j + wide < shape[2]:
            yield i, size + 1, j, wide + 1


@settings(deadline=None, max_examples=100)
@given(cases())
def test_spans_are_parallel_if_half_of_their_words_match_in_order(case):
    _, _, matched, _, parallel = case
    for (i, j, size), found in np.ndenumerate(parallel):
        assert found == oracles.is_parallel(matched, i, j, size + 1)


@settings(deadline=None, max_examples=100)
@given(cases())
def test_word_scores_are_added_to_parallel_spans_and_counted_there(case):
    random, shape, matched, _, parallel = case
    cells, emit = random.normal(size=matched.shape), random.normal(size=shape)
    want, counts = emit.copy(), np.full(matched.shape, np.nan)
    segments, wanted = random.random(shape), np.zeros(matched.shape)
    for i, size, j, wide in spans_inside(shape):
        diagonal = [(i + step, j + step) for step in range(size)]
        if size == wide and oracles.is_parallel(matched, i, j, size):
            scored = [cell for cell in diagonal if matched[cell] or size == 1]
            if size > 1:
                want[i, size - 1, j, wide - 1] += sum(cells[cell] for cell in scored)
            for cell in scored:
                wanted[cell] += segments[i, size - 1, j, wide - 1]
    add_word_scores(cells, matched, parallel, emit)
    np.testing.assert_allclose(emit, want, rtol=1e-12)
    count_word_pairs(segments, matched, parallel, counts)
    np.testing.assert_allclose(counts, wanted, rtol=1e-12)


@settings(deadline=None, max_examples=100)
@given(cases())
def test_links_of_words_are_those_that_stand_for_each_other(case):
    random, shape, matched, same, parallel = case
    segments = random.random(shape)
    links, want = np.full(matched.shape, np.nan), np.zeros(matched.shape)
    for i, size, j, wide in spans_inside(shape):
        for cell in oracles.linked_words(i, size, j, wide, matched, same):
            want[cell] += segments[i, size - 1, j, wide - 1]
    word_links(segments, parallel, same, links)
    np.testing.assert_allclose(links, want, rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(cases())
def test_links_of_a_path(case):
    random, shape, matched, same, parallel = case
    chosen = [spans for spans in spans_inside(shape) if random.random() < 0.2]
    rows = np.array([(i, i + size, j, j + wide) for i, size, j, wide in chosen], dtype=np.int32).reshape(-1, 4)
    links, want = np.zeros(matched.shape), np.zeros(matched.shape)
    for spans in chosen:
        for cell in oracles.linked_words(*spans, matched, same):
            want[cell] += 1
    path_links(rows, parallel, same, links)
    np.testing.assert_array_equal(links, want)


def test_by_hand():
    """Words in order; words with the same lemma and the rest; all with all."""
    match = np.full((3, 3), NONE, dtype=np.int32)
    match[0, 0] = match[1, 1] = 0
    parallel = np.empty((3, 3, 3), dtype=np.bool_)
    find_parallel(match, parallel)
    # "closed up" with "closed down": one of two words matches.
    assert parallel[0, 0].tolist() == [True, True, True] and parallel[1, 1].tolist() == [True, True, False]
    links = np.zeros((3, 3))
    path_links(np.array([[0, 2, 0, 3]]), parallel, match == 0, links)
    assert links.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    links = np.zeros((3, 3))
    path_links(np.array([[0, 2, 2, 3]]), parallel, match == 0, links)
    assert links.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
