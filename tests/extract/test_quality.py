"""The quality of pairs, against its definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Association, Bitext, offsets_of
from cepts.extract import MatrixScorer, ScorerMixture, pair_quality
from cepts.extract.quality import COVERAGE, DISPLACEMENT, SMOOTHING, WORDS, WORST_HALF
from cepts.io import read_bitext
from cepts.words import HMM, Mixed


def logistic(curve, value: float) -> float:
    return 1 / (1 + np.exp(-curve.slope * (value - curve.middle)))


def by_definition(matrix: np.ndarray, log_probabilities: np.ndarray | None = None) -> float:
    if not matrix.size:
        return 0.0
    sides = [matrix.max(axis=1), matrix.max(axis=0)]
    halves = [half for side in sides for half in (side[: (len(side) + 1) // 2], side[len(side) // 2 :])]
    places = [(np.arange(size) + 0.5) / size for size in matrix.shape]
    distances = np.minimum(2 * abs(places[0][:, None] - places[1]), 1)
    displacement = (matrix * distances).sum() / (matrix.sum() + SMOOTHING)
    if log_probabilities is None:
        words = logistic(COVERAGE, np.concatenate(sides).mean())
    else:
        words = logistic(WORDS, min(log_probabilities / matrix.shape[::-1]))
    return words * logistic(WORST_HALF, min(half.mean() for half in halves)) * logistic(DISPLACEMENT, displacement)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=3), st.integers(0, 9), st.booleans()
)
def test_quality_is_that_of_words_halves_and_places(shapes, seed, scored):
    rng = np.random.default_rng(seed)
    rows, columns = (np.array(side) for side in zip(*shapes, strict=True))
    values = rng.random(int((rows * columns).sum())).astype(np.float32)
    association = Association(rows, columns, offsets_of(rows * columns), values)
    scores = -20 * rng.random((len(shapes), 2)) if scored else None
    found = pair_quality(association, scores)
    wanted = [
        by_definition(association[pair].astype(np.float64), None if scores is None else scores[pair])
        for pair in range(len(association))
    ]
    assert found == pytest.approx(wanted, rel=1e-5)
    assert ((found >= 0) & (found <= 1)).all()


def test_impossible_pairs_have_quality_0():
    matrix = Association(np.array([1]), np.array([1]), np.array([0, 1]), np.ones(1, dtype=np.float32))
    assert pair_quality(matrix, np.array([[-np.inf, -1.0]])).tolist() == [0.0]


@pytest.fixture(scope="module")
def noisy() -> tuple[Bitext, np.ndarray, np.ndarray]:
    """The sample with a wrong target, or with swapped halves, in every tenth pair each."""
    folder = Path(__file__).parents[2] / "examples"
    sample = read_bitext(folder / "sample.en", folder / "sample.fr")
    pairs = [sample[pair] for pair in range(len(sample))]
    number = np.arange(len(pairs))
    shuffled, swapped = number % 10 == 0, number % 10 == 5
    for pair in np.flatnonzero(shuffled)[:-1]:
        pairs[pair] = pairs[pair][0], sample[pair + 10][1]
    for pair in np.flatnonzero(swapped):
        target = pairs[pair][1]
        pairs[pair] = pairs[pair][0], [*target[len(target) // 2 :], *target[: len(target) // 2]]
    return Bitext.from_tokens(pairs), shuffled, swapped & (sample.target.lengths > 3)


@pytest.mark.parametrize("model", [Mixed, HMM])
def test_noisy_pairs_have_a_lower_quality(noisy, model):
    text, *kinds = noisy
    good = ~np.logical_or(*kinds)
    quality = model(threads=1).fit(text).quality(text)
    assert np.median(quality[good]) > 0.8
    for kind in kinds:
        assert np.median(quality[kind]) < 0.2


def test_all_scorers_have_a_quality():
    """Without log-probabilities, with empty sides and with sentences that are too long; a mixture as its members."""
    pairs = [("a b", "c d"), ("", "c"), ("a b a b", "c d c d"), ("", ""), ("b", "d")] * 3
    text = Bitext.from_tokens([(source.split(), target.split()) for source, target in pairs])
    model = HMM(threads=1, max_length=3).fit(text)
    matrices = MatrixScorer(model.associate(text), threads=1)
    alone, without_scores = model.quality(text), matrices.quality(text)
    for found in (alone, without_scores, ScorerMixture([model, matrices]).quality(text)):
        assert np.isfinite(found).all()
        assert (found > 0).tolist() == [True, False, False, False, True] * 3
    np.testing.assert_allclose(ScorerMixture([model, model]).quality(text), alone, rtol=1e-5)
    assert (alone != without_scores).any()
