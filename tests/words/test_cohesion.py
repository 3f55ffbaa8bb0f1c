"""How closely words belong to their neighbours, against plain counting."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from bitexts_words import TOY, bitext_of, flat
from cepts.words import HMM, load_aligner
from cepts.words.adjacent import AdjacentWords
from cepts.words.cohesion import SMOOTHING, STAY, Cohesion

WORDS = 6
sentences_of = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=6), max_size=6)
unknown_too = st.lists(st.lists(st.integers(-1, WORDS - 1), max_size=5), max_size=4)


@settings(deadline=None, max_examples=150)
@given(sentences_of)
def test_counts_are_those_of_the_text(text):
    got = Cohesion.of(AdjacentWords.of(*flat(text), WORDS))
    words = Counter(word for sentence in text for word in sentence)
    together = Counter(two for sentence in text for two in pairwise(sentence))
    assert got.counts.tolist() == [words[word] for word in range(WORDS)]
    found = {
        (word, int(follower)): int(times)
        for word in range(WORDS)
        for follower, times in zip(
            got.followers[got.offsets[word] : got.offsets[word + 1]],
            got.times[got.offsets[word] : got.offsets[word + 1]],
            strict=True,
        )
    }
    assert found == together
    assert list(found) == sorted(found)


@settings(deadline=None, max_examples=150)
@given(sentences_of, unknown_too)
def test_pulls_are_those_of_the_counts(text, sentences):
    """Words that are not known (-1) have not been seen beside any."""
    left, right = Cohesion.of(AdjacentWords.of(*flat(text), WORDS)).pulls(*flat(sentences))
    want = np.array(oracles.pulls(text, sentences, SMOOTHING, STAY)).reshape(-1, 2)
    np.testing.assert_allclose(left, want[:, 0], rtol=1e-6)
    np.testing.assert_allclose(right, want[:, 1], rtol=1e-6)


@settings(deadline=None, max_examples=150)
@given(sentences_of, unknown_too)
def test_a_sentence_is_seen_if_each_word_follows_the_one_before_it_in_the_text(text, sentences):
    cohesion = Cohesion.of(AdjacentWords.of(*flat(text), WORDS))
    together = {two for sentence in text for two in pairwise(sentence)}
    want = [-1 not in sentence and together.issuperset(pairwise(sentence)) for sentence in sentences]
    assert cohesion.seen(*flat(sentences)).tolist() == want
    assert cohesion.seen(*flat(text)).all()


@pytest.mark.parametrize("sentences", [[], [[]], [[2]], [[], [1], []], [[-1]], [[0, 1]], [[-1, -1]]])
def test_short_sentences_have_no_neighbours_beyond_their_ends(sentences):
    left, right = Cohesion.of(AdjacentWords.of(*flat([[0, 1, 2], [0, 1]]), WORDS)).pulls(*flat(sentences))
    place = 0
    for sentence in sentences:
        for number in range(len(sentence)):
            assert (left[place] == 0) == (number == 0)
            assert (right[place] == 0) == (number == len(sentence) - 1)
            assert left[place] + right[place] < 1
            place += 1
    assert len(left) == len(right) == place


def test_a_text_without_words():
    nothing = Cohesion.of(AdjacentWords.of(*flat([[], []]), 0))
    left, right = nothing.pulls(*flat([[-1, -1]]))
    assert left[1] == right[0] == pytest.approx(1 / (1 + STAY))


def test_a_word_goes_with_the_neighbour_that_it_mostly_stands_beside():
    """`besoin de` holds together, so `de` goes with `besoin` rather than with the noun after it."""
    besoin, de, nouns = 0, 1, (2, 3, 4, 5)
    text = [[besoin, de, noun] for noun in nouns] * 5 + [[noun, noun] for noun in nouns] * 5
    left, right = Cohesion.of(AdjacentWords.of(*flat(text), WORDS)).pulls(*flat([[besoin, de, 2]]))
    assert left[1] > right[1]


def test_an_aligner_knows_its_training_text_and_keeps_what_it_knows(tmp_path):
    lines = [*TOY, *TOY[:3], ("", "x"), ("das " * 9, "y")]
    aligner = HMM(threads=1, iterations=1, max_length=8).fit(bitext_of(lines))
    source, target = aligner.cohesion()
    words = aligner.source_.vocabulary
    text = [line.lower().split() for line, other in lines if other and line and len(line.split()) <= 8]
    want = Cohesion.of(
        AdjacentWords.of(*flat([[words.number(word) for word in sentence] for sentence in text]), len(words))
    )
    aligner.save(tmp_path)
    for got, wanted in (
        (source, want),
        *zip(load_aligner(tmp_path).cohesion(), (source, target), strict=True),
    ):
        for field in ("counts", "offsets", "followers", "times"):
            np.testing.assert_array_equal(getattr(got, field), getattr(wanted, field))
    assert len(target.counts) == len(aligner.target_.vocabulary)
