"""Alignments by cepts are proper, whatever the matrix, and are what the factors say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from cepts.data import Association
from cepts.factor import SELECTIONS, SURE, factorise, onmf
from cepts.factor import orthogonal as module
from cepts.names import ORPHANS
from oracles_factor import joined, matrices

SELECTED = [*SELECTIONS, 1, 2, 6]
EXTREMES = [1e-38, 1e-20, 1.0, 1e3, 1e20, 1e37]
every_selection = pytest.mark.parametrize("cepts", SELECTED)


@st.composite
def associations(draw, *, nulls: bool | None = None, max_pairs: int = 3) -> Association:
    """Matrices of a few pairs, some without a word or without any mass, with null masses large and small or without."""
    made = [matrix.astype(float) for matrix in draw(st.lists(matrices(), max_size=max_pairs))]
    scale = draw(st.sampled_from(EXTREMES))
    odd = draw(st.sampled_from([None, (0, 0), (2, 3)]))
    if odd is not None:
        made.insert(draw(st.integers(0, len(made))), np.zeros(odd))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if not (draw(st.booleans()) if nulls is None else nulls):
        return joined([scale * matrix for matrix in made])
    level = draw(st.sampled_from([1e-3, 1.0, 50.0])) * scale

    def masses(words):
        return np.minimum(level * random.exponential(1, words) * (random.random(words) < 0.7), 3e38)

    return joined(
        [scale * matrix for matrix in made],
        [masses(matrix.shape[0]) for matrix in made],
        [masses(matrix.shape[1]) for matrix in made],
    )


def bytes_of(alignments):
    cepts = alignments.cepts
    arrays = [alignments.offsets, alignments.source, alignments.target, alignments.confidence, alignments.sure]
    arrays += [cepts.source_offsets, cepts.target_offsets, cepts.source, cepts.target]
    arrays += [cepts.source_confidence, cepts.target_confidence, cepts.noise]
    return [array.tobytes() for array in arrays]


# -- proper alignments -----------------------------------------------------------------------------------------------


@every_selection
@settings(deadline=None, max_examples=80)
@given(associations(), st.booleans(), st.sampled_from([0.0, 0.3, SURE, 1.0, 2.0]), st.sampled_from(ORPHANS))
def test_every_alignment_is_proper(cepts, association, noise, sure, orphans):
    options = {"noise": noise, "sure": sure, "orphans": orphans, "restarts": 2, "iterations": 20}
    found = onmf(association, cepts=cepts, **options, threads=1)
    assert oracles.faults(found, association, sure) == []
    if isinstance(cepts, int):
        assert all(len(found.cepts[pair]) <= cepts for pair in range(len(found)))


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from(EXTREMES), st.sampled_from(SELECTED))
def test_without_null_every_word_has_a_link(matrix, scale, cepts):
    association = joined([matrix.astype(float) * scale])
    found = onmf(association, cepts=cepts, restarts=2, iterations=20, threads=1)
    assert set(found[0].source.tolist()) == set(range(matrix.shape[0]))
    assert set(found[0].target.tolist()) == set(range(matrix.shape[1]))
    assert oracles.faults(found, association, SURE) == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
@every_selection
def test_one_row_and_one_column_are_one_cept(shape, cepts):
    words = [list(range(length)) for length in shape]
    for nulls in ({}, {"source_null": np.full(shape[0], 0.1), "target_null": np.full(shape[1], 0.1)}):
        found = factorise(np.ones(shape), cepts=cepts if isinstance(cepts, str) else 1, **nulls)
        assert found.alignments.cepts[0] == [tuple(words)]


def test_pairs_without_words_or_mass_have_no_links():
    association = joined([np.zeros((0, 0)), np.zeros((2, 3)), np.eye(2)])
    found = onmf(association)
    assert [alignment.links for alignment in found] == [[], [], [(0, 0), (1, 1)]] or len(found.cepts[2]) == 1
    assert found.cepts.source.tolist()[:2] == [-1, -1]
    assert found.cepts.source_confidence.tolist()[:2] == [1, 1]
    assert len(onmf(joined([]))) == 0


# -- null ------------------------------------------------------------------------------------------------------------


def test_words_that_are_more_nulls_than_any_cepts_are_nulls():
    matrix = [[100, 0, 0], [0, 100, 3], [0, 0, 0], [2, 2, 2]]
    found = factorise(matrix, source_null=[1, 1, 0, 90], target_null=[1, 99, 50]).alignments.cepts
    assert found.source.tolist()[3] == -1
    assert found.target.tolist()[2] == -1
    assert found.source.tolist()[:2] == found.target.tolist()[:2] == [0, 1]


def test_where_all_is_nulls_there_are_no_cepts():
    found = factorise([[1, 2], [3, 4]], source_null=[50, 50], target_null=[50, 50])
    assert found.alignments.cepts[0] == []
    assert len(found.alignments[0]) == len(found.factors) == 0
    assert found.alignments.cepts.source.tolist() == [-1, -1]
    # One side is enough, for a cept has words on both.
    assert factorise([[1, 2], [3, 4]], source_null=[50, 50]).alignments.cepts[0] == []


def test_null_masses_of_zero_are_as_none():
    matrix = np.random.default_rng(0).uniform(0, 9, (5, 6))
    given = joined([matrix])
    zeros = replace(given, source_null=np.zeros(5, np.float32), target_null=np.zeros(6, np.float32))
    one_side = replace(given, source_null=np.zeros(5, np.float32))
    assert bytes_of(onmf(given)) == bytes_of(onmf(zeros)) == bytes_of(onmf(one_side))


# -- what the factors say --------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(matrices(decades=2.0), st.sampled_from(SELECTED[:-1]), st.booleans(), st.integers(0, 2**32 - 1))
def test_each_word_goes_to_its_most_probable_cept(matrix, cepts, with_null, seed):
    """Eq. (7), with null among the cepts; and confidences are the probabilities of what was taken."""
    random = np.random.default_rng(seed)
    size, length = matrix.shape
    nulls = {}
    if with_null:
        nulls = {"source_null": 20 * random.random(size), "target_null": 20 * random.random(length)}
    cepts = min(cepts, size, length) if isinstance(cepts, int) else cepts
    found = factorise(50 * matrix, cepts=cepts, restarts=2, iterations=30, **nulls)
    factors, proper = found.factors, found.alignments.cepts
    if not len(factors):
        assert proper[0] == []
        return
    assert len(factors) == len(proper[0])
    for words, confidences, posterior in (
        (proper.source, proper.source_confidence, factors.source_posterior),
        (proper.target, proper.target_confidence, factors.target_posterior),
    ):
        known = posterior.sum(axis=1) > 0
        best = oracles.most_probable(posterior)
        assert all(word in best[place] for place, word in enumerate(words.tolist()) if known[place])
        np.testing.assert_allclose(confidences[known], posterior[known, words[known] + 1], rtol=1e-4, atol=1e-6)
        # A word of which nothing is known is with the most.
        assert (factors.weights[words[~known]] >= factors.weights.max() * (1 - 1e-6)).all()
        assert (confidences[~known] == 1).all()
    for (i, j), confidence in zip(found.alignments[0].links, found.alignments[0].confidence, strict=True):
        cept = proper.source[i]
        ahead = factors.source_posterior[i, cept + 1] * factors.target[cept, j]
        back = factors.target_posterior[j, cept + 1] * factors.source[cept, i]
        assert confidence == pytest.approx(np.sqrt(float(ahead) * float(back)), rel=1e-3, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(matrices(decades=2.0), st.sampled_from(SELECTIONS), st.booleans(), st.booleans(), st.sampled_from([1.0, 1e30]))
def test_a_factorisation_is_consistent(matrix, cepts, noise, with_null, scale):
    size, length = matrix.shape
    matrix = (50 * scale * matrix).astype(np.float32)
    nulls = {"source_null": np.full(size, 0.01 * scale)} if with_null else {}
    found = factorise(matrix, cepts=cepts, noise=noise, restarts=3, **nulls)
    factors = found.factors
    total = float(matrix.sum(dtype=float))
    assert factors.weights.sum() + factors.noise == pytest.approx(1, abs=1e-5)
    assert factors.product.sum() == pytest.approx(1 - factors.noise, abs=1e-4)
    assert factors.noise == found.alignments.cepts.noise[0]
    assert (factors.noise > 0) <= noise
    joint = np.maximum(factors.product.astype(float) + factors.noise / matrix.size, 1e-30)
    want = (matrix.astype(float) * np.log(joint)).sum()
    assert factors.log_likelihood == pytest.approx(want, rel=1e-4, abs=1e-5 * total)
    # Section 4.1; with noise, K cepts have K (I + J - 1) free parameters.
    counts = np.arange(1, min(size, length) + 1) * (size + length - 1)
    everything = total + (size * float(np.float32(0.01 * scale)) if with_null else 0)
    np.testing.assert_allclose(found.aic, found.log_likelihoods - counts)
    np.testing.assert_allclose(found.bic, found.log_likelihoods - np.log(max(everything, 1)) / 2 * counts, rtol=1e-6)
    criterion = found.bic if cepts.endswith("bic") else found.aic
    best = int(np.nanargmax(criterion)) + 1
    assert len(factors) <= best
    if len(factors) == best:
        assert factors.log_likelihood == pytest.approx(found.log_likelihoods[best - 1], rel=1e-4, abs=1e-5 * total)


@pytest.mark.parametrize("noise", [False, True])
def test_orphans_are_removed_and_the_others_trained_again(noise):
    """Of more cepts than words of their own, some have words on one side only: section 7.3."""
    matrix = np.array([[60, 50, 0], [50, 60, 0], [0, 0, 90]], dtype=float)
    random = np.random.default_rng(0)
    removed = 0
    for _ in range(20):
        noisy = matrix + random.uniform(0, 6, matrix.shape)
        found = factorise(noisy, cepts=3, noise=noise)
        count = len(found.factors)
        removed += count < 3
        assert len(found.alignments.cepts[0]) == count
        # Trained again, the cepts that stay explain the whole matrix.
        assert found.factors.weights.sum() + found.factors.noise == pytest.approx(1, abs=1e-5)
        assert found.factors.log_likelihood == pytest.approx(found.log_likelihoods[count - 1], rel=0.02)
    assert removed


def test_words_of_a_removed_cept_go_where_they_are_drawn():
    """Without noise nothing else can have them: EM alone would leave words at 0 that one cept had to itself."""
    matrix = np.array([[0, 0, 3.7], [0, 49.6, 11.7], [80, 0, 0]])
    found = factorise(matrix, cepts=3, noise=False)
    assert found.factors.weights.sum() == pytest.approx(1, abs=1e-5)
    assert found.alignments.cepts[0] == [([0, 1], [1, 2]), ([2], [0])]


def test_a_kept_cept_is_numbered_as_in_the_alignment():
    found = factorise(np.diag([50.0, 90.0, 70.0])[:, [2, 0, 1]])
    assert found.factors.source.argmax(axis=1).tolist() == [0, 1, 2]
    assert found.factors.target.argmax(axis=1).tolist() == [1, 2, 0]
    assert found.alignments[0].links == [(0, 1), (1, 2), (2, 0)]
    assert found.alignments[0].sure.all()


# -- the same bytes --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_pairs():
    """A hundred noisy matrices with null, some of them empty."""
    random = np.random.default_rng(3)
    made, nulls = [], ([], [])
    for pair in range(100):
        size, length = (0, 0) if pair % 17 == 5 else random.integers(1, 9, 2)
        most = min(size, length)
        matrix = oracles.blocks(random, size, length, int(random.integers(1, most + 1)), noise=4.0)[0] if most else None
        made.append(np.zeros((0, 0)) if matrix is None else random.poisson(matrix))
        nulls[0].append(random.uniform(0, 60, size))
        nulls[1].append(random.uniform(0, 60, length))
    return joined(made, *nulls)


@every_selection
def test_any_number_of_threads_gives_the_same_bytes(cepts, many_pairs, monkeypatch):
    monkeypatch.setattr(module, "CELLS_AT_A_TIME", 300)
    options = {"cepts": cepts, "restarts": 2, "iterations": 20}
    found = [bytes_of(onmf(many_pairs, threads=threads, **options)) for threads in (1, 2, 3)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("cepts", ["anneal", "anneal-bic", 2])
def test_a_pair_alone_is_as_in_a_batch(cepts, many_pairs, monkeypatch):
    batch = onmf(many_pairs, cepts=cepts, threads=1)
    for pair in range(len(many_pairs)):
        alone = onmf(many_pairs.part(pair, pair + 1), cepts=cepts, threads=1)
        assert bytes_of(alone) == bytes_of(batch.part(pair, pair + 1))
    monkeypatch.setattr(module, "CELLS_AT_A_TIME", 100)
    assert bytes_of(onmf(many_pairs, cepts=cepts, threads=1)) == bytes_of(batch)


def test_a_seed_matters_to_random_starts_alone(many_pairs):
    assert bytes_of(onmf(many_pairs, seed=1)) == bytes_of(onmf(many_pairs, seed=2))
    options = {"cepts": "aic", "restarts": 1, "iterations": 10}
    one, same, other = (bytes_of(onmf(many_pairs, seed=seed, **options)) for seed in (1, 1, 2))
    assert one == same != other


def test_progress_tells_of_every_pair(many_pairs, monkeypatch):
    monkeypatch.setattr(module, "CELLS_AT_A_TIME", 300)
    steps = []
    onmf(many_pairs, progress=steps.append)
    assert len(steps) > 3
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == steps[-1].total == len(many_pairs)


# -- scale -----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from([2.0**-20, 2.0**-3, 2.0**9]), st.sampled_from([1, 2, 3]), st.integers(0, 9))
def test_a_scale_changes_nothing_where_the_number_of_cepts_is_given(matrix, scale, cepts, seed):
    """To the byte, for a power of 2 costs no digit."""
    random = np.random.default_rng(seed)
    association = joined([matrix], *([random.random(words)] for words in matrix.shape))
    assert bytes_of(onmf(association, cepts=cepts, scale=scale)) == bytes_of(onmf(association, cepts=cepts))


def test_more_evidence_gives_more_cepts():
    matrix = np.eye(4) + 0.2
    found = [len(onmf(joined([matrix]), scale=scale).cepts[0]) for scale in (0.01, 1.0, 30.0, 1000.0)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (1, 4)
    assert len(onmf(joined([matrix]), scale=0.0)[0]) == 0


@settings(deadline=None, max_examples=40)
@given(matrices(), st.sampled_from(EXTREMES), st.sampled_from([0.001, 30.0]))
def test_scaled_matrices_are_as_matrices_with_a_scale(matrix, size, scale):
    values = (matrix.astype(float) * size).astype(np.float32)
    if float(values.max()) * scale > 1e38:
        return
    given = onmf(joined([values]), scale=scale)
    assert given[0].links == onmf(joined([values * np.float32(scale)]))[0].links


def test_words_of_an_orphan_go_straight_to_the_best_of_the_other_cepts():
    """Section 7.3: three cepts of two target words; the third has no target word, so its source word moves."""
    kernel, words = orphaned()
    kernel.hand_over(3, 1, 1.0, words.weights, words.source, words.of_source)
    # Word 1 was in cept 1 and has more of cept 2, whose number becomes 1; word 3 of cept 1 is null's.
    assert words.of_source.cept.tolist() == [0, 1, 1, -1]


def orphaned():
    """A model of three cepts, of which the second loses its words."""
    from types import SimpleNamespace

    from cepts.kernels import onmf as kernels

    factor = np.array([[0.8, 0.1, 0.1, 0.0], [0.0, 0.6, 0.0, 0.4], [0.0, 0.4, 0.6, 0.0]], dtype=np.float32)
    null = np.array([0, 0.01, 0, 0.5], dtype=np.float32)
    arrays = (np.array([0, 1, 2, 1], dtype=np.int32), np.ones(4, np.float32), np.ones(4, np.float32))
    words = SimpleNamespace(
        weights=np.array([0.3, 0.2, 0.5], dtype=np.float32), source=factor, of_source=kernels.WordCepts(null, *arrays)
    )
    return SimpleNamespace(hand_over=kernels._hand_over), words
