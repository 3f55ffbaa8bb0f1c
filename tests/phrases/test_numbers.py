"""The values of numbers, in words and in figures."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles_numbers as oracles
from cepts.phrases.numbers import LONGEST, numbers_in, same_numbers


def numbers(text):
    tokens = text.split()
    return {" ".join(tokens[one.start : one.stop]): (one.kind, one.value) for one in numbers_in(tokens)}


@pytest.mark.parametrize(
    "texts",
    [
        ["twice", "two times", "2 times", "2x", "double", "twice as much", "twofold"],
        ["2", "two", "2.0"],
        ["a dozen", "twelve", "12", "one dozen"],
        ["half", "50 %", "50%", "50 percent", "50 per cent", "1/2", "one half", "a half", "one-half"],
        ["third", "3rd"],
        ["1,000", "1000", "a thousand", "one thousand", "1k"],
        ["twenty-one", "twenty one", "21"],
        ["once", "one time"],
        ["both", "the two"],
        ["two thirds", "two-thirds", "2/3"],
        ["2.5 million", "2,500,000", "2.5m"],
        ["one hundred and five thousand", "105,000", "105 thousand"],
        ["twenty-first", "21st"],
    ],
)
def test_the_same_value_in_many_words(texts):
    found = [numbers(text)[text] for text in texts]
    assert len(set(found)) == 1
    first = texts[0].split()
    for text in texts[1:]:
        assert any(one.source[:2] == (0, len(first)) for one in same_numbers(first, text.split()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2", "3"),
        ("two", "twice"),
        ("third", "three"),
        ("half", "0.5 %"),
        ("two hundred", "2"),
        ("1,000", "1.000"),
        ("once", "1"),
        ("half", "50"),
        ("a", "1"),
        ("both", "2"),
        ("five and six", "11"),
        ("1/2", "2/1"),
        ("10:30", "10"),
    ],
)
def test_different_values_stay_apart(one, other):
    assert same_numbers(one.split(), other.split()) == []


def test_parts_of_a_number_are_not_numbers():
    assert numbers("two hundred people came 2 times") == {
        "two hundred": ("count", 200),
        "2": ("count", 2),
        "2 times": ("times", 2),
    }
    assert numbers("five and six are not a number , nor is an apple") == {"five": ("count", 5), "six": ("count", 6)}


def test_the_same_words_are_no_pair_and_what_is_said_twice_is_not_alone():
    assert same_numbers(["two", "dogs"], ["two", "cats"]) == []
    (pair,) = same_numbers(["two", "dogs"], ["2", "dogs"])
    assert pair.alone
    assert [one.alone for one in same_numbers(["two", "dogs"], ["2", "dogs", "and", "2", "cats"])] == [False, False]
    assert [one.alone for one in same_numbers(["two", "or", "2"], ["2"])] == [False]


@given(st.integers(0, 999_999), st.booleans())
def test_every_number_in_words_has_its_value(value, british):
    words = oracles.spelt(value, british=british).split()
    (found,) = numbers_in(["the", *words, "dogs"]) or [None]
    if value == 2:
        return  # `the two` is also both
    if len(words) > LONGEST:
        assert found is None
    else:
        assert found == (1, 1 + len(words), "count", Fraction(value))


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_figures_with_and_without_commas_are_the_same_only_for_one_value(one, other):
    found = same_numbers([f"{one:,}"], [f"{other:.1f}"])
    assert bool(found) == (one == other)


WORDS = "a the two times hundred and 2 , % percent per cent third half one-half - 1/0 +"


@given(st.lists(st.sampled_from(WORDS.split())))
def test_numbers_lie_in_the_sentence_and_have_words(tokens):
    for one in numbers_in(tokens):
        assert 0 <= one.start < one.stop <= len(tokens)
        assert one.stop - one.start <= LONGEST


@pytest.mark.parametrize("end", ["", "th", "x", "%", "/3", "k", ".5"])
def test_endless_figures_are_no_number(end):
    assert numbers_in(["9" * 5000 + end]) == []
