"""Mixtures of scorers, against the averages that their definition names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import TOY, bitext_of
from cepts.data import Association, Directions, GivenDirections, Pulls, Runs, offsets_of
from cepts.errors import DataError, UsageError
from cepts.extract import Aligning, ScorerMixture, threshold
from cepts.words import HMM, IBM1


class Member(Aligning):
    """Random matrices of given shapes, in runs of its own."""

    max_length = None

    def __init__(self, shapes, cuts, left_out, random, *, null, scored, pulling, threshold=0.4):
        # A pair that is left out has no words, or none on one side.
        self.shapes = [left_out.get(n, shape) for n, shape in enumerate(shapes)]
        self.cuts = [0, *sorted(cuts), len(shapes)]
        rows, columns = (np.array([shape[axis] for shape in self.shapes], dtype=np.int64) for axis in (0, 1))
        offsets = offsets_of(rows * columns)

        def numbers(count, top=1.0):
            return (random.random(int(count)) * top).astype(np.float32)

        # Small enough that the links of a word leave something of 1, or nothing.
        self.forward = Association(
            rows, columns, offsets, numbers(offsets[-1], 0.5), target_null=numbers(columns.sum()) if null else None
        )
        self.reverse = Association(
            rows, columns, offsets, numbers(offsets[-1], 0.5), source_null=numbers(rows.sum()) if null else None
        )
        self.scores = -9 * random.random((len(shapes), 2)) if scored else None
        self.pulls = [Pulls(numbers(words.sum(), 0.5), numbers(words.sum(), 0.5)) for words in (rows, columns)]
        self.pulling, self.threshold = pulling, threshold

    def directions(self, pairs, *, cells=None, in_order=False):
        def make(start, stop):
            forward, reverse = self.forward.part(start, stop), self.reverse.part(start, stop)
            offsets = self.forward.source_offsets, self.forward.target_offsets
            pulls = tuple(
                Pulls(*(array[words[start] : words[stop]] for array in side))
                for side, words in zip(self.pulls, offsets, strict=True)
            )
            return GivenDirections(
                forward,
                reverse,
                first=start,
                scores=None if self.scores is None else self.scores[start:stop],
                pulls=pulls if self.pulling else None,
                threshold=self.threshold,
            )

        runs = zip(self.cuts, self.cuts[1:], strict=False)
        return Runs([lambda run=run: make(*run) for run in runs], len(self.shapes), threads=1)


@st.composite
def mixtures(draw):
    shapes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    places = st.sets(st.integers(0, len(shapes)), max_size=3)
    scored = draw(st.booleans())
    members = [
        Member(
            shapes,
            draw(places),
            draw(st.dictionaries(st.integers(0, len(shapes)), st.sampled_from([(0, 0), (0, 2), (2, 0)]), max_size=3)),
            random,
            null=draw(st.booleans()),
            scored=scored or draw(st.booleans()),
            pulling=draw(st.booleans()),
            threshold=draw(st.sampled_from([0.3, 0.5])),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(members), max_size=len(members)))
    return shapes, members, weights


def null_of(association, n, by_target):
    """Null of each word of a pair: as it is known, or what the links leave of 1."""
    masses = association.target_null if by_target else association.source_null
    if masses is None:
        return np.maximum(1 - association[n].astype(float).sum(axis=0 if by_target else 1), 0)
    offsets = association.target_offsets if by_target else association.source_offsets
    return masses[offsets[n] : offsets[n + 1]]


@settings(deadline=None, max_examples=150)
@given(mixtures())
def test_a_mixture_is_the_weighted_mean_of_those_who_have_the_pair(case):
    shapes, members, weights = case
    mixture = ScorerMixture(members, weights, threads=1)
    runs = [make() for make in mixture.directions(None).makers]
    assert [run.first for run in runs] == np.cumsum([0, *(len(run.forward) for run in runs)])[:-1].tolist()
    forward, reverse = mixture.posteriors(None)
    assert len(forward) == len(reverse) == len(shapes)
    close = {"rtol": 1e-5, "atol": 1e-7}
    for n, shape in enumerate(shapes):
        has = [k for k, member in enumerate(members) if all(member.shapes[n])]
        if not has:
            assert forward[n].shape == (0, 0)
            continue
        share = {k: weights[k] / sum(weights[other] for other in has) for k in has}
        for found, by_target in ((forward, True), (reverse, False)):
            given = {k: members[k].forward if by_target else members[k].reverse for k in has}
            np.testing.assert_allclose(found[n], sum(share[k] * given[k][n].astype(float) for k in has), **close)
            wanted = sum(share[k] * null_of(given[k], n, by_target) for k in has)
            np.testing.assert_allclose(null_of(found, n, by_target), wanted, **close)
            assert found[n].shape == shape
    total = sum(weights)
    for run in runs:
        wanted = sum(weight * member.threshold for weight, member in zip(weights, members, strict=True)) / total
        assert run.threshold == pytest.approx(wanted)


@settings(deadline=None, max_examples=100)
@given(mixtures())
def test_scores_are_those_of_the_mixture_of_distributions(case):
    shapes, members, weights = case
    mixture = ScorerMixture(members, weights, threads=1)
    if any(member.scores is None for member in members):
        with pytest.raises(UsageError, match="a mixture gives no scores"):
            mixture.score(None)
        return
    got = mixture.score(None)
    for n in range(len(shapes)):
        has = [k for k, member in enumerate(members) if all(member.shapes[n])]
        total = sum(weights[k] for k in has)
        wanted = np.log(sum(weights[k] / total * np.exp(members[k].scores[n]) for k in has)) if has else 0
        np.testing.assert_allclose(got[n], wanted, rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(mixtures())
def test_words_belong_to_their_neighbours_as_the_first_who_knows_says(case):
    shapes, members, weights = case
    runs = [make() for make in ScorerMixture(members, weights, threads=1).directions(None).makers]
    knowing = [member for member in members if member.pulling]
    if not knowing:
        assert all(run.pulls is None for run in runs)
        return
    first = knowing[0]
    for side, axis in ((0, 0), (1, 1)):
        got = np.concatenate([run.pulls[side].before for run in runs])
        start = place = 0
        for n in range(len(shapes)):
            has = any(all(member.shapes[n]) for member in members)
            words = shapes[n][axis] if has else 0
            own = first.shapes[n][axis]
            wanted = first.pulls[side].before[start : start + own] if all(first.shapes[n]) else np.zeros(words)
            np.testing.assert_array_equal(got[place : place + words], wanted)
            start, place = start + own, place + words


@pytest.mark.parametrize("model", [IBM1, HMM])
def test_a_mixture_of_one_is_that_one(model):
    bitext = bitext_of([*TOY, ("", "the"), ("das " * 9, "the"), *TOY[:2]])
    alone = model(threads=1, max_length=8).fit(bitext)
    mixture = ScorerMixture([alone], [3.0])
    assert mixture.max_length == 8
    for got, want in zip(mixture.posteriors(bitext), alone.posteriors(bitext), strict=True):
        np.testing.assert_array_equal(got.values, want.values)
    np.testing.assert_allclose(mixture.score(bitext), alone.score(bitext), rtol=1e-12)
    for combine in ("agreement", "onmf"):
        got, want = mixture.align(bitext, combine=combine), alone.align(bitext, combine=combine)
        assert [one.links for one in got] == [one.links for one in want]
        # The confidences of a mixture are posteriors, also in the training text of a member.
        posteriors = alone.associate(bitext) if combine == "agreement" else None
        wanted = want if posteriors is None else threshold(posteriors, Directions.threshold)
        np.testing.assert_allclose(got.confidence, wanted.confidence, rtol=1e-4)


def test_wrong_members_and_weights_are_refused():
    one, two = (IBM1(threads=1, iterations=1).fit(bitext_of(TOY)) for _ in range(2))
    for weights in ([1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(UsageError, match="`weights` must have one weight for each of 2 scorers"):
            ScorerMixture([one, two], weights)
    for weights in ([1.0, 0.0], [1.0, -1.0], [1.0, float("nan")], [1.0, float("inf")]):
        with pytest.raises(UsageError, match="`weights` must be above 0"):
            ScorerMixture([one, two], weights)
    with pytest.raises(UsageError, match="`scorers` must have at least one scorer"):
        ScorerMixture([])


def random_member(shapes, cuts=()):
    return Member(shapes, cuts, {}, np.random.default_rng(0), null=True, scored=True, pulling=False)


@pytest.mark.parametrize("order", [1, -1])
def test_members_of_other_texts_are_refused(order):
    more, fewer = random_member([(1, 1)] * 3, cuts={2}), random_member([(1, 1)] * 2)
    with pytest.raises(DataError, match="different numbers of sentence pairs"):
        ScorerMixture([more, fewer][::order], threads=1).align(None)
    one, other = random_member([(1, 1), (2, 1)]), random_member([(1, 1), (2, 2)])
    with pytest.raises(DataError, match="matrices of different sizes for sentence pair 2"):
        ScorerMixture([one, other][::order], threads=1).align(None)
