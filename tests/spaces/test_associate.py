"""Association matrices from a space: shares, null, identical words, and that they find links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import oracles_space_links as oracles
from cepts import extract, factor
from cepts.data import Bitext, Vectors, offsets_of
from cepts.errors import UsageError
from cepts.kernels.space_links import Sharing, link_shares, support_weights
from cepts.spaces import IBFA, Scoring, SpaceScorer
from cepts.spaces.associate import SCALES
from toy_spaces import toy_dictionary, toy_views

EXTRA = ("1998", "42", ",", "!")


@pytest.fixture(scope="module")
def views():
    """Toy languages that also have numbers and punctuation in common, with vectors that say nothing."""
    random = np.random.default_rng(5)
    return [
        Vectors.from_words(
            (*view.words, *EXTRA),
            np.concatenate([view.matrix, random.standard_normal((len(EXTRA), view.width)).astype(np.float32)]),
            view.name,
        )
        for view in toy_views()
    ]


@pytest.fixture(scope="module")
def space(views):
    return IBFA(exponent=1.0, shrinkage=0.01).fit(views, toy_dictionary()).space_


def directions_of(space, views, bitext, **options):
    """Forward and reverse shares of all pairs."""
    return SpaceScorer(space, views, scoring=Scoring(**options), threads=1).posteriors(bitext)


def agreement_of(space, views, bitext, *, languages=(0, 1), threads=1, **options):
    """The geometric mean of both directions."""
    return SpaceScorer(space, views, languages=languages, scoring=Scoring(**options), threads=threads).associate(bitext)


def random_bitext(pairs=30, seed=0, longest=9):
    """Sentences of the same words in another order here and there, and with some that have no partner."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(pairs):
        numbers = random.integers(0, 120, int(random.integers(1, longest)))
        source = [f"en{n}" for n in numbers]
        target = [f"fr{n}" for n in numbers]
        if len(target) > 1 and random.random() < 0.5:
            place = int(random.integers(len(target) - 1))
            target[place], target[place + 1] = target[place + 1], target[place]
        source.insert(
            int(random.integers(len(source) + 1)), str(random.choice(["nowhere", "Name", "1998", ",", "En7"]))
        )
        target.insert(int(random.integers(len(target) + 1)), str(random.choice(["nulle-part", "name", "1998", "!"])))
        made.append((source, target))
    return Bitext.from_tokens(made)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(-1, 1, width=32)),
    st.floats(0, 12),
    st.floats(-1, 1),
    st.floats(0, 5),
    st.floats(0.125, 4),
    st.integers(0, 3),
    st.data(),
)
def test_shares_equal_the_plain_twin(similarities, temperature, null, diagonal, support, rounds, data):
    without = data.draw(arrays(np.bool_, similarities.shape))
    if temperature:
        similarities = np.where(without, np.float32(-np.inf), similarities)
    rows, columns = similarities.shape
    forward, reverse = np.empty(rows * columns, np.float32), np.empty(rows * columns, np.float32)
    nulls = np.empty(rows, np.float32), np.empty(columns, np.float32)
    logits = similarities.ravel().copy()
    link_shares(
        np.array([rows]),
        np.array([columns]),
        offsets_of([rows * columns]),
        logits,
        Sharing(temperature, null, diagonal, support, support_weights(), rounds),
        np.empty((2, rows * columns)),
        forward,
        reverse,
        *nulls,
    )
    wanted = oracles.shares(
        similarities.astype(np.float64),
        temperature=temperature,
        null=null,
        diagonal=diagonal,
        support=support,
        rounds=rounds,
    )
    for found, want in zip((forward, reverse, *nulls), wanted[:4], strict=True):
        np.testing.assert_allclose(found, want.ravel(), rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(logits, wanted[4].ravel(), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("measure", ["csls", "cosine"])
def test_matrices_equal_the_plain_twin(space, views, measure):
    bitext = random_bitext()
    temperature, null, identical = SCALES[measure]
    placed = [space.project(view.matrix, number).astype(np.float64) for number, view in enumerate(views)]
    forward, reverse = directions_of(space, views, bitext, measure=measure)
    for pair in range(len(bitext)):
        source, target = bitext[pair]
        lowered = [word.lower() for word in source]
        found = oracles.similarities(
            lowered, target, [view.words for view in views], placed, csls=measure == "csls", identical=identical
        )
        ahead, back, *_ = oracles.shares(found, temperature=temperature, null=null, diagonal=4.0, support=3.0, rounds=4)
        np.testing.assert_allclose(forward[pair], ahead, atol=2e-3)
        np.testing.assert_allclose(reverse[pair], back, atol=2e-3)


def test_shares_and_null_of_a_word_sum_to_one(space, views):
    bitext = random_bitext()
    forward, reverse = directions_of(space, views, bitext)
    association = agreement_of(space, views, bitext)
    assert association.values.min() >= 0
    for pair in range(len(bitext)):
        source = slice(*association.source_offsets[pair : pair + 2])
        target = slice(*association.target_offsets[pair : pair + 2])
        np.testing.assert_allclose(forward[pair].sum(axis=0) + association.target_null[target], 1, rtol=1e-5)
        np.testing.assert_allclose(reverse[pair].sum(axis=1) + association.source_null[source], 1, rtol=1e-5)
        np.testing.assert_allclose(association[pair], np.sqrt(forward[pair] * reverse[pair]), rtol=1e-5)


def test_links_are_found_without_any_parallel_text(space, views):
    bitext = Bitext.from_tokens([(["en3", "en50", "en7", "en100"], ["fr50", "fr3", "fr7", "fr100"])])
    association = agreement_of(space, views, bitext)
    wanted = [(0, 1), (1, 0), (2, 2), (3, 3)]
    assert extract.threshold(association, 0.5)[0].links == wanted
    assert factor.onmf(association.scaled(200))[0].links == wanted


def test_unknown_words_go_with_the_same_word_or_to_null(space, views):
    bitext = Bitext.from_tokens([(["Zork", "en3", "quux", "7,000"], ["zork", "fr3", "blah", "7,000"])])
    association = agreement_of(space, views, bitext)
    assert extract.threshold(association, 0.5)[0].links == [(0, 0), (1, 1), (3, 3)]
    assert association.source_null[2] == association.target_null[2] == 1


def test_numbers_and_punctuation_go_with_the_same_whatever_their_vectors_are(space, views):
    bitext = Bitext.from_tokens([(["en3", ",", "1998", "!"], ["fr3", ",", "1998", "!"])])
    association = agreement_of(space, views, bitext)
    assert extract.threshold(association, 0.5)[0].links == [(0, 0), (1, 1), (2, 2), (3, 3)]
    # A comma is never the translation of a word.
    assert association[0][0, 1] == association[0][1, 0] == 0


def test_support_tells_the_occurrences_of_a_word_apart(space, views):
    bitext = Bitext.from_tokens([(["en1", "en20", "en1", "en30"], ["fr1", "fr30", "fr1", "fr20"])])
    links = [(0, 2), (1, 3), (2, 0), (3, 1)]
    options = {"diagonal": 0.0, "measure": "cosine"}
    supported = agreement_of(space, views, bitext, **options)[0]
    alone = agreement_of(space, views, bitext, support=0, **options)[0]
    for i, j in links:
        assert supported[i].argmax() == j
    np.testing.assert_allclose(alone[0, [0, 2]], alone[0, 0], rtol=1e-5)


def test_directions_of_a_space_can_be_turned_round(space, views):
    bitext = random_bitext(8)
    ahead = agreement_of(space, views, bitext)
    turned = agreement_of(space, views[::-1], Bitext(bitext.target, bitext.source), languages=("fr", "en"))
    for pair in range(len(bitext)):
        np.testing.assert_allclose(turned[pair], ahead[pair].T, atol=1e-5)


def test_empty_and_long_pairs_have_empty_matrices(space, views):
    bitext = Bitext.from_tokens([(["en1"], []), (["en1"] * 4, ["fr1"] * 3), ([], []), (["en1", "en2"], ["fr1"])])
    association = agreement_of(space, views, bitext, max_length=3)
    assert [association[pair].shape for pair in range(4)] == [(0, 0), (0, 0), (0, 0), (2, 1)]
    scorer = SpaceScorer(space, views)
    scorer.max_length = 3
    assert [matrix.shape for matrix in scorer.associate(bitext)] == [(0, 0), (0, 0), (0, 0), (2, 1)]


def test_threads_and_runs_do_not_show(space, views, monkeypatch):
    bitext = random_bitext(60)
    one = agreement_of(space, views, bitext, threads=1)
    monkeypatch.setattr("cepts.extract.similarity.CELLS_IN_RUN", 100)
    assert len(SpaceScorer(space, views).directions(bitext).makers) > 3
    many = agreement_of(space, views, bitext, threads=3)
    assert one.values.tobytes() == many.values.tobytes()
    assert one.source_null.tobytes() == many.source_null.tobytes()


@pytest.mark.parametrize("temperature", [0.0, 1e6])
def test_any_temperature_gives_finite_shares(space, views, temperature):
    association = agreement_of(space, views, random_bitext(10), temperature=temperature)
    assert np.isfinite(association.values).all()
    assert association.values.max() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "dot"}, r"measure`? must be one of csls, cosine"),
        ({"temperature": -1}, r"temperature`? must be 0 or more"),
        ({"null": np.nan}, r"null`? must be a number"),
        ({"rounds": -1}, r"rounds`? must be 0 or more"),
        ({"max_length": 0}, r"max_length`? must be 1 or more"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Scoring(**options)


def test_bad_sides_are_refused(space, views):
    with pytest.raises(UsageError, match="Got en on both sides"):
        SpaceScorer(space, views, languages=(0, 0))
    with pytest.raises(UsageError, match="Got 1 languages instead"):
        SpaceScorer(space, views[:1])
