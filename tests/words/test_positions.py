"""What every position model promises, whatever its probabilities are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import block_of_pairs, pair_cases, ragged_cases, split
from cepts.words.jumps import Jumps
from cepts.words.mixture import DiagonalPrior, PositionTable, Uniform
from cepts.words.text import TextFacts

CLOSE = {"rtol": 5e-5, "atol": 2e-6}
MODELS = [Uniform, PositionTable, DiagonalPrior, Jumps]
every_model = pytest.mark.parametrize("kind", MODELS, ids=[model.__name__ for model in MODELS])


def prepared(kind, block):
    """A model that has learnt a little."""
    model = kind(null_prob=0.2)
    model.prepare(TextFacts.of(block.pairs))
    model.update(model.expect(block, agreeing=False).statistics)
    return model


@every_model
@settings(deadline=None, max_examples=30)
@given(ragged_cases())
def test_posteriors_do_not_depend_on_the_other_pairs_of_the_block(kind, cases):
    """Nor on whether a pair is computed alone or in a batch, not even in the last digit."""
    block = block_of_pairs(cases)
    model = prepared(kind, block)
    together = model.posterior(block)
    shapes = [case.forward.shape for case in cases]
    parts = split(together.forward, shapes), split(together.reverse, shapes)
    free = split(together.source_free, [(size,) for size, _ in shapes])
    other_free = split(together.target_free, [(length,) for _, length in shapes])
    for case, *got in zip(cases, *parts, free, other_free, together.log_likelihoods, strict=True):
        alone = model.posterior(block_of_pairs([case]))
        want = alone.forward, alone.reverse, alone.source_free, alone.target_free, alone.log_likelihoods
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours.ravel(), theirs.ravel())


@every_model
@settings(deadline=None, max_examples=30)
@given(ragged_cases(), st.integers(1, 50))
def test_counts_of_pairs_of_many_lengths_are_their_posteriors_added_up(kind, cases, kinds):
    tokens = sum(case.forward.size for case in cases)
    cells = np.unique(np.arange(tokens) ** 2 % kinds, return_inverse=True)[1].astype(np.int32)
    block = block_of_pairs(cases, cells=cells)
    model = prepared(kind, block)
    posterior, agreeing = model.posterior(block), model.posterior(block, agreeing=True)
    counts, shared = (model.expect(block, agreeing=agreeing).counts for agreeing in (False, True))
    np.testing.assert_allclose(counts[:, 0], np.bincount(cells, posterior.forward, len(counts)), rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(counts[:, 1], np.bincount(cells, posterior.reverse, len(counts)), rtol=2e-4, atol=1e-5)
    product = agreeing.forward.astype(float) ** 2
    np.testing.assert_allclose(shared[:, 0], np.bincount(cells, product, len(counts)), rtol=2e-4, atol=1e-5)


@every_model
@settings(deadline=None, max_examples=30)
@given(pair_cases(), st.lists(st.integers(0, 2), min_size=27, max_size=27))
def test_expected_counts_are_the_posteriors_of_each_cell_added_up(kind, cases, cells):
    cells = np.unique(cells[: sum(case.forward.size for case in cases)], return_inverse=True)[1].astype(np.int32)
    block = block_of_pairs(cases, cells=cells)
    model = prepared(kind, block)
    posterior = model.posterior(block)
    apart, agreeing = (model.expect(block, agreeing=agreeing) for agreeing in (False, True))
    size = len(block.lexicon)
    np.testing.assert_allclose(apart.counts[:, 0], np.bincount(cells, posterior.forward, size), **CLOSE)
    np.testing.assert_allclose(apart.counts[:, 1], np.bincount(cells, posterior.reverse, size), **CLOSE)
    product = posterior.forward.astype(float) * posterior.reverse
    assert agreeing.counts.shape == (size, 1)
    np.testing.assert_allclose(agreeing.counts[:, 0], np.bincount(cells, product, size), **CLOSE)
    for found in (apart, agreeing):
        np.testing.assert_allclose(found.source_free, posterior.source_free, **CLOSE)
        np.testing.assert_allclose(found.target_free, posterior.target_free, **CLOSE)
        np.testing.assert_allclose(found.log_likelihoods, posterior.log_likelihoods, **CLOSE)


@every_model
@settings(deadline=None, max_examples=30)
@given(pair_cases())
def test_agreeing_posteriors_are_the_geometric_mean_of_the_directions(kind, cases):
    block = block_of_pairs(cases)
    model = prepared(kind, block)
    apart, agreeing = model.posterior(block), model.posterior(block, agreeing=True)
    product = apart.forward.astype(float) * apart.reverse
    np.testing.assert_allclose(agreeing.forward, np.sqrt(product), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(agreeing.source_free, apart.source_free)
    np.testing.assert_array_equal(agreeing.target_free, apart.target_free)
    np.testing.assert_array_equal(agreeing.log_likelihoods, apart.log_likelihoods)


@every_model
@pytest.mark.parametrize("agreeing", [False, True])
@settings(deadline=None, max_examples=30)
@given(pair_cases(), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_a_pair_that_stands_often_counts_as_often(kind, agreeing, cases, times):
    times = times[: len(cases)]
    once = block_of_pairs(cases)
    weighted = dataclasses.replace(once, times=np.array(times, dtype=np.float32))
    repeated = [pair for pair, often in enumerate(times) for _ in range(often)]
    # The copies of a token pair share its cell.
    cells = np.split(once.cells, once.pairs.cell_offsets[1:-1])
    copies = block_of_pairs(
        [cases[pair] for pair in repeated], cells=np.concatenate([cells[pair] for pair in repeated])
    )
    model = prepared(kind, once)
    got, want = model.expect(weighted, agreeing=agreeing), model.expect(copies, agreeing=agreeing)
    np.testing.assert_allclose(got.counts, want.counts, **CLOSE)
    for ours, theirs in zip(got.statistics, want.statistics, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@every_model
@settings(deadline=None, max_examples=30)
@given(pair_cases())
def test_posteriors_and_null_sum_to_one(kind, cases):
    block = block_of_pairs(cases)
    found = prepared(kind, block).posterior(block)
    pairs = block.pairs
    width = np.repeat(pairs.target_lengths, pairs.source_lengths)
    source = np.repeat(np.arange(len(width)), width)
    target = np.concatenate(
        [
            np.tile(np.arange(start, stop), size)
            for start, stop, size in zip(
                pairs.target_offsets[:-1], pairs.target_offsets[1:], pairs.source_lengths, strict=True
            )
        ]
    ).astype(np.int64)
    to_target = np.bincount(target, found.forward, len(found.target_free)) + found.target_free
    to_source = np.bincount(source, found.reverse, len(found.source_free)) + found.source_free
    np.testing.assert_allclose(to_target, 1, atol=1e-5)
    np.testing.assert_allclose(to_source, 1, atol=1e-5)


@every_model
@settings(deadline=None, max_examples=20)
@given(pair_cases())
def test_a_model_takes_the_state_of_another(kind, cases):
    block = block_of_pairs(cases)
    model = prepared(kind, block)
    other = kind(null_prob=0.2)
    other.restore({name: array.copy() for name, array in model.state().items()})
    ours, theirs = model.posterior(block), other.posterior(block)
    np.testing.assert_array_equal(ours.forward, theirs.forward)
    np.testing.assert_array_equal(ours.reverse, theirs.reverse)


@every_model
def test_null_prob_must_be_a_probability(kind):
    for value in (-0.1, 1.0, 1.5):
        with pytest.raises(ValueError, match="null_prob"):
            kind(null_prob=value)
