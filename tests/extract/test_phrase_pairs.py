from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_extract as oracles
from cepts.data import Alignments, Bitext, Text
from cepts.errors import DataError, UsageError
from cepts.extract import PhraseNumbers, derive, phrase_pairs, phrase_table

words = st.lists(st.sampled_from("abc"), max_size=5)


@st.composite
def linked(draw):
    """Sentence pairs and links of them."""
    pairs = draw(st.lists(st.tuples(words, words), min_size=1, max_size=4))
    links = [
        draw(st.sets(st.tuples(st.integers(0, len(s) - 1), st.integers(0, len(t) - 1)))) if s and t else set()
        for s, t in pairs
    ]
    return pairs, links


@settings(deadline=None)
@given(linked(), st.integers(1, 5))
def test_phrase_pairs_are_those_of_the_definition(made, longest):
    pairs, links = made
    got = phrase_pairs(Alignments.from_links(links), Bitext.from_tokens(pairs), longest=longest)
    for pair, ((source, target), these) in enumerate(zip(pairs, links, strict=True)):
        wanted = oracles.consistent_phrases(these, len(source), len(target), longest)
        assert sorted(got[pair]) == sorted(wanted)


@settings(deadline=None)
@given(linked(), st.integers(1, 4))
def test_relative_frequencies_are_those_of_counted_phrases(made, longest):
    pairs, links = made
    bitext = Bitext.from_tokens(pairs)
    found = phrase_pairs(Alignments.from_links(links), bitext, longest=longest)
    numbers = PhraseNumbers(bitext.source, longest), PhraseNumbers(bitext.target, longest)
    table = phrase_table(found, *numbers)
    counted = Counter(
        (tuple(source[a:b]), tuple(target[c:d]))
        for pair, (source, target) in enumerate(pairs)
        for a, b, c, d in found[pair]
    )
    assert len(table) == len(counted)
    names = [{}, {}]
    for pair, sides in enumerate(pairs):
        for side, sentence in enumerate(sides):
            for start in range(len(sentence)):
                for stop in range(start + 1, min(start + longest, len(sentence)) + 1):
                    number = int(numbers[side].of(np.array([pair]), np.array([start]), np.array([stop]))[0])
                    # Equal phrases have equal numbers, others have others.
                    assert names[side].setdefault(number, tuple(sentence[start:stop])) == tuple(sentence[start:stop])
    assert all(len(set(known.values())) == len(known) for known in names)
    for side, known in enumerate(names):
        assert {number: tuple(numbers[side].words(number)) for number in known} == known
    for source, target, count, forward, reverse in zip(
        table.source, table.target, table.counts, table.forward, table.reverse, strict=True
    ):
        one, other = names[0][int(source)], names[1][int(target)]
        assert count == counted[one, other]
        assert forward == pytest.approx(count / sum(n for (s, _), n in counted.items() if s == one))
        assert reverse == pytest.approx(count / sum(n for (_, t), n in counted.items() if t == other))


@settings(deadline=None, max_examples=60)
@given(linked(), st.sampled_from([-1.0, -10.0]))
def test_the_best_derivation_is_that_of_all(made, fallback):
    """The table is of the pairs but the last, whose target is derived."""
    pairs, links = made
    bitext = Bitext.from_tokens(pairs)
    numbers = PhraseNumbers(bitext.source, 3), PhraseNumbers(bitext.target, 3)
    found = phrase_pairs(Alignments.from_links(links), bitext, longest=3).part(0, len(pairs) - 1)
    table = phrase_table(found, *numbers)
    counted = Counter(
        (tuple(pairs[pair][0][a:b]), tuple(pairs[pair][1][c:d]))
        for pair in range(len(found))
        for a, b, c, d in found[pair]
    )
    sums = Counter()
    for (one, _), count in counted.items():
        sums[one] += count
    logs = {both: float(np.log(count / sums[both[0]])) for both, count in counted.items()}
    (got,) = derive(table, *numbers, [len(pairs) - 1], fallback=fallback)
    source, target = map(tuple, pairs[-1])
    assert got.log_probability == pytest.approx(oracles.best_derivation(source, target, logs, fallback))
    assert 0 <= got.target_words <= len(target)
    assert 0 <= got.source_words <= len(source)
    assert got.phrases <= min(got.source_words, got.target_words)
    unexplained = len(source) + len(target) - got.source_words - got.target_words
    assert got.log_probability <= fallback * unexplained + 1e-9


def test_a_cept_of_adjacent_words_is_a_phrase_pair_and_no_part_of_it_is():
    links = [(1, 1), (1, 2), (2, 1), (2, 2)]
    bitext = Bitext.from_tokens([(["a", "b", "c", "d"], ["w", "x", "y", "z"])])
    got = phrase_pairs(Alignments.from_links([links]), bitext)[0]
    assert (1, 3, 1, 3) in got
    assert all(start <= 1 and stop >= 3 and left <= 1 and right >= 3 for start, stop, left, right in got)
    assert len(got) == 16  # with or without each of the four words at its edges, which have no links


def test_bad_input_is_refused():
    bitext = Bitext.from_tokens([(["a"], ["x"])])
    with pytest.raises(UsageError, match="`longest` must be 1 or more"):
        phrase_pairs(Alignments.from_links([[]]), bitext, longest=0)
    with pytest.raises(DataError, match="of 2 sentence pairs, but there are 1"):
        phrase_pairs(Alignments.from_links([[], []]), bitext)
    with pytest.raises(DataError, match="within their sentences"):
        phrase_pairs(Alignments.from_links([[(0, 1)]]), bitext)
    assert PhraseNumbers(Text.from_tokens([[]]), 3).count == 0
