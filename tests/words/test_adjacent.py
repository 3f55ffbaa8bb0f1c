"""Adjacent words of a text that is counted in parts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import flat
from cepts.words.adjacent import AdjacentSum, AdjacentWords

WORDS = 5
TEXTS = st.lists(st.lists(st.lists(st.integers(0, WORDS - 1), max_size=5), max_size=4), max_size=6)


def found(adjacent: AdjacentWords) -> tuple[list[int], dict[tuple[int, int], int]]:
    pairs = list(zip(adjacent.first.tolist(), adjacent.second.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return adjacent.counts.tolist(), dict(zip(pairs, adjacent.times.tolist(), strict=True))


@given(texts=TEXTS)
@settings(deadline=None)
def test_the_sum_of_parts_has_the_pairs_of_all_of_them(texts):
    adding = AdjacentSum(WORDS)
    for text in texts:
        adding.add(AdjacentWords.of(*flat(text), WORDS))
    words, pairs = Counter(), Counter()
    for text in texts:
        # The end of a sentence is one boundary with the start of the next.
        line = [WORDS]
        for sentence in text:
            line += [*sentence, WORDS]
            words.update(sentence)
        pairs.update(pairwise(line))
    assert found(adding.total()) == ([words[word] for word in range(WORDS)], dict(pairs))


def test_many_small_texts_need_no_more_memory_than_their_sum():
    words = 20_000
    part = AdjacentWords.of(*flat([[1, 2, 3], [2, 3]]), words)
    adding = AdjacentSum(words)
    held = []
    for _ in range(200):
        adding.add(AdjacentWords.of(*flat([[1, 2, 3], [2, 3]]), words))
        held.append(sum(len(each.times) for each in adding._waiting))
        assert all(each.counts is adding._counts for each in adding._waiting)
    assert max(held) <= len(part.times)


def test_pairs_of_a_part_stand_for_those_of_the_whole():
    part = AdjacentWords.of(*flat([[0, 1], [0, 1], [2]]), WORDS)
    whole = part.scaled(15)
    assert np.array_equal(whole.times, 3 * part.times)
    assert np.array_equal(whole.counts, part.counts)
