"""Models 3 and 4 against their formulas."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_fertility as oracles
from bitexts_words import block_of_pairs, pair_cases, random_pair, split
from cepts.kernels.fertility import LINK, new_cepts, new_gains, settle
from cepts.kernels.fertility_gains import climb, fill_gains, tabulate
from cepts.kernels.fertility_sentence import new_room, open_pair, start_from
from cepts.words.fertility import Displacements, Distortions, distance_groups, group_sizes
from fertility_cases import oracle_pairs, random_model, some_unknown

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
MODELS = [Displacements, Distortions]
every_model = pytest.mark.parametrize("kind", MODELS, ids=[model.name for model in MODELS])
every_direction = pytest.mark.parametrize("direction", [0, 1], ids=["forward", "reverse"])
seeds = st.integers(0, 2**32 - 1)


@st.composite
def models_and_blocks(draw, kind, **sizes):
    random = np.random.default_rng(draw(seeds))
    block = some_unknown(block_of_pairs(draw(pair_cases(**sizes))), random)
    return random_model(kind, block, random), block


def loaded(model, block, direction):
    """The kernels' view of the only pair of a block: the sentence, room for an alignment and for gains."""
    width = block.pairs.longest + 2
    cepts = new_cepts(width)
    sentence, _, _ = open_pair(model._shard(block), direction, 0, new_room(width), cepts)
    return sentence, cepts, new_gains(width)


def legal_links(random, size, length):
    """Any alignment that has a probability."""
    links = random.integers(-1, size, length)
    while 2 * (links < 0).sum() > length:
        links[np.argmin(links)] = 0
    return links.astype(np.int64)


def assert_gains(pair, links, gains):
    """The gains of all neighbours are the differences of the formula."""
    here = oracles.log_probability(pair, tuple(links.tolist()))
    for j in range(pair.length):
        for to in range(-1, pair.size):
            moved = links.copy()
            moved[j] = to
            want = oracles.log_probability(pair, tuple(moved.tolist())) - here if to != links[j] else -np.inf
            np.testing.assert_allclose(gains.moves[j, to + 1], want, **CLOSE)
        for k in range(j + 1, pair.length):
            swapped = links.copy()
            swapped[j], swapped[k] = links[k], links[j]
            want = oracles.log_probability(pair, tuple(swapped.tolist())) - here if links[j] != links[k] else -np.inf
            np.testing.assert_allclose(gains.swaps[j, k], want, **CLOSE)


# -- one alignment, its neighbours, the climb --------------------------------------------------------------------------


@every_model
@every_direction
@settings(deadline=None, max_examples=60)
@given(st.tuples(st.integers(1, 6), st.integers(1, 7)), seeds)
def test_score_and_gains_equal_the_formula(kind, direction, shape, seed):
    random = np.random.default_rng(seed)
    block = some_unknown(block_of_pairs([random_pair(*shape, random)]), random)
    model = random_model(kind, block, random)
    (pair,) = oracle_pairs(model, block, direction)
    sentence, cepts, gains = loaded(model, block, direction)
    links = legal_links(random, pair.size, pair.length)
    start_from(links, cepts, sentence)
    score = settle(cepts, sentence)
    np.testing.assert_allclose(score, oracles.log_probability(pair, tuple(links.tolist())), **CLOSE)
    tabulate(cepts, sentence, gains, 1, pair.size)
    fill_gains(cepts, sentence, gains)
    assert_gains(pair, links, gains)


@every_model
@every_direction
@settings(deadline=None, max_examples=60)
@given(st.tuples(st.integers(1, 9), st.integers(1, 10)), seeds)
def test_the_climb_ends_where_no_neighbour_is_better(kind, direction, shape, seed):
    """It may not lower the score on its way, and what it leaves in the tables must be as good as new."""
    random = np.random.default_rng(seed)
    block = some_unknown(block_of_pairs([random_pair(*shape, random)]), random)
    model = random_model(kind, block, random)
    (pair,) = oracle_pairs(model, block, direction)
    sentence, cepts, gains = loaded(model, block, direction)
    links = legal_links(random, pair.size, pair.length)
    start_from(links, cepts, sentence)
    score = climb(cepts, sentence, gains)
    climbed = cepts.of[LINK, : pair.length] - 1
    np.testing.assert_allclose(score, oracles.log_probability(pair, tuple(climbed.tolist())), **CLOSE)
    assert score >= oracles.log_probability(pair, tuple(links.tolist())) - 1e-4
    assert_gains(pair, climbed, gains)
    assert gains.moves[: pair.length, : pair.size + 1].max() <= 1e-6


@every_model
def test_long_distances_and_high_fertilities_equal_the_formula(kind):
    random = np.random.default_rng(1)
    for shape in ((2, 60), (60, 40), (1, 30), (40, 1)):
        block = block_of_pairs([random_pair(*shape, random)])
        model = random_model(kind, block, random)
        (pair,) = oracle_pairs(model, block, 0)
        sentence, cepts, gains = loaded(model, block, 0)
        links = legal_links(random, *shape)
        start_from(links, cepts, sentence)
        climb(cepts, sentence, gains)
        assert_gains(pair, cepts.of[LINK, : pair.length] - 1, gains)


@every_model
@settings(deadline=None, max_examples=30)
@given(st.integers(1, 4), st.integers(1, 7), seeds)
def test_more_nulls_than_there_may_be_are_linked(kind, size, length, seed):
    random = np.random.default_rng(seed)
    block = block_of_pairs([random_pair(size, length, random)])
    model = random_model(kind, block, random)
    sentence, cepts, _ = loaded(model, block, 0)
    start_from(np.full(length, -1), cepts, sentence)
    assert (cepts.of[LINK, :length] == 0).sum() == length // 2
    assert np.isfinite(settle(cepts, sentence))


# -- blocks of pairs ---------------------------------------------------------------------------------------------------


def climbed_of(model, block, direction):
    """The climbed alignment of each pair."""
    source, target = model.paths(block)
    offsets = (block.pairs.target_offsets, block.pairs.source_offsets)[direction]
    links = (target, source)[direction]
    return [tuple(links[start:stop].tolist()) for start, stop in pairwise(offsets)]


@every_model
@every_direction
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_paths_are_local_optima_no_worse_than_where_they_start(kind, direction, data):
    model, block = data.draw(models_and_blocks(kind, max_length=4))
    climbed = climbed_of(model, block, direction)
    for pair, found in zip(oracle_pairs(model, block, direction), climbed, strict=True):
        if pair is not None:
            best = oracles.log_probability(pair, found)
            others = [oracles.log_probability(pair, other) for other in oracles.neighbours(found, pair.size)]
            assert best >= max(others, default=-np.inf) - 1e-4


@every_model
@every_direction
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_posteriors_and_counts_equal_the_sum_over_the_neighbourhood(kind, direction, data):
    model, block = data.draw(models_and_blocks(kind, max_length=4))
    found = model.posterior(block)
    statistics = model.expect(block, agreeing=False).statistics
    shapes = [(s, t) for s, t in zip(block.pairs.source_lengths, block.pairs.target_lengths, strict=True)]
    posteriors = split((found.forward, found.reverse)[direction], shapes)
    free = split((found.target_free, found.source_free)[direction], [shape[1 - direction :][:1] for shape in shapes])
    fertilities = np.zeros(statistics[direction].shape)
    placements = np.zeros((model.placements if model.chained else model.displacements)[0].shape)
    pairs = oracle_pairs(model, block, direction)
    for place, (pair, climbed) in enumerate(zip(pairs, climbed_of(model, block, direction), strict=True)):
        if pair is None:
            assert found.log_likelihoods[place, direction] == 0
            continue
        want = oracles.neighbourhood(pair, climbed)
        got = posteriors[place] if direction == 0 else posteriors[place].T
        np.testing.assert_allclose(got, want.posterior, **CLOSE)
        np.testing.assert_allclose(free[place], want.null, **CLOSE)
        np.testing.assert_allclose(found.log_likelihoods[place, direction], want.log_sum, **CLOSE)
        for word, counts in zip(pair.words, want.fertilities, strict=True):
            fertilities[word] += counts if word >= 0 else 0
        placements += want.placements
    np.testing.assert_allclose(statistics[direction], fertilities, rtol=1e-4, atol=1e-4)
    got = statistics[2 if model.chained else 3][direction].reshape(placements.shape)
    np.testing.assert_allclose(got, placements, rtol=1e-4, atol=1e-4)


@every_model
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_expected_counts_are_posteriors_or_their_products(kind, data):
    model, block = data.draw(models_and_blocks(kind, max_length=4))
    apart, agreeing = (model.expect(block, agreeing=agreeing) for agreeing in (False, True))
    found, mean = model.posterior(block), model.posterior(block, agreeing=True)
    np.testing.assert_allclose(apart.counts, np.stack([found.forward, found.reverse], axis=1), **CLOSE)
    np.testing.assert_allclose(agreeing.counts[:, 0], found.forward.astype(float) * found.reverse, **CLOSE)
    np.testing.assert_allclose(mean.forward, np.sqrt(found.forward.astype(float) * found.reverse), **CLOSE)
    assert mean.reverse.size == 0
    for other in (apart, agreeing, mean):
        np.testing.assert_array_equal(other.source_free, found.source_free)
        np.testing.assert_array_equal(other.target_free, found.target_free)
        np.testing.assert_array_equal(other.log_likelihoods, found.log_likelihoods)


@every_model
@settings(deadline=None, max_examples=20)
@given(st.data(), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_a_pair_that_stands_often_counts_as_often(kind, data, times):
    model, block = data.draw(models_and_blocks(kind))
    times = np.array(times[: len(block.pairs)], dtype=np.float32)
    got = model.expect(dataclasses.replace(block, times=times), agreeing=False)
    want = None
    for pair, often in enumerate(times):
        alone = model.expect(
            dataclasses.replace(block, times=np.eye(len(times), dtype=np.float32)[pair]), agreeing=False
        )
        parts = [often * part for part in (alone.counts, *alone.statistics)]
        want = parts if want is None else [one + other for one, other in zip(want, parts, strict=True)]
    for ours, theirs in zip((got.counts, *got.statistics), want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@every_model
@settings(deadline=None, max_examples=20)
@given(st.data())
def test_results_do_not_depend_on_the_other_pairs_of_the_block(kind, data):
    """Buffers and tables are reused from pair to pair, and must not leak."""
    random = np.random.default_rng(data.draw(seeds))
    cases = data.draw(pair_cases(min_length=1, max_length=5))
    together = block_of_pairs(cases)
    model = random_model(kind, together, random)
    found, lists = model.posterior(together), model.nbest(together, 7)
    for pair, case in enumerate(cases):
        alone = dataclasses.replace(
            block_of_pairs([case]),
            source_words=together.source_words[slice(*together.pairs.source_offsets[pair : pair + 2])],
            target_words=together.target_words[slice(*together.pairs.target_offsets[pair : pair + 2])],
        )
        cells = slice(*together.pairs.cell_offsets[pair : pair + 2])
        np.testing.assert_array_equal(model.posterior(alone).forward, found.forward[cells])
        for one, many in zip(model.nbest(alone, 7), lists, strict=True):
            for ours, theirs in zip(one[0], many[pair], strict=True):
                np.testing.assert_array_equal(ours, theirs)


# -- lists of the best -------------------------------------------------------------------------------------------------


@every_model
@every_direction
@settings(deadline=None, max_examples=40)
@given(st.data(), st.integers(1, 12))
def test_listed_alignments_have_their_probability_and_differ(kind, direction, data, count):
    model, block = data.draw(models_and_blocks(kind, max_length=4))
    lists = model.nbest(block, count)[direction]
    assert len(lists) == len(block.pairs)
    climbed = climbed_of(model, block, direction)
    for place, pair in enumerate(oracle_pairs(model, block, direction)):
        scores, positions = lists[place]
        if pair is None:
            assert len(scores) == 0
            continue
        alignments = [tuple(row) for row in positions.tolist()]
        assert 1 <= len(alignments) == len(set(alignments)) <= count
        want = [oracles.log_probability(pair, alignment) for alignment in alignments]
        np.testing.assert_allclose(scores, want, **CLOSE)
        assert (np.diff(scores) <= 0).all()
        assert scores[0] >= oracles.log_probability(pair, climbed[place]) - 1e-4


@every_model
@every_direction
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_a_long_list_has_all_alignments(kind, direction, data):
    model, block = data.draw(models_and_blocks(kind, max_length=3, max_pairs=2))
    lists = model.nbest(block, 1000)[direction]
    for place, pair in enumerate(oracle_pairs(model, block, direction)):
        if pair is None:
            continue
        everything = {alignment: oracles.log_probability(pair, alignment) for alignment in oracles.all_alignments(pair)}
        scores, positions = lists[place]
        assert {tuple(row) for row in positions.tolist()} == set(everything)
        np.testing.assert_allclose(scores[0], max(everything.values()), **CLOSE)


@every_model
def test_a_longer_list_begins_no_worse(kind):
    random = np.random.default_rng(3)
    block = block_of_pairs([random_pair(12, 14, random)])
    model = random_model(kind, block, random)
    short, long = (model.nbest(block, count)[0][0][0] for count in (10, 200))
    assert len(short) == 10
    assert len(long) == 200
    assert (long[:10] >= short - 1e-9).all()


# -- the M-step --------------------------------------------------------------------------------------------------------


@every_model
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_updated_tables_are_distributions(kind, data):
    model, block = data.draw(models_and_blocks(kind, max_length=5))
    model.update(model.expect(block, agreeing=False).statistics)
    tables = [
        model.source_fertility,
        model.target_fertility,
        model.placements if model.chained else model.displacements,
    ]
    for table in tables:
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=1e-5)


def test_words_seen_often_have_fertilities_of_their_own():
    model = Displacements(smoothing=2.0)
    counts = np.zeros((4, 10))
    counts[0, 2] = 1000
    counts[1, 1] = 1000
    counts[2, 2] = 1
    learnt = model._fertilities(counts)
    assert learnt[0, 2] > 0.99
    assert learnt[1, 1] > 0.99
    # A word seen once, and one never seen, go by the others.
    assert 0.5 < learnt[2, 2] < 0.8
    np.testing.assert_allclose(learnt[3, 1:3], 0.5, atol=0.01)


def test_distances_and_their_groups():
    groups, sizes = distance_groups(2000), group_sizes()
    want = [oracles.group(distance) for distance in range(-2000, 2001)]
    np.testing.assert_array_equal(groups, want)
    counted = np.bincount(distance_groups(8 << 7), minlength=len(sizes))
    np.testing.assert_array_equal(counted, sizes)


@every_model
@settings(deadline=None, max_examples=20)
@given(st.data())
def test_a_model_takes_the_state_of_another(kind, data):
    model, block = data.draw(models_and_blocks(kind))
    other = kind(null_prob=model.null_prob, **({"classes": 3} if kind is Distortions else {}))
    other.restore({name: array.copy() for name, array in model.state().items()})
    other.widen(block.pairs)
    ours, theirs = model.posterior(block), other.posterior(block)
    np.testing.assert_array_equal(ours.forward, theirs.forward)
    np.testing.assert_array_equal(ours.reverse, theirs.reverse)


@every_model
def test_null_prob_must_be_a_probability(kind):
    for value in (-0.1, 0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="null_prob"):
            kind(null_prob=value)
