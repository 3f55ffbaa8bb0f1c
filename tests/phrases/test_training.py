"""Training of one direction: what gold pairs cost, and that the objective falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.data import Sentence, SentencePair
from cepts.errors import NotFiniteError
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.columns import FAMILIES
from cepts.phrases.crf import LatticeShape, gold_path, link_cells
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.training import _state_costs, gold_of, minimise
from cepts.progress import silent


def options(cost):
    return PhraseAligner(cost=cost, wrong_cost=1.5, missed_cost=0.5)


@st.composite
def gold_pairs(draw):
    length, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    links = st.tuples(st.integers(0, length - 1), st.integers(0, width - 1))
    sure = draw(st.lists(links, unique=True, max_size=6))
    possible = [link for link in draw(st.lists(links, unique=True, max_size=4)) if link not in sure]
    words = Sentence(("a",) * length), Sentence(("b",) * width)
    return SentencePair(*words, sure=tuple(sorted(sure)), possible=tuple(sorted(possible)))


SHAPES = st.builds(
    LatticeShape, st.integers(1, 3), st.integers(1, 3), st.booleans(), st.booleans(), null_spans=st.booleans()
)


def features_of(pair, shape):
    maker = FeatureMaker(Inventory(), Lexical(), FAMILIES, shape.longest, shape.widest)
    return maker.features(pair)


def parts_of(gold):
    """Every part of a path, with its cost."""
    length, longest, width, widest = gold.segment_cost.shape
    for part in oracles.every_part(length, width, longest, widest, gold.null_cost.shape[1]):
        i, size, j, wide = part
        yield part, gold.null_cost[i, size - 1] if j < 0 else gold.segment_cost[i, size - 1, j, wide - 1]


@settings(deadline=None)
@given(gold_pairs(), SHAPES, st.sampled_from(["links", "none"]))
def test_costs_of_links(pair, shape, cost):
    gold = gold_of(pair, features_of(pair, shape), shape, options(cost))
    cells, excused = (
        link_cells(links, len(pair.source), len(pair.target), shape.by_target) for links in (pair.sure, pair.possible)
    )
    np.testing.assert_array_equal(gold.path.segments, gold_path(cells, shape).segments)
    for part, got in parts_of(gold):
        want = oracles.link_cost(part, cells, excused, 1.5, 0.5) if cost == "links" else 0.0
        assert got == pytest.approx(want)


@settings(deadline=None)
@given(gold_pairs(), SHAPES)
def test_costs_of_states(pair, shape):
    gold = gold_of(pair, features_of(pair, shape), shape, options("states"))
    segments = [(i, span + 1, j, wide + 1) for i, span, j, wide in np.argwhere(gold.path.segments).tolist()]
    path = [*segments, *((i, size + 1, -1, 0) for i, size in np.argwhere(gold.path.null).tolist())]
    for part, got in parts_of(gold):
        assert got == pytest.approx(oracles.state_cost(part, path, 1.5))
    assert sum(got for part, got in parts_of(gold) if part in path) == 0


def test_spans_longer_than_the_sentence():
    path = gold_path(np.ones((2, 1), dtype=np.bool_), LatticeShape(longest=5, widest=1))
    segment_cost, null_cost = _state_costs(path, 1.0)
    assert segment_cost[0, 1, 0, 0] == 0 and null_cost.tolist() == [1.0, 1.0]


def test_an_objective_that_is_not_finite_ends_training():
    def objective(weights):
        return np.nan, weights

    objective.weights = 3
    with pytest.raises(NotFiniteError, match="training forward: the objective is nan after 0 iterations"):
        minimise(objective, 5, "training forward", silent)


def test_training_says_whether_it_stopped_at_its_cap():
    def objective(weights):
        return float(weights @ weights - weights.sum()), 2 * weights - 1

    objective.weights = 3
    _, values, capped = minimise(objective, 50, "training forward", silent)
    assert not capped and len(values) < 50
    _, values, capped = minimise(objective, 1, "training forward", silent)
    assert capped and len(values) == 1
