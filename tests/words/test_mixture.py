from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import bitexts, block_of_pairs, pair_cases, random_pair, sentence_pairs, split
from cepts.words import IBM1, IBM2
from cepts.words.mixture import DiagonalPrior, PositionTable, Uniform
from cepts.words.text import TextFacts

CLOSE = {"rtol": 2e-5, "atol": 1e-6}
null_probs = st.none() | st.floats(0.01, 0.9)


def prior_of(positions, size, length):
    """The prior that a fresh model of this kind must have, for one direction."""
    if isinstance(positions, DiagonalPrior):
        return oracles.diagonal_prior(size, length, positions.tension[0], positions.null_prob)
    return oracles.uniform_prior(size, length, positions.null_prob)


@pytest.mark.parametrize("model", [Uniform, PositionTable, DiagonalPrior])
@settings(deadline=None, max_examples=40)
@given(pair_cases(), null_probs)
def test_posteriors_equal_the_sum_over_all_alignments(model, cases, null_prob):
    positions = model(null_prob=null_prob)
    block = block_of_pairs(cases)
    positions.prepare(TextFacts.of(block.pairs))
    found = positions.posterior(block)
    shapes = [case.forward.shape for case in cases]
    for direction, (values, free) in enumerate(
        [(found.forward, found.target_free), (found.reverse, found.source_free)]
    ):
        matrices = split(values, shapes)
        free = split(free, [shape[1 - direction : 2 - direction] for shape in shapes])
        for pair, case in enumerate(cases):
            lexicon, null = case.directions()[direction]
            if not lexicon.size:
                assert found.log_likelihoods[pair, direction] == 0
                continue
            want = oracles.mixture(lexicon, null, *prior_of(positions, *lexicon.shape))
            got = matrices[pair] if direction == 0 else matrices[pair].T
            np.testing.assert_allclose(got, want.posterior, **CLOSE)
            np.testing.assert_allclose(free[pair], want.null, **CLOSE)
            np.testing.assert_allclose(found.log_likelihoods[pair, direction], np.log(want.likelihood), **CLOSE)


@pytest.mark.parametrize("model", [Uniform, PositionTable, DiagonalPrior])
@settings(deadline=None, max_examples=40)
@given(pair_cases(min_length=1, max_pairs=2))
def test_paths_are_the_most_probable_alignments(model, cases):
    positions = model(null_prob=0.2)
    block = block_of_pairs(cases)
    positions.prepare(TextFacts.of(block.pairs))
    source, target = positions.paths(block)
    for direction, links in enumerate((target, source)):
        links = split(links, [(case.forward.shape[1 - direction],) for case in cases])
        for pair, case in enumerate(cases):
            lexicon, null = case.directions()[direction]
            want = oracles.mixture(lexicon, null, *prior_of(positions, *lexicon.shape))
            if want.margin > 1e-4:
                assert tuple(links[pair]) == want.best


def lexicon_entries(aligner, direction):
    """t(explained word | word) of every cell, and t(word | null), by the words themselves."""
    lexicon = aligner.lexicon_
    source, target = aligner.source_.vocabulary, aligner.target_.vocabulary
    rows = np.repeat(np.arange(len(source)), np.diff(lexicon.rows))
    table = {
        ((source[e], target[f]) if direction == 0 else (target[f], source[e])): entry
        for e, f, entry in zip(rows, lexicon.targets, lexicon.table[:, direction], strict=True)
    }
    words, null = (target, aligner.null_.target) if direction == 0 else (source, aligner.null_.source)
    table |= {(oracles.NULL, words[word]): null[word] for word in range(len(words))}
    return table


@pytest.mark.parametrize("learn_positions", [False, True], ids=["ibm1", "ibm2"])
@settings(deadline=None, max_examples=30)
@given(bitexts(), null_probs, st.integers(1, 3))
def test_em_equals_equation_25_by_enumeration(learn_positions, bitext, null_prob, iterations):
    if learn_positions:
        aligner = IBM2(iterations=iterations, start_iterations=1, null_prob=null_prob, threads=1).fit(bitext)
        steps = [False] + [True] * iterations
    else:
        aligner = IBM1(iterations=iterations, null_prob=null_prob, threads=1).fit(bitext)
        steps = [False] * iterations
    objectives = np.zeros(len(steps))
    for direction in range(2):
        pairs = sentence_pairs(bitext)
        oracle = oracles.MixtureEM(pairs if direction == 0 else [(t, s) for s, t in pairs], null_prob)
        for step, learn in enumerate(steps):
            objectives[step] += oracle.step(learn_positions=learn)
        if oracle.pairs:
            for words, got in lexicon_entries(aligner, direction).items():
                np.testing.assert_allclose(got, oracle.lexicon[words], rtol=1e-4, atol=2e-6)
        # The tables show in the posteriors.
        association = aligner.posteriors(bitext)[direction]
        scores = aligner.score(bitext)
        aligned = [n for n, (source, target) in enumerate(pairs) if source and target]
        for pair, want in zip(aligned, oracle.expect(), strict=True):
            got = association[pair] if direction == 0 else association[pair].T
            np.testing.assert_allclose(got, want.posterior, rtol=1e-3, atol=1e-5)
            np.testing.assert_allclose(scores[pair, direction], np.log(want.likelihood), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(aligner.objectives_, objectives, rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(pair_cases(min_length=1, max_length=4))
def test_tables_of_model_2_are_distributions(cases):
    positions = PositionTable()
    block = block_of_pairs(cases)
    positions.prepare(TextFacts.of(block.pairs))
    positions.update(positions.expect(block, agreeing=False).statistics)
    priors = positions.trained
    for shape, (size, length) in enumerate(
        zip(priors.shapes.source_lengths, priors.shapes.target_lengths, strict=True)
    ):
        run = slice(*priors.offsets[shape : shape + 2])
        forward_null = priors.forward_null[slice(*priors.forward_null_offsets[shape : shape + 2])]
        reverse_null = priors.reverse_null[slice(*priors.reverse_null_offsets[shape : shape + 2])]
        np.testing.assert_allclose(priors.forward[run].reshape(size, length).sum(axis=0) + forward_null, 1, rtol=1e-5)
        np.testing.assert_allclose(priors.reverse[run].reshape(size, length).sum(axis=1) + reverse_null, 1, rtol=1e-5)


@settings(deadline=None, max_examples=20)
@given(pair_cases(max_length=3))
def test_model_2_gives_a_new_shape_the_uniform_prior(cases):
    positions = PositionTable()
    block = block_of_pairs(cases)
    positions.prepare(TextFacts.of(block.pairs))
    positions.update(positions.expect(block, agreeing=False).statistics)
    new = random_pair(4, 2, np.random.default_rng(0))
    found = positions.posterior(block_of_pairs([*cases, new]))
    want = oracles.mixture(*new.directions()[0], *oracles.uniform_prior(4, 2))
    np.testing.assert_allclose(found.forward[-8:].reshape(4, 2), want.posterior, **CLOSE)
