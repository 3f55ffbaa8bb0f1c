"""Acronyms and the words that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.phrases.acronyms import Acronym, acronyms
from cepts.phrases.likeness import mark_acronyms


@pytest.mark.parametrize(
    ("short", "words", "span", "whole"),
    [
        ("NYC", "New York City", (0, 3), True),
        ("NYC", "in New York today", (1, 3), False),
        ("U.S.", "the United States of America", (1, 3), True),
        ("USA", "the United States of America", (1, 5), True),
        ("u.s.", "the united states", (1, 3), True),
        ("U.S", "United States", (0, 2), True),
        ("DOD", "Department of Defense", (0, 3), True),
        ("MPs", "Members of Parliament", (0, 3), True),
    ],
)
def test_what_an_acronym_stands_for(short, words, span, whole):
    assert acronyms([short], words.split()) == [Acronym((0, 1), span, whole)]
    assert acronyms(words.split(), [short]) == [Acronym(span, (0, 1), whole)]


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("it", "in time"),  # no capitals
        ("It", "in time"),
        ("UN", "United"),  # a letter is left over of two
        ("EU", "the Union of Europe"),  # in another order
        ("NATO", "North"),
        ("NYC", "New big York City"),  # a word that does not belong
        ("A", "Anna"),
        ("AB", "a b"),  # letters, not words
    ],
)
def test_what_it_does_not_stand_for(short, words):
    assert acronyms([short], words.split()) == []


def test_a_span_with_all_letters_wins():
    assert acronyms(["NYC"], ["New", "York", "City"]) == [Acronym((0, 1), (0, 3), True)]
    found = acronyms(["NYC"], ["New", "York", ",", "New", "York", "City"])
    assert found == [Acronym((0, 1), (3, 6), True)]


def test_acronyms_are_marked_with_their_span_and_their_words():
    lists = np.zeros((1, 2, 3, 3), dtype=np.uint8)
    mark_acronyms([Acronym((0, 1), (0, 3), True)], lists)
    assert np.argwhere(lists).tolist() == [[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0], [0, 0, 2, 0]]
    small = np.zeros((1, 1, 3, 2), dtype=np.uint8)
    mark_acronyms([Acronym((0, 1), (0, 3), True)], small)
    assert np.argwhere(small).tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 2, 0]]
