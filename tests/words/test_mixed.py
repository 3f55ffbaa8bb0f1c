"""Model 4 among the links that the HMM thinks possible, and its mean with the HMM."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_fertility as oracles
from bitexts_words import bitext_of, bitexts, block_of_pairs, pair_cases, results
from cepts.words import HMM, Mixed
from cepts.words.mixed import DoubtfulDistortions
from fertility_cases import oracle_pairs, random_model, some_unknown

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
seeds = st.integers(0, 2**32 - 1)


@st.composite
def models_and_blocks(draw, **sizes):
    random = np.random.default_rng(draw(seeds))
    block = some_unknown(block_of_pairs(draw(pair_cases(**sizes))), random)
    model = random_model(DoubtfulDistortions, block, random)
    model.least = draw(st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.7, 2.0]))
    model.share = 1.0
    return model, block


def split_pairs(values, offsets):
    return [values[start:stop] for start, stop in pairwise(offsets)]


def pair_weights(block):
    return np.ones(len(block.pairs)) if block.times is None else block.times


def cell_weights(block):
    return np.repeat(pair_weights(block), block.pairs.source_lengths * block.pairs.target_lengths)


def candidates_of(matrix, free, least):
    """The source positions of each word that the HMM thinks possible, -1 for null."""
    found = []
    for j in range(matrix.shape[1]):
        own = {i for i in range(len(matrix)) if matrix[i, j] >= np.float32(least)}
        if free[j] >= np.float32(least) or not own:
            own.add(-1)
        found.append(own)
    return found


def views(model, block, direction):
    """Of each pair that is not empty: its number, the oracle's view of it, and the candidates of its words."""
    pairs, hmm = block.pairs, model.jumps.posterior(block)
    matrices = split_pairs(hmm.reverse if direction else hmm.forward, pairs.cell_offsets)
    free = hmm.source_free if direction else hmm.target_free
    frees = split_pairs(free, pairs.source_offsets if direction else pairs.target_offsets)
    for number, (pair, values, own) in enumerate(
        zip(oracle_pairs(model, block, direction), matrices, frees, strict=True)
    ):
        if pair is not None:
            matrix = values.reshape(pairs.source_lengths[number], pairs.target_lengths[number])
            yield number, pair, candidates_of(matrix.T if direction else matrix, own, model.least)


@pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
@settings(deadline=None, max_examples=60)
@given(models_and_blocks(max_length=6))
def test_posteriors_are_those_of_the_neighbours_that_candidates_allow(direction, case):
    model, block = case
    pairs, found, counted = block.pairs, model.posterior(block), model.expect(block, agreeing=True)
    offsets = pairs.source_offsets if direction else pairs.target_offsets
    links = split_pairs(found.paths[0] if direction else found.paths[1], offsets)
    values = split_pairs(found.reverse if direction else found.forward, pairs.cell_offsets)
    free = split_pairs(found.source_free if direction else found.target_free, offsets)
    for number, pair, candidates in views(model, block, direction):
        alignment = tuple(links[number].tolist())
        assert all(map(set.__contains__, candidates, alignment))
        want = oracles.neighbourhood(pair, alignment, candidates)
        own = oracles.log_probability(pair, alignment, more_null=True)
        for other in oracles.neighbours(alignment, pair.size):
            if all(map(set.__contains__, candidates, other)):
                assert oracles.log_probability(pair, other, more_null=True) <= own + 1e-4
        shape = pairs.source_lengths[number], pairs.target_lengths[number]
        got = values[number].reshape(shape)
        np.testing.assert_allclose(got.T if direction else got, want.posterior, **CLOSE)
        np.testing.assert_allclose(free[number], want.null, **CLOSE)
        np.testing.assert_allclose(counted.log_likelihoods[number, direction], want.log_sum, **CLOSE)


@settings(deadline=None, max_examples=60)
@given(models_and_blocks(max_length=5), st.sampled_from([1, 2]))
def test_expected_counts_are_those_of_these_posteriors(case, stride):
    model, block = case
    model.stride = stride
    expected, alone = model.expect(block, agreeing=True), model.posterior(block)
    times, weight = pair_weights(block), cell_weights(block)
    counts = np.bincount(block.cells, weight * alone.forward * alone.reverse, len(block.lexicon))
    np.testing.assert_allclose(expected.counts[:, 0], counts, **CLOSE)
    apart = model.expect(block, agreeing=False)
    for direction, values in enumerate((alone.forward, alone.reverse)):
        counts = np.bincount(block.cells, weight * values, len(block.lexicon))
        np.testing.assert_allclose(apart.counts[:, direction], counts, **CLOSE)
    for direction in range(2):
        fertilities = np.zeros_like(expected.statistics[direction])
        placements = np.zeros(model.placements[direction].shape)
        offsets = block.pairs.source_offsets if direction else block.pairs.target_offsets
        links = split_pairs(alone.paths[0] if direction else alone.paths[1], offsets)
        for number, pair, candidates in views(model, block, direction):
            if number % stride:
                continue
            want = oracles.neighbourhood(pair, tuple(links[number].tolist()), candidates)
            for row, word in zip(want.fertilities, pair.words, strict=True):
                if word >= 0:
                    fertilities[word] += times[number] * row
            placements += times[number] * want.placements
        np.testing.assert_allclose(expected.statistics[direction], fertilities, **CLOSE)
        np.testing.assert_allclose(expected.statistics[2][direction], placements.reshape(-1), **CLOSE)


@settings(deadline=None, max_examples=30)
@given(models_and_blocks(max_length=6))
def test_a_pair_with_too_much_doubt_is_left_to_the_hmm(case):
    model, block = case
    model.limit = -1.0
    found, hmm = model.posterior(block), model.jumps.posterior(block)
    for name in ("forward", "reverse", "source_free", "target_free", "log_likelihoods"):
        np.testing.assert_array_equal(getattr(found, name), getattr(hmm, name))
    expected = model.expect(block, agreeing=False)
    counts = np.bincount(block.cells, cell_weights(block) * hmm.forward, len(block.lexicon))
    np.testing.assert_allclose(expected.counts[:, 0], counts, **CLOSE)
    assert not any(statistic.any() for statistic in expected.statistics)


@settings(deadline=None, max_examples=60)
@given(models_and_blocks(max_length=6), st.sampled_from([1.0, 8.0, 27.0, 64.0]))
def test_doubt_is_the_sum_over_words_of_the_cubes_of_how_many_may_be_linked_to_them(case, limit):
    model, block = case
    whole, hmm = model.posterior(block), model.jumps.posterior(block)
    model.limit = limit
    limited = model.posterior(block)
    values = [split_pairs(found.forward, block.pairs.cell_offsets) for found in (limited, whole, hmm)]
    for number, pair, candidates in views(model, block, 0):
        doubt = sum(sum(i in own for own in candidates) ** 3 for i in range(pair.size))
        np.testing.assert_array_equal(values[0][number], values[2 if doubt > limit else 1][number])


@settings(deadline=None, max_examples=30)
@given(models_and_blocks(max_length=6), st.floats(0, 1))
def test_posteriors_are_a_weighted_mean_of_both_models(case, share):
    model, block = case
    alone, hmm = model.posterior(block), model.jumps.posterior(block)
    model.share = share
    mixed, agreed = model.posterior(block), model.posterior(block, agreeing=True)
    for name in ("forward", "reverse", "source_free", "target_free"):
        want = share * getattr(alone, name) + (1 - share) * getattr(hmm, name)
        np.testing.assert_allclose(getattr(mixed, name), want, **CLOSE)
    np.testing.assert_array_equal(agreed.forward, np.minimum(np.sqrt(mixed.forward * mixed.reverse), np.float32(1)))


@settings(deadline=None, max_examples=20)
@given(bitexts(max_pairs=6, max_length=5))
def test_without_model_4_it_is_the_hmm(bitext):
    """The first training of Model 4, of its positions, leaves the lexicon alone."""
    hmm, mixed = HMM(iterations=3).fit(bitext), Mixed(share=0.0, iterations=0, hmm_iterations=3).fit(bitext)
    for one, other in zip(results(hmm, bitext)[:3], results(mixed, bitext)[:3], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("times", "iterations"), [(1, 0), (2, 0), (20, 2)])
def test_the_lexicon_of_a_scarce_text_stays_that_of_the_hmm(times, iterations):
    """Words that occur 20 times have a logarithm of 3.0."""
    lines = [("a b c", "x y z")] * times
    mixed = Mixed(scarce=2.9).fit(bitext_of(lines))
    assert len(mixed.stage_objectives_["mixed"]) == iterations
