"""One direction of the CRF: value and gradient of its objective, gold paths and costs, against all paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.phrases.columns import FeatureTable
from cepts.phrases.crf import (
    Gold,
    Lattice,
    LatticeShape,
    Objective,
    best_path,
    gold_path,
    lattice_of,
    link_cells,
    link_costs,
    marginals,
    null_words,
    path_counts,
    running_sums,
    split_weights,
)
from cepts.phrases.features import PairFeatures
from cepts.phrases.likeness import Anchors
from cepts.phrases.steps import NULL_SIZES, STEP_WEIGHTS, steps_of

SIZES = [2, 5, 3, 4, 1, 6]
SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.builds(LatticeShape, st.integers(1, 3), st.integers(1, 3), *[st.booleans()] * 5)


def observed(shape):
    """The longest observed span and the longest span of the other side."""
    return (shape.widest, shape.longest) if shape.by_target else (shape.longest, shape.widest)


def random_features(random, length, width, shape):
    def table(items, place):
        values = random.normal(size=(items, SIZES[place])).astype(np.float32)
        return FeatureTable(values, random.integers(0, SIZES[place + 1], (items, 2), dtype=np.int32))

    # Some pairs of spans, among those that do not leave their sentences, have features.
    every = np.ndindex(length, shape.longest, width, shape.widest)
    inside = [
        place
        for place, (i, size, j, wide) in enumerate(every)
        if size + wide and i + size < length and j + wide < width and random.random() < 0.8
    ]
    token = shape.longest * shape.widest == 1
    parallel = random.random((length, width, min(shape.longest, shape.widest))) < 0.5
    for i, j, size in np.ndindex(parallel.shape):
        parallel[i, j, size] &= i + size < length and j + size < width
    return PairFeatures(
        length,
        width,
        table(length * width, 0),
        None if token else table(len(inside), 2),
        None if token else np.array(inside, dtype=np.int64),
        parallel,
        random.random((length, width)) < 0.7,
        random.random((length, width)) < 0.5,
        table(length, 4),
        table(width, 4),
        NOTHING,
    )


NOTHING = Anchors(np.empty((0, 2), dtype=np.int64), np.empty(0), np.empty((0, 4), dtype=np.int64))


def sizes_of(shape):
    return SIZES if shape.longest * shape.widest > 1 else [*SIZES[:2], 0, 0, *SIZES[4:]]


def random_case(random, shape, largest=3):
    """Features and gold of a random pair, and what the oracle needs: features and costs of all paths, the gold one."""
    length, width = random.integers(1, largest + 1, 2).tolist()
    features = random_features(random, length, width, shape)
    rows, columns = (width, length) if shape.by_target else (length, width)
    longest, widest = observed(shape)
    steps = steps_of(columns, shape.memory, shape.distortion)
    segment_cost = random.random((rows, longest, columns, widest)).astype(np.float32)
    null_cost = random.random((rows, shape.most_null))
    every = oracles.all_paths(rows, columns, longest, widest, shape.most_null)
    paths = [path for path in every if oracles.is_allowed(path, features, shape)]
    chosen = int(random.integers(len(paths)))
    counted = [np.empty((rows, longest, columns, widest)), null_cost, steps.jump, steps.stay]
    found = oracles.path_counts(paths[chosen], *counted, steps.null_next, steps.final)
    gold = Gold(type(PATH)(0.0, *found), segment_cost, null_cost)
    costs = [
        sum(
            float(null_cost[i, size - 1] if j < 0 else segment_cost[i, size - 1, j, wide - 1])
            for i, size, j, wide in path
        )
        for path in paths
    ]
    weights = sizes_of(shape), shape, steps, STEP_WEIGHTS, NULL_SIZES
    table = [oracles.path_features(path, features, *weights) for path in paths]
    return features, gold, (np.array(table), np.array(costs), chosen)


PATH = gold_path(np.zeros((1, 1), dtype=np.bool_), LatticeShape())


def random_objective(seed, shape, pairs, threads=1):
    random = np.random.default_rng(seed)
    cases = [random_case(random, shape) for _ in range(pairs)]
    penalty = random.uniform(0.0, 2.0, STEP_WEIGHTS + sum(sizes_of(shape)))
    objective = Objective(
        [case[0] for case in cases],
        [case[1] for case in cases],
        sizes_of(shape),
        shape,
        penalty=penalty,
        threads=threads,
    )
    weights = random.normal(size=objective.weights)
    return objective, weights, [case[2] for case in cases], penalty


@settings(deadline=None, max_examples=40)
@given(SEEDS, SHAPES, st.integers(1, 3))
def test_value_and_gradient_equal_enumeration(seed, shape, pairs):
    objective, weights, cases, penalty = random_objective(seed, shape, pairs)
    value, gradient = objective(weights)
    want, want_gradient = oracles.objective(cases, weights, penalty)
    np.testing.assert_allclose(value, want, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient, want_gradient, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("by_target", [False, True])
@pytest.mark.parametrize("longest", [1, 2])
def test_the_gradient_is_that_of_finite_differences(by_target, longest):
    objective, weights, _, _ = random_objective(7, LatticeShape(longest, 2, by_target, memory=True), 3)
    _, gradient = objective(weights)
    step = 1e-5
    for place in range(len(weights)):
        move = np.zeros_like(weights)
        move[place] = step
        difference = (objective(weights + move)[0] - objective(weights - move)[0]) / (2 * step)
        assert gradient[place] == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_threads_change_no_byte():
    one, weights, _, _ = random_objective(8, LatticeShape(2, 2), 40)
    two, _, _, _ = random_objective(8, LatticeShape(2, 2), 40, threads=2)
    first, second = one(weights), two(weights)
    assert first[0] == second[0] and first[1].tobytes() == second[1].tobytes()


@settings(deadline=None, max_examples=40)
@given(SEEDS, SHAPES)
def test_a_lattice_scores_paths_by_their_features(seed, shape):
    random = np.random.default_rng(seed)
    features, _, (table, _, _) = random_case(random, shape)
    weights = random.normal(size=STEP_WEIGHTS + sum(sizes_of(shape)))
    lattice = lattice_of(features, weights, sizes_of(shape), shape)
    paths = [path for path in oracles.paths_of(*lattice[:2]) if oracles.is_allowed(path, features, shape)]
    scores = [oracles.path_score(path, *lattice) for path in paths]
    np.testing.assert_allclose(scores, table @ weights, rtol=1e-5, atol=1e-5)
    score, starts, spans = best_path(lattice)
    np.testing.assert_allclose(score, max(scores), rtol=1e-12)
    assert scores[paths.index(oracles.as_path(starts, spans))] == pytest.approx(score)
    np.testing.assert_allclose(marginals(lattice).log_z, oracles.log_sum(scores), rtol=1e-12)


def test_weights_are_split_by_the_layout():
    parts = split_weights(np.arange(STEP_WEIGHTS + 6.0), [1, 0, 2, 0, 0, 3])
    assert [len(part) for part in parts] == [STEP_WEIGHTS, 1, 0, 2, 0, 0, 3]
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(STEP_WEIGHTS + 6.0))


@st.composite
def gold_cells(draw):
    """The observed side by the other, with any number of links; and a matrix of those that are excused."""
    length, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = st.lists(st.booleans(), min_size=length * width, max_size=length * width)
    return [np.array(draw(cells), dtype=np.bool_).reshape(length, width) for _ in range(2)]


def as_path(found):
    """The path that marginals of 0 and 1 stand for."""
    segments = [(i, span + 1, j, wide + 1) for i, span, j, wide in np.argwhere(found.segments).tolist()]
    return tuple(sorted(segments + [(i, size + 1, -1, 0) for i, size in np.argwhere(found.null).tolist()]))


@settings(deadline=None, max_examples=60)
@given(gold_cells(), SHAPES, SEEDS)
def test_the_gold_path_has_the_most_gold_links_and_no_others(matrices, shape, seed):
    cells = matrices[0]
    longest, widest = observed(shape)
    allowed = np.random.default_rng(seed).random((len(cells), longest, cells.shape[1], widest)) < 0.8
    found = gold_path(cells, shape, allowed if seed % 2 else None)
    path = as_path(found)
    assert path in oracles.gold_paths(cells, longest, widest, shape.most_null, allowed if seed % 2 else None)
    steps = steps_of(cells.shape[1], shape.memory, shape.distortion)
    want = oracles.path_counts(path, found.segments, found.null, steps.jump, steps.stay, steps.null_next, steps.final)
    for got, count in zip((found.segments, found.null, found.jump, found.stay, found.final), want, strict=True):
        np.testing.assert_array_equal(got, count)


def test_links_that_no_path_can_have_are_left():
    path = as_path(gold_path(np.array([[True, False, True], [False, True, False]]), LatticeShape(3, 3)))
    assert oracles.path_links(path) in ({(0, 0), (1, 1)}, {(0, 2), (1, 1)})
    # A square of four links is one segment where that fits, and two where it does not.
    square = np.ones((2, 2), dtype=np.bool_)
    assert as_path(gold_path(square, LatticeShape(2, 2))) == ((0, 2, 0, 2),)
    assert as_path(gold_path(square, LatticeShape(1, 2))) == ((0, 1, 0, 2), (1, 1, 0, 2))
    assert as_path(gold_path(square, LatticeShape(1, 2, by_target=True))) == ((0, 2, 0, 1),)


@settings(deadline=None, max_examples=60)
@given(SEEDS, SHAPES)
def test_counts_of_a_path(seed, shape):
    random = np.random.default_rng(seed)
    length, width = random.integers(1, 5, 2).tolist()
    steps = steps_of(width, shape.memory, shape.distortion)
    options = {"memory": shape.memory, "most_null": shape.most_null}
    given = oracles.lattice(random, length, width, *observed(shape), **options)
    _, starts, spans = best_path(Lattice(*given))
    found = path_counts(starts, spans, given[0].shape, shape.most_null, steps)
    want = oracles.path_counts(oracles.as_path(starts, spans), *given)
    for got, count in zip((found.segments, found.null, found.jump, found.stay, found.final), want, strict=True):
        np.testing.assert_array_equal(got, count)


def test_cells_of_links():
    assert link_cells(((0, 2), (1, 0)), 2, 3, by_target=False).tolist() == [[False, False, True], [True, False, False]]
    assert np.argwhere(link_cells(((0, 2), (1, 0)), 2, 3, by_target=True)).tolist() == [[0, 1], [2, 0]]
    assert link_cells((), 1, 2, by_target=True).tolist() == [[False], [False]]


@settings(deadline=None, max_examples=100)
@given(gold_cells(), st.integers(1, 6), st.integers(1, 6), st.floats(0, 3), st.floats(0, 3))
def test_costs_count_wrong_and_missed_links(matrices, longest, widest, wrong, missed):
    cells, excused = matrices
    segment_cost, null_cost = link_costs(cells, excused, longest, widest, wrong=wrong, missed=missed)
    assert segment_cost.shape == (len(cells), longest, cells.shape[1], widest)
    for part in oracles.every_part(*cells.shape, longest, widest):
        i, size, j, wide = part
        got = null_cost[i] if j < 0 else segment_cost[i, size - 1, j, wide - 1]
        assert got == pytest.approx(oracles.link_cost(part, cells, excused, wrong, missed), rel=1e-5, abs=1e-6)


def test_a_gold_path_that_has_all_links_costs_nothing():
    cells = np.array([[True, True, False], [False, False, False], [False, False, True]])
    segment_cost, null_cost = link_costs(cells, np.zeros_like(cells), 2, 2, wrong=1.0, missed=2.0)
    assert segment_cost[0, 0, 0, 1] == null_cost[1] == segment_cost[2, 0, 2, 0] == 0
    assert null_cost.tolist() == [4.0, 0.0, 2.0]
    assert segment_cost[0, 0, 1, 1] == 2.0 + 1.0


@settings(deadline=None, max_examples=30)
@given(SEEDS, SHAPES)
def test_anchors_raise_the_segments_that_hold_them_and_nothing_else(seed, shape):
    random = np.random.default_rng(seed)
    length, width = random.integers(1, 5, 2).tolist()
    features = random_features(random, length, width, shape)
    weights = random.normal(size=STEP_WEIGHTS + sum(sizes_of(shape)))
    links = np.array([[random.integers(length), random.integers(width)]])
    held = replace(features, anchors=NOTHING._replace(links=links, pull=np.array([0.5])))
    plain = lattice_of(features, weights, sizes_of(shape), shape, anchoring=3.0)
    raised = lattice_of(held, weights, sizes_of(shape), shape, anchoring=3.0)
    observed_word, other_word = links[0, ::-1] if shape.by_target else links[0]
    for (a, size, b, wide), before in np.ndenumerate(plain.emit):
        if before == -np.inf:
            assert raised.emit[a, size, b, wide] == -np.inf
            continue
        more = raised.emit[a, size, b, wide] - before
        inside = a + size < plain.emit.shape[0] and b + wide < plain.emit.shape[2]
        holds = a <= observed_word <= a + size and b <= other_word <= b + wide
        assert more == pytest.approx(1.5 if holds and inside else 0.0)
    for one, other in zip(plain[1:], raised[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(lattice_of(held, weights, sizes_of(shape), shape).emit, plain.emit)


@settings(deadline=None, max_examples=30)
@given(SEEDS, SHAPES)
def test_phrases_that_a_table_knows_are_raised_and_nothing_else(seed, shape):
    random = np.random.default_rng(seed)
    features = random_features(random, 3, 4, shape)
    if features.items is None or not len(features.items):
        return
    weights = random.normal(size=STEP_WEIGHTS + sum(sizes_of(shape)))
    i, size, j, wide = np.unravel_index(features.items[0], (3, shape.longest, 4, shape.widest))
    held = replace(features, anchors=NOTHING._replace(phrases=np.array([[i, size + 1, j, wide + 1]])))
    plain, raised = (lattice_of(one, weights, sizes_of(shape), shape, anchoring=3.0).emit for one in (features, held))
    place = (j, wide, i, size) if shape.by_target else (i, size, j, wide)
    against = 0.0
    if shape.by_words and size == wide and features.parallel[i, j, size]:
        single = lattice_of(features, weights, sizes_of(shape), shape).emit[:, 0, :, 0]
        cells = single.T if shape.by_target else single
        words = [(i + step, j + step) for step in range(size + 1)]
        against = sum(min(cells[word], 0.0) for word in words if features.matched[word])
    assert raised[place] - plain[place] == pytest.approx(3.0 * max(size + 1, wide + 1) - against)
    raised[place] = plain[place]
    np.testing.assert_array_equal(raised, plain)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 5), st.integers(1, 4), SEEDS)
def test_running_sums_and_words_of_null_segments(length, most, seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=length)
    sums, words = running_sums(values, most), np.zeros(length)
    counts = random.random((length, most))
    for i, size in np.ndindex(length, most):
        inside = i + size < length
        assert sums[i, size] == pytest.approx(values[i : i + size + 1].sum() if inside else 0.0)
        counts[i, size] *= inside
        words[i : i + size + 1] += counts[i, size]
    np.testing.assert_allclose(null_words(counts), words)
