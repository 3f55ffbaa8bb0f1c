from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import flat
from cepts.data import offsets_of
from cepts.kernels.classes import count_classes, exchange
from cepts.words.adjacent import AdjacentWords
from cepts.words.classes import _bigrams, word_classes

WORDS = 9
texts = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=6), max_size=8)


def criterion(sentences, class_of):
    """Sum N(c,c') log N(c,c') - 2 sum N(c) log N(c), counted token by token."""
    joint, single = {}, {}
    for sentence in sentences:
        found = ["edge", *(int(class_of[word]) for word in sentence), "edge"]
        for bigram in pairwise(found):
            joint[bigram] = joint.get(bigram, 0) + 1
        for name in found[1:-1]:
            single[name] = single.get(name, 0) + 1
    return sum(n * np.log(n) for n in joint.values()) - 2 * sum(n * np.log(n) for n in single.values())


def edge_to_edge(sentences):
    """The text as one line with an edge between sentences; where one ends, the next begins."""
    return [WORDS, *(word for sentence in sentences for word in [*sentence, WORDS])]


@given(texts)
def test_bigrams_are_those_of_the_text(sentences):
    after, before = (
        {
            (word, int(found.others[place])): found.counts[place]
            for word in range(WORDS + 1)
            for place in range(found.rows[word], found.rows[word + 1])
        }
        for found in _bigrams(AdjacentWords.of(*flat(sentences), WORDS))
    )
    line = edge_to_edge(sentences)
    want = {}
    for bigram in pairwise(line):
        want[bigram] = want.get(bigram, 0) + 1
    assert after == want
    assert before == {(second, first): count for (first, second), count in want.items()}


@settings(deadline=None)
@given(texts, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_gain_is_that_of_the_criterion_and_each_word_takes_its_best_class(sentences, classes, seed):
    ids, offsets = flat(sentences)
    random = np.random.default_rng(seed)
    class_of = np.append(random.integers(0, classes, WORDS), classes).astype(np.int32)
    frequencies = np.bincount(ids, minlength=WORDS).astype(float)
    bigrams = _bigrams(AdjacentWords.of(ids, offsets, WORDS))
    joint = np.empty((classes + 1, classes + 1))
    count_classes(bigrams[0], class_of, joint)
    totals = np.bincount(class_of[:WORDS], frequencies, minlength=classes)
    for word in random.permutation(WORDS):
        options = []
        for other in range(classes):
            trial = class_of.copy()
            trial[word] = other
            options.append(criterion(sentences, trial))
        before, here = criterion(sentences, class_of), class_of[word]
        moved, gained = exchange(np.array([word]), frequencies, *bigrams, class_of, joint, totals)
        after = criterion(sentences, class_of)
        assert moved == (class_of[word] != here)
        assert gained >= 0
        assert after - before == pytest.approx(gained, abs=1e-9)
        assert after == pytest.approx(max(options), abs=1e-5)
    # What is kept up to date is what counting gives.
    again = np.empty_like(joint)
    count_classes(bigrams[0], class_of, again)
    np.testing.assert_array_equal(joint, again)
    np.testing.assert_array_equal(totals, np.bincount(class_of[:WORDS], frequencies, minlength=classes))


@settings(deadline=None)
@given(texts, st.integers(1, 12))
def test_more_passes_never_lower_the_criterion(sentences, classes):
    ids, offsets = flat(sentences)
    found = [word_classes(AdjacentWords.of(ids, offsets, WORDS), classes=classes, passes=passes) for passes in range(5)]
    steps = [criterion(sentences, class_of) for class_of in found]
    assert np.diff(steps).min() >= -1e-9
    for class_of in found:
        assert class_of.shape == (WORDS,)
        assert class_of.dtype == np.int32
        assert class_of.min() >= 0
        assert class_of.max() < classes


def test_words_that_stand_in_like_places_share_a_class():
    random = np.random.default_rng(0)
    # determiner (0-2) noun (3-8) verb (9-12) determiner noun
    kinds = [(0, 3), (3, 9), (9, 13), (0, 3), (3, 9)]
    sentences = [[random.integers(*kind) for kind in kinds] for _ in range(300)]
    ids, offsets = flat(sentences)
    class_of = word_classes(AdjacentWords.of(ids, offsets, 13), classes=3)
    groups = [set(class_of[:3]), set(class_of[3:9]), set(class_of[9:])]
    assert [len(group) for group in groups] == [1, 1, 1]
    assert len(set.union(*groups)) == 3
    np.testing.assert_array_equal(class_of, word_classes(AdjacentWords.of(ids, offsets, 13), classes=3))


def test_no_text_no_words_and_words_that_do_not_occur():
    nothing = np.empty(0, dtype=np.int32)
    assert word_classes(AdjacentWords.of(nothing, offsets_of([]), 0)).tolist() == []
    assert word_classes(AdjacentWords.of(nothing, offsets_of([0, 0]), 2), classes=3).shape == (2,)
    assert word_classes(AdjacentWords.of(np.array([1], dtype=np.int32), offsets_of([1]), 3), classes=2)[
        [0, 2]
    ].tolist() == [1, 1]
    with pytest.raises(ValueError, match="`classes` must be 1 or more"):
        word_classes(AdjacentWords.of(nothing, offsets_of([]), 0), classes=0)
