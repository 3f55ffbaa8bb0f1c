from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import block_of_pairs, pair_cases, ragged_cases, random_pair, split
from cepts.words.jumps import Jumps
from cepts.words.text import TextFacts

CLOSE = {"rtol": 5e-5, "atol": 2e-6}


@st.composite
def jump_models(draw):
    """A model with random weights of jumps and starts, other ones in each direction."""
    model = Jumps(null_prob=draw(st.floats(0.02, 0.8)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    model.restore(
        {name: (10 ** random.uniform(-2, 0, array.shape)).astype(np.float32) for name, array in model.state().items()}
    )
    return model


def weights_of(model, direction):
    """The model's weights as the oracle takes them."""
    jumps, starts = model.jumps[direction].astype(float), model.starts[direction].astype(float)
    return oracles.JumpWeights(
        lambda distance: jumps[model.reach + distance], lambda position: starts[position], model.null_prob
    )


def enumerated(model, cases, direction):
    """What all state paths say of each pair; None for an empty one."""
    weights = weights_of(model, direction)
    inputs = [case.directions()[direction] for case in cases]
    return [oracles.hmm(lexicon, null, weights) if lexicon.size else None for lexicon, null in inputs]


def by_pair(found, cases, direction):
    """Posteriors (explained side in the columns) and null posteriors of each pair."""
    shapes = [case.forward.shape for case in cases]
    matrices = split((found.forward, found.reverse)[direction], shapes)
    free = split((found.target_free, found.source_free)[direction], [shape[1 - direction :][:1] for shape in shapes])
    return [matrix if direction == 0 else matrix.T for matrix in matrices], free


@pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
@settings(deadline=None, max_examples=60)
@given(jump_models(), pair_cases())
def test_posteriors_and_likelihood_equal_the_sum_over_all_paths(direction, model, cases):
    found = model.posterior(block_of_pairs(cases))
    for pair, (got, free, want) in enumerate(
        zip(*by_pair(found, cases, direction), enumerated(model, cases, direction), strict=True)
    ):
        if want is None:
            assert found.log_likelihoods[pair, direction] == 0
            continue
        np.testing.assert_allclose(got, want.posterior, **CLOSE)
        np.testing.assert_allclose(free, want.null, **CLOSE)
        np.testing.assert_allclose(found.log_likelihoods[pair, direction], np.log(want.likelihood), **CLOSE)


@pytest.mark.parametrize(("size", "length"), [(4, 5), (5, 4), (1, 6), (6, 1)])
def test_posteriors_of_longer_pairs_equal_the_sum_over_all_paths(size, length):
    model, case = Jumps(), random_pair(size, length, np.random.default_rng(size))
    found = model.posterior(block_of_pairs([case]))
    want = oracles.hmm(*case.directions()[0], weights_of(model, 0))
    np.testing.assert_allclose(found.forward.reshape(size, length), want.posterior, **CLOSE)
    np.testing.assert_allclose(found.target_free, want.null, **CLOSE)


@pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
@settings(deadline=None, max_examples=60)
@given(jump_models(), pair_cases())
def test_expected_jumps_and_starts_equal_the_sum_over_all_paths(direction, model, cases):
    jumped, _, started, _ = model.expect(block_of_pairs(cases), agreeing=False).statistics
    want_jumped, want_started = np.zeros(jumped.shape[1]), np.zeros(started.shape[1])
    for want in filter(None, enumerated(model, cases, direction)):
        size = len(want.start)
        want_started[:size] += want.start
        for last in range(size):
            want_jumped[model.reach - last : model.reach - last + size] += want.moves[last]
    np.testing.assert_allclose(jumped[direction], want_jumped, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(started[direction], want_started, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
@settings(deadline=None, max_examples=60)
@given(jump_models(), pair_cases())
def test_viterbi_equals_the_best_of_all_alignments(direction, model, cases):
    source, target = model.paths(block_of_pairs(cases))
    links = split((target, source)[direction], [case.forward.shape[1 - direction :][:1] for case in cases])
    for got, want in zip(links, enumerated(model, cases, direction), strict=True):
        if want is None:
            continue
        # Of equal ones any may be given; none may be better.
        assert want.alignments[tuple(got)] == pytest.approx(want.alignments[want.best], rel=1e-9)
        if want.margin > 1e-4:
            assert tuple(got) == want.best


@settings(deadline=None, max_examples=60)
@given(jump_models(), pair_cases(min_length=1))
def test_update_never_lowers_the_expected_likelihood_of_jumps(model, cases):
    """The MM step must climb from any weights, although the normaliser differs from sentence to sentence."""
    found = [enumerated(model, cases, direction) for direction in range(2)]
    before = [weights_of(model, direction) for direction in range(2)]
    model.update(model.expect(block_of_pairs(cases), agreeing=False).statistics)
    for direction in range(2):
        moves, starts = [pair.moves for pair in found[direction]], [pair.start for pair in found[direction]]
        old = oracles.expected_jump_likelihood(before[direction], moves, starts)
        new = oracles.expected_jump_likelihood(weights_of(model, direction), moves, starts)
        assert new >= old - 1e-5 * max(1.0, abs(old))


def log_likelihoods_of_updates(cases, updates):
    """Log-likelihood of each direction before each of some updates of a fresh model; the lexicon stays."""
    model, block = Jumps(), block_of_pairs(cases)
    model.prepare(TextFacts.of(block.pairs))
    steps = []
    for _ in range(updates):
        found = model.expect(block, agreeing=False)
        steps.append(found.log_likelihoods.sum(axis=0))
        model.update(found.statistics)
    return np.array(steps)


@settings(deadline=None, max_examples=30)
@given(pair_cases(min_length=1, max_length=6, max_pairs=5))
def test_updates_never_lower_the_likelihood(cases):
    steps = log_likelihoods_of_updates(cases, 6)
    assert np.diff(steps, axis=0).min() >= -1e-6 * np.abs(steps).max()


@pytest.mark.parametrize("seed", range(8))
def test_updates_never_lower_the_likelihood_of_long_sentences(seed):
    """Far jumps share their weights."""
    random = np.random.default_rng(seed)
    steps = log_likelihoods_of_updates([random_pair(*random.integers(9, 40, 2), random) for _ in range(3)], 5)
    assert np.diff(steps, axis=0).min() >= -1e-6 * np.abs(steps).max()


@pytest.mark.parametrize("length", [5, 16, 40])
def test_a_text_that_says_nothing_changes_no_weights(length):
    """Where every word pair is as likely as every other, the expected jumps are the model's own, and so are the
    weights that explain them best. Far jumps share a weight; should they start with several, the likelihood could
    fall in the first update.
    """
    case = random_pair(length, length, np.random.default_rng(0), decades=0.0)
    model, block = Jumps(), block_of_pairs([case])
    model.prepare(TextFacts.of(block.pairs))
    before = [weights_of(model, direction) for direction in range(2)]
    model.update(model.expect(block, agreeing=False).statistics)
    for direction in range(2):
        after = weights_of(model, direction)
        np.testing.assert_allclose(after.matrix(length), before[direction].matrix(length), rtol=1e-3)
        np.testing.assert_allclose(after.first(length), before[direction].first(length), rtol=1e-3)


@pytest.mark.parametrize("decades", [1.0, 9.0])
def test_long_sentences_equal_the_log_space_twin(decades):
    case = random_pair(300, 300, np.random.default_rng(3), decades)
    model, block = Jumps(), block_of_pairs([case])
    model.widen(block.pairs)
    found = model.posterior(block)
    for direction in range(2):
        (got,), (free,) = by_pair(found, [case], direction)
        want = oracles.hmm_forward_backward(*case.directions()[direction], weights_of(model, direction))
        assert np.isfinite(got).all()
        assert np.isfinite(free).all()
        assert got.min() >= 0
        np.testing.assert_allclose(got.sum(axis=0) + free, 1, atol=1e-4)
        np.testing.assert_allclose(got, want.posterior, atol=1e-3)
        np.testing.assert_allclose(free, want.null, atol=1e-3)
        np.testing.assert_allclose(found.log_likelihoods[0, direction], want.likelihood, rtol=1e-5)


@pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
@settings(deadline=None, max_examples=40)
@given(jump_models(), ragged_cases(), st.data())
def test_pairs_of_many_lengths_equal_the_log_space_twin(direction, model, cases, data):
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(cases), max_size=len(cases)))
    block = dataclasses.replace(block_of_pairs(cases), times=np.array(times, dtype=np.float32))
    model.widen(block.pairs)
    weights = weights_of(model, direction)
    found = model.posterior(block)
    jumped, _, started, _ = model.expect(block, agreeing=False).statistics
    want_jumped, want_started = np.zeros(jumped.shape[1]), np.zeros(started.shape[1])
    for pair, (got, free, case) in enumerate(zip(*by_pair(found, cases, direction), cases, strict=True)):
        if not case.forward.size:
            assert found.log_likelihoods[pair, direction] == 0
            continue
        want = oracles.hmm_forward_backward(*case.directions()[direction], weights)
        np.testing.assert_allclose(got, want.posterior, **CLOSE)
        np.testing.assert_allclose(free, want.null, **CLOSE)
        np.testing.assert_allclose(found.log_likelihoods[pair, direction], want.likelihood, **CLOSE)
        size = len(want.start)
        want_started[:size] += times[pair] * want.start
        for last in range(size):
            want_jumped[model.reach - last : model.reach - last + size] += times[pair] * want.moves[last]
    np.testing.assert_allclose(jumped[direction], want_jumped, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(started[direction], want_started, rtol=2e-4, atol=1e-5)


@settings(deadline=None, max_examples=20)
@given(pair_cases(min_length=1, max_length=20, max_pairs=30))
def test_with_a_stride_jumps_of_some_pairs_are_counted_and_links_of_all(cases):
    model, block = Jumps(), block_of_pairs(cases)
    model.widen(block.pairs)
    every = model.expect(block, agreeing=True)
    model.stride = 2
    some = model.expect(block, agreeing=True)
    np.testing.assert_array_equal(some.counts, every.counts)
    assert all((part <= whole).all() for part, whole in zip(some.statistics, every.statistics, strict=True))
    assert some.statistics[2].sum() > 0


@settings(deadline=None, max_examples=20)
@given(jump_models(), pair_cases(min_length=1))
def test_the_log_space_twin_equals_the_sum_over_all_paths(model, cases):
    for case in cases:
        inputs = (*case.directions()[0], weights_of(model, 0))
        got, want = oracles.hmm_forward_backward(*inputs), oracles.hmm(*inputs)
        np.testing.assert_allclose(got.posterior, want.posterior, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(got.null, want.null, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(got.likelihood, np.log(want.likelihood), rtol=1e-9)
        np.testing.assert_allclose(got.moves, want.moves, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(got.start, want.start, rtol=1e-9, atol=1e-12)


def test_wider_weights_do_not_change_short_sentences():
    cases = [random_pair(3, 4, np.random.default_rng(5))]
    model, block = Jumps(), block_of_pairs(cases)
    before = model.posterior(block).forward
    model.widen(block_of_pairs([random_pair(100, 90, np.random.default_rng(6))]).pairs)
    np.testing.assert_array_equal(model.posterior(block).forward, before)
