"""The lattice of the semi-Markov CRF: sums, marginals and the best path are those of all paths, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import oracles_phrases as oracles
from cepts.kernels.segments import segment_links, segment_marginals, segment_path


def run(lattice):
    """log Z, and the marginals in the oracle's order; what the kernel leaves out stays NaN."""
    emit, null, jump, stay, _, final = lattice
    filled = [np.full(part.shape, np.nan) for part in (emit, null, jump, stay, final)]
    return segment_marginals(*lattice, *filled), filled


def best(lattice):
    starts, stops = np.full(len(lattice[1]), -9, dtype=np.int32), np.full((len(lattice[1]), 2), -9, dtype=np.int32)
    return segment_path(*lattice, starts, stops), starts, stops


def assert_covered(segments, null):
    """Every observed word is in one segment, with a span or with null."""
    covered = np.zeros(len(null))
    for i, span in np.ndindex(null.shape):
        covered[i : i + span + 1] += null[i, span]
    for i, span, _, _ in zip(*np.nonzero(segments), strict=True):
        assert i + span < len(null)
    per_start = segments.sum(axis=(2, 3))
    for i in range(len(null)):
        for span in range(segments.shape[1]):
            covered[i : i + span + 1] += per_start[i, span]
    np.testing.assert_allclose(covered, 1.0, rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(oracles.lattices())
def test_sums_and_marginals_equal_enumeration(lattice):
    log_z, filled = run(lattice)
    want, totals = oracles.expectations(lattice)
    np.testing.assert_allclose(log_z, want, rtol=1e-11, atol=1e-11)
    for got, total in zip(filled, totals, strict=True):
        np.testing.assert_allclose(got, total, rtol=1e-8, atol=1e-12)
    assert_covered(filled[0], filled[1])


@settings(deadline=None, max_examples=60)
@given(oracles.lattices())
def test_the_best_path_is_the_best_of_all(lattice):
    score, starts, stops = best(lattice)
    scores = {path: oracles.path_score(path, *lattice) for path in oracles.paths_of(*lattice[:2])}
    np.testing.assert_allclose(score, max(scores.values()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scores[oracles.as_path(starts, stops)], score, rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(oracles.lattices())
def test_links_are_the_sums_of_the_segments_that_have_them(lattice):
    segments = np.abs(lattice[0]) + 0.5
    segments[~np.isfinite(segments)] = 0.0
    links = np.full(segments.shape[::2], np.nan)
    segment_links(segments, links)
    np.testing.assert_allclose(links, oracles.linked(segments), rtol=1e-12)


@pytest.mark.parametrize("memory", [False, True])
def test_one_word_with_one_word(memory):
    lattice = oracles.lattice(np.random.default_rng(1), 1, 1, 1, 1, memory=memory)
    emit, null, jump, stay, null_next, final = lattice
    linked, unlinked = emit[0, 0, 0, 0] + jump[0, 0] + final[1], null[0, 0] + stay[0] + final[null_next[0]]
    log_z, filled = run(lattice)
    np.testing.assert_allclose(log_z, np.logaddexp(linked, unlinked))
    np.testing.assert_allclose(filled[1], [[np.exp(unlinked - log_z)]])
    score, _, stops = best(lattice)
    np.testing.assert_allclose(score, max(linked, unlinked))
    assert stops.tolist() == ([[0, 1]] if linked > unlinked else [[-1, -1]])


@pytest.mark.parametrize("memory", [False, True])
def test_a_word_that_nothing_may_be_aligned_with(memory):
    lattice = oracles.lattice(np.random.default_rng(2), 3, 3, 2, 2, memory=memory)
    for j, wide in ((1, 0), (0, 1), (1, 1)):
        lattice[0][:, :, j, wide] = -np.inf
    log_z, filled = run(lattice)
    links = np.empty((3, 3))
    segment_links(filled[0], links)
    assert np.isfinite(log_z) and (links[:, 1] == 0).all() and (links[:, ::2] > 0).all()
    assert_covered(filled[0], filled[1])


@pytest.mark.parametrize("memory", [False, True])
def test_where_all_must_be_null(memory):
    emit, *rest = oracles.lattice(np.random.default_rng(3), 5, 2, 3, 2, memory=memory)
    log_z, filled = run((np.full_like(emit, -np.inf), *rest))
    np.testing.assert_allclose(filled[1], 1.0)
    assert not filled[0].any() and not filled[2].any()
    score, _, stops = best((np.full_like(emit, -np.inf), *rest))
    np.testing.assert_allclose(score, log_z)
    assert (stops == -1).all()


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("most_null", [1, 4])
def test_long_sentences_with_extreme_scores(memory, scale, most_null):
    random = np.random.default_rng(4)
    lattice = oracles.lattice(random, 40, 12, 3, 3, memory=memory, scale=scale, most_null=most_null)
    log_z, filled = run(lattice)
    np.testing.assert_allclose(log_z, oracles.log_partition(*lattice), rtol=1e-12)
    for part in filled:
        assert np.isfinite(part).all() and (part >= 0).all()
    assert filled[0].max() <= 1 + 1e-9
    assert_covered(filled[0], filled[1])
    np.testing.assert_allclose(filled[2].sum(), filled[0].sum(), rtol=1e-9)
    np.testing.assert_allclose(filled[3].sum(), filled[1].sum(), rtol=1e-9)
    np.testing.assert_allclose(filled[4].sum(), 1.0, rtol=1e-9)
    score, starts, stops = best(lattice)
    assert score <= log_z
    np.testing.assert_allclose(oracles.path_score(oracles.as_path(starts, stops), *lattice), score, rtol=1e-12)
    if scale == 300:
        np.testing.assert_allclose(score, log_z, rtol=1e-3)
