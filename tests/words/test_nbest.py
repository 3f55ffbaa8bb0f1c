"""Lists of the most probable alignments: exact, in order, without repetition, with their true probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import TOY, PairCase, bitext_of, block_of_pairs, copy_of, pair_cases, random_pair
from cepts.data import NBest
from cepts.errors import UsageError
from cepts.words import HMM, IBM1, IBM2, Diagonal, aligner
from cepts.words.jumps import Jumps
from cepts.words.mixture import DiagonalPrior, PositionTable, Uniform
from cepts.words.text import TextFacts

MODELS = [Uniform, PositionTable, DiagonalPrior, Jumps]
ALIGNERS = [IBM1, IBM2, Diagonal, HMM]
every_model = pytest.mark.parametrize("kind", MODELS, ids=[model.__name__ for model in MODELS])
every_aligner = pytest.mark.parametrize("kind", ALIGNERS, ids=[kind.name for kind in ALIGNERS])


def prepared(kind, block):
    """A model that has learnt a little."""
    model = kind(null_prob=0.2)
    model.prepare(TextFacts.of(block.pairs))
    model.update(model.expect(block, agreeing=False).statistics)
    return model


def weights_of(model, direction):
    """The weights of the HMM as the oracle takes them."""
    jumps, starts = model.jumps[direction].astype(float), model.starts[direction].astype(float)
    null_prob = float(np.float32(model.null_prob))
    return oracles.JumpWeights(lambda jump: jumps[model.reach + jump], lambda place: starts[place], null_prob)


def enumerated(model, case, direction):
    """P(words, alignment) of every alignment of a pair that is not empty."""
    lexicon, null = case.directions()[direction]
    size, length = lexicon.shape
    if isinstance(model, Jumps):
        return oracles.hmm(lexicon, null, weights_of(model, direction)).alignments
    if isinstance(model, PositionTable):
        priors = model.priors(type(model.trained.shapes)(*(np.array([n]) for n in case.forward.shape)))
        prior, null_prior = (
            (priors.forward, priors.forward_null) if direction == 0 else (priors.reverse, priors.reverse_null)
        )
        prior = prior.reshape(case.forward.shape).astype(float)
        prior, null_prior = (prior if direction == 0 else prior.T), null_prior.astype(float)
    elif isinstance(model, DiagonalPrior):
        prior, null_prior = oracles.diagonal_prior(size, length, model.tension[direction], 0.2)
    else:
        prior, null_prior = oracles.uniform_prior(size, length, 0.2)
    return oracles.mixture(lexicon, null, prior, null_prior).alignments


def assert_ordered(log_probabilities, positions):
    assert (np.diff(log_probabilities) <= 0).all()
    assert len(np.unique(positions, axis=0)) == len(positions)


@every_model
@settings(deadline=None, max_examples=40)
@given(pair_cases(), st.integers(1, 80))
def test_lists_are_the_first_of_all_alignments(kind, cases, count):
    block = block_of_pairs(cases)
    model = prepared(kind, block)
    for direction, lists in enumerate(model.nbest(block, count)):
        assert len(lists) == len(cases)
        for pair, case in enumerate(cases):
            log_probabilities, positions = lists[pair]
            if not case.forward.size:
                assert positions.shape == (0, 0)
                continue
            want = enumerated(model, case, direction)
            assert positions.shape == (min(count, len(want)), case.forward.shape[1 - direction])
            assert_ordered(log_probabilities, positions)
            found = np.array([want[tuple(row)] for row in positions.tolist()])
            np.testing.assert_allclose(np.exp(log_probabilities), found, rtol=1e-6)
            # None that is left out is more probable than one that is in.
            np.testing.assert_allclose(found, sorted(want.values(), reverse=True)[: len(found)], rtol=1e-6)


@every_model
@settings(deadline=None, max_examples=40)
@given(pair_cases(min_length=1))
def test_all_alignments_together_have_the_likelihood(kind, cases):
    block = block_of_pairs(cases)
    model = prepared(kind, block)
    log_likelihoods = model.posterior(block).log_likelihoods
    for direction, lists in enumerate(model.nbest(block, 4**3)):
        for pair in range(len(cases)):
            whole = np.log(np.exp(lists[pair][0]).sum())
            np.testing.assert_allclose(whole, log_likelihoods[pair, direction], rtol=2e-5, atol=2e-6)


@every_model
@settings(deadline=None, max_examples=30)
@given(pair_cases(max_length=4), st.integers(1, 30), st.sampled_from([0.0, 0.3, 3.0]))
def test_a_shorter_list_is_the_beginning_of_a_longer_one(kind, cases, count, decades):
    """Also among equals, of which these pairs have many: what is pruned must not change the order."""
    shapes = [case.forward.shape for case in cases]
    random = np.random.default_rng(count)
    cases = [random_pair(*shape, random, decades) for shape in shapes]
    block = block_of_pairs(cases)
    model = kind(null_prob=0.2)
    model.widen(block.pairs)
    paths = model.paths(block)
    for short, long, path in zip(model.nbest(block, count), model.nbest(block, 300), paths[::-1], strict=True):
        firsts = []
        for pair in range(len(cases)):
            (got, rows), (want, all_rows) = short[pair], long[pair]
            np.testing.assert_array_equal(got, want[: len(got)])
            np.testing.assert_array_equal(rows, all_rows[: len(rows)])
            assert_ordered(want, all_rows)
            firsts.append(rows[:1].ravel())
        np.testing.assert_array_equal(np.concatenate(firsts), path)


@every_model
def test_long_lists_of_longer_pairs_equal_those_of_everything(kind):
    case = random_pair(4, 6, np.random.default_rng(7), 2.0)
    block = block_of_pairs([case])
    model = prepared(kind, block)
    for direction, lists in enumerate(model.nbest(block, 2000)):
        log_probabilities, positions = lists[0]
        assert len(log_probabilities) == 2000
        assert_ordered(log_probabilities, positions)
        want = np.log(sorted(enumerated(model, case, direction).values(), reverse=True)[:2000])
        np.testing.assert_allclose(log_probabilities, want, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("decades", [0.0, 1.0, 3.0])
def test_lists_of_sentences_are_the_best_of_each_beginning_carried_on(decades, count):
    """Of so many words that the heap is pruned again and again; with no decades, among equals."""
    case = random_pair(9, 12, np.random.default_rng(count), decades)
    model, block = Jumps(null_prob=0.2), block_of_pairs([case])
    for direction, (lists, whole) in enumerate(zip(model.nbest(block, count), model.nbest(block, 500), strict=True)):
        log_probabilities, positions = lists[0]
        assert_ordered(log_probabilities, positions)
        want = oracles.hmm_nbest(*case.directions()[direction], weights_of(model, direction), count)
        np.testing.assert_allclose(log_probabilities, np.log(want), rtol=1e-9)
        np.testing.assert_array_equal(positions, whole[0][1][:count])


@pytest.mark.parametrize("count", [3, 10, 100])
@pytest.mark.parametrize("decades", [0.0, 1.0])
def test_where_links_are_independent_a_list_is_the_beginning_of_a_much_longer_one(decades, count):
    case = random_pair(3, 12, np.random.default_rng(count), decades)
    model, block = Uniform(null_prob=0.25), block_of_pairs([case])
    (short, _), (long, _) = model.nbest(block, count), model.nbest(block, 20_000)
    assert_ordered(*long[0])
    np.testing.assert_array_equal(short[0][0], long[0][0][:count])
    np.testing.assert_array_equal(short[0][1], long[0][1][:count])


def test_the_order_of_equals():
    """By the alignment that they deviate from, then by the word, then null before the lower position."""
    case = PairCase(
        *(np.full(shape, 0.5, np.float32) for shape in [(2, 2), (2, 2)]), *np.full((2, 2), 0.25, np.float32)
    )
    forward, reverse = Uniform(null_prob=0.5).nbest(block_of_pairs([case]), 100)
    want = [(-1, -1), (0, -1), (1, -1), (-1, 0), (-1, 1), (0, 0), (0, 1), (1, 0), (1, 1)]
    for lists in (forward, reverse):
        assert [tuple(row) for row in lists[0][1].tolist()] == want
        np.testing.assert_array_equal(lists[0][0], 2 * np.log(0.125))


@every_model
def test_what_is_impossible_is_in_no_list(kind):
    case = random_pair(2, 3, np.random.default_rng(1))
    case.forward[0, :] = case.forward[1, 2] = case.target_given_null[0] = 0.0
    model, block = kind(null_prob=0.2), block_of_pairs([case])
    forward, reverse = model.nbest(block, 1000)
    log_probabilities, positions = forward[0]
    assert np.isfinite(log_probabilities).all()
    assert sorted(map(tuple, positions.tolist())) == [(1, -1, -1), (1, 1, -1)]
    assert len(reverse[0][0]) == 4**2
    case.target_given_null[2] = 0.0
    forward, reverse = model.nbest(block_of_pairs([case]), 1000)
    assert len(forward[0][0]) == 0
    assert len(reverse[0][0]) == 4**2
    assert model.paths(block_of_pairs([case]))[1].tolist() == [-1, -1, -1]


def test_where_null_comes_first_the_hidden_start_is_summed_out():
    """Two words, the first null's: it stands at either position, from which the second is reached in two ways."""
    case = PairCase(*(np.full(shape, 0.5, np.float32) for shape in [(2, 2), (2, 2), 2, 2]))
    model = Jumps(null_prob=0.5)
    model.jumps[:, model.reach - 1 : model.reach + 2] = [1, 2, 3]
    model.starts[:, :2] = [1, 4]
    forward, _ = model.nbest(block_of_pairs([case]), 9)
    found = dict(zip(map(tuple, forward[0][1].tolist()), np.exp(forward[0][0]), strict=True))
    assert found[-1, 0] == pytest.approx(0.25**2 * (0.2 * 2 / 5 + 0.8 * 1 / 3))
    assert found[-1, 1] == pytest.approx(0.25**2 * (0.2 * 3 / 5 + 0.8 * 2 / 3))
    assert found[-1, -1] == pytest.approx(0.25**2)
    assert found[1, -1] == pytest.approx(0.25**2 * 0.8)


# -- aligners ------------------------------------------------------------------------------------------------------


def with_gaps():
    """A text with pairs that are empty, or too long for `max_length=6`."""
    return bitext_of([*TOY, ("", "the"), ("das", ""), ("", ""), ("das ist " * 4, "that"), *TOY[:3]])


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in NBest.__slots__)


@every_aligner
def test_an_aligner_lists_every_pair_with_viterbi_first(kind):
    bitext = with_gaps()
    model = kind(threads=1, max_length=6).fit(bitext)
    for direction, lists in enumerate(model.nbest(bitext, 20)):
        best = model.align(bitext, combine=("forward", "reverse")[direction])
        assert len(lists) == len(bitext)
        for pair in range(len(bitext)):
            log_probabilities, positions = lists[pair]
            sizes = [len(side) for side in bitext[pair]]
            if min(sizes) == 0 or max(sizes) > 6:
                assert len(log_probabilities) == 0
                continue
            assert len(log_probabilities) == min(20, (sizes[direction] + 1) ** sizes[1 - direction])
            assert positions.shape[1] == sizes[1 - direction]
            assert positions.min() >= -1
            assert positions.max() < sizes[direction]
            links = {(i, j) for j, i in enumerate(positions[0].tolist()) if i >= 0}
            assert links == {link[:: 1 - 2 * direction] for link in best[pair].links}
            # What is listed is part of what the pair's likelihood is the sum of.
            assert np.exp(log_probabilities).sum() <= np.exp(model.score(bitext)[pair, direction]) * (1 + 1e-4)


@every_aligner
def test_lists_depend_on_neither_threads_nor_blocks(kind, monkeypatch):
    bitext = with_gaps()
    lists = kind(threads=1, max_length=6).fit(bitext).nbest(bitext, 10)
    monkeypatch.setattr(aligner, "CELLS_OF_LISTS", 300)
    model = kind(threads=2, max_length=6).fit(bitext)
    assert len(list(model.nbest_runs(bitext, 10))) > 3
    for again in (model.nbest(bitext, 10), model.nbest(copy_of(bitext), 10)):
        assert same(again[0], lists[0])
        assert same(again[1], lists[1])


def test_no_pairs_have_no_lists_and_no_count_is_refused():
    model = IBM1(threads=1).fit(bitext_of(TOY))
    forward, reverse = model.nbest(bitext_of([]), 5)
    assert len(forward) == len(reverse) == 0
    with pytest.raises(UsageError, match="`count` must be 1 or more"):
        model.nbest(bitext_of(TOY), 0)
    with pytest.raises(UsageError, match="not trained"):
        IBM1().nbest(bitext_of(TOY), 5)


def test_progress_is_told():
    steps = []
    model, bitext = IBM1(threads=1).fit(bitext_of(TOY)), bitext_of(TOY)
    list(model.nbest_runs(bitext, 3, progress=steps.append))
    assert [(step.stage, step.done, step.total) for step in steps] == [("listing", len(TOY), len(TOY))]
