"""The tagger's kernels against enumeration, strings and plain sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import oracles_tagger as oracles
from cepts.kernels import tagger as kernels

# Whole numbers, so that sums are exact and ties are frequent.
SCORES = st.integers(-3, 3).map(float)


@st.composite
def lattices(draw):
    length, labels = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    scores = draw(arrays.arrays(np.float32, (length, labels), elements=SCORES))
    steps = st.one_of(SCORES, st.just(-np.inf)) if draw(st.booleans()) else SCORES
    transitions = draw(arrays.arrays(np.float32, (labels + 1, labels), elements=steps))
    transitions[labels, 0] = transitions[0, 0] = 0  # so that at least one path is allowed
    return scores, transitions


@given(lattices())
@settings(deadline=None)
def test_best_path_has_the_highest_score_of_all(lattice):
    scores, transitions = lattice
    length, labels = scores.shape
    path = np.empty(length, np.int32)
    space = np.empty((2, labels), np.float32), np.empty((length, labels), np.uint8)
    kernels.best_labels(np.array([0, 0, length]), scores, transitions, *space, path)
    paths = oracles.enumerate_paths(scores, transitions)
    assert tuple(path.tolist()) == min(paths, key=lambda path: (-paths[path], path[::-1]))


@given(st.sets(st.integers(1, 40), min_size=4, max_size=4), st.integers(0, 2**25), st.integers(1, 8), st.data())
@settings(deadline=None)
def test_scores_are_sums_of_the_weights_of_known_features(known, factor, bits, data):
    known = np.sort(np.array(list(known), dtype=np.uint32) * np.uint32(factor | 1))
    dense = data.draw(arrays.arrays(np.float32, (4, 3), elements=SCORES))
    keys = data.draw(arrays.arrays(np.uint32, (5, 2), elements=st.sampled_from([0, 41, 2**32 - 1, *known.tolist()])))
    kept = dense != 0
    bounds = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int64)
    starts = np.array([sum(key >> (32 - bits) < b for key in known.tolist()) for b in range((1 << bits) + 1)])
    scores = np.zeros((5, 3), np.float32)
    labels = np.nonzero(kept)[1].astype(np.uint8)
    kernels.add_scores(keys, known, starts, 32 - bits, bounds, labels, dense[kept], scores)
    weights = dict(zip(known.tolist(), dense, strict=True))
    want = [[weights.get(key, np.zeros(3)) for key in row] for row in keys.tolist()]
    np.testing.assert_array_equal(scores, np.sum(want, axis=1))


@st.composite
def corpora(draw):
    labels, rows = draw(st.integers(1, 3)), 4
    tokens = st.lists(st.integers(-1, rows - 1), min_size=2, max_size=2)
    sentences = draw(st.lists(st.lists(tokens, max_size=3), min_size=1, max_size=4))
    gold = [[draw(st.integers(0, labels - 1)) for _ in sentence] for sentence in sentences]
    passes = [draw(st.permutations(range(len(sentences)))) for _ in range(draw(st.integers(1, 3)))]
    return sentences, gold, passes, rows, labels, draw(st.sampled_from([0.0, 2.0]))


@given(corpora())
@settings(deadline=None)
def test_training_gives_the_mean_of_all_weights_on_the_way(corpus):
    sentences, gold, passes, rows, labels, margin = corpus
    allowed = np.ones((labels + 1, labels), dtype=bool)
    want = oracles.averaged_perceptron(sentences, gold, passes, rows, labels, allowed, margin)
    offsets = np.concatenate(([0], np.cumsum([len(sentence) for sentence in sentences]))).astype(np.int64)
    flat_rows = np.array([token for sentence in sentences for token in sentence], np.int32).reshape(-1, 2)
    flat_gold = np.array([label for sentence in gold for label in sentence], np.int32)
    weights, transitions = np.zeros((rows, labels), np.float32), np.zeros((labels + 1, labels), np.float32)
    sums, transition_sums = np.zeros(weights.shape), np.zeros(transitions.shape)
    space = kernels.PerceptronRoom(
        np.empty((3, labels), np.float32),
        np.empty((2, labels), np.float32),
        np.empty((3, labels), np.uint8),
        np.empty(3, np.int32),
    )
    clock = 0
    for order in passes:
        given_order = np.array(order, np.int64)
        model = kernels.PerceptronWeights(weights, sums, transitions, transition_sums)
        kernels.train_perceptron(given_order, offsets, flat_rows, flat_gold, np.float32(margin), model, clock, space)
        clock += len(order)
    np.testing.assert_allclose(weights - sums / clock, want[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(transitions - transition_sums / clock, want[1], rtol=1e-12, atol=1e-12)
