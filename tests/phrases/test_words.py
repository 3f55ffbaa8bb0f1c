from __future__ import annotations

from itertools import pairwise

import pytest

from cepts.data import Sentence, SentencePair
from cepts.kernels.phrase_features import (
    CAPITAL,
    CHUNK,
    CHUNK_START,
    CHUNK_STOP,
    CONTENT,
    FORM,
    FREQUENT,
    FUNCTION,
    KIND,
    LEMMA,
    LOWER,
    NUMBER,
    PUNCTUATION,
    TAG,
)
from cepts.phrases.inventory import Inventory
from cepts.phrases.words import words_of

INVENTORY = Inventory(("DT", "NN"), ("np",), ("is", "the"))


def words(tokens, **columns):
    return words_of(SentencePair(Sentence(tuple(tokens), **columns), Sentence(("x",))), INVENTORY)[0]


def test_forms_have_one_numbering_for_both_sides():
    source, target = words_of(
        SentencePair(
            Sentence(("The", "Dogs", "ran"), lemma=("the", "Dog", "run")),
            Sentence(("the", "dogs", "run"), lemma=("the", "dog", "run")),
        ),
        INVENTORY,
    )
    same = source.numbers == target.numbers
    assert same[:, FORM].tolist() == [False, False, False]
    assert same[:, LOWER].tolist() == [True, True, False]
    assert same[:, LEMMA].tolist() == [True, True, True]
    assert len(source) == 3


def test_without_lemmas_the_lower_cased_form_stands_for_them():
    found = words(["Dogs", "dogs"])
    assert found.numbers[:, LEMMA].tolist() == found.numbers[:, LOWER].tolist()
    assert found.lemmas == ("dogs", "dogs")


@pytest.mark.parametrize(
    ("token", "tag", "kind"),
    [
        ("dog", "NN", CONTENT),
        ("the", "DT", FUNCTION),
        ("the", None, FUNCTION),
        ("dog", None, CONTENT),
        ("is", "VBZ", FUNCTION),
        ("runs", "VBZ", CONTENT),
        ("with", "ADP", FUNCTION),
        (",", "NN", PUNCTUATION),
        ("...", None, PUNCTUATION),
        ("1990s", "NNS", NUMBER),
        ("3.5", "DT", NUMBER),
    ],
)
def test_kinds_of_words(token, tag, kind):
    found = words([token], pos=None if tag is None else (tag,))
    assert found.numbers[:, KIND].tolist() == [kind]


def test_names_that_the_inventory_lacks_are_zero():
    found = words(["The", "cat"], pos=("DT", "JJ"), chunk=("B-NP", "B-VP")).numbers
    assert found[:, TAG].tolist() == [1, 0] and found[:, CHUNK].tolist() == [1, 0]
    assert found[:, FREQUENT].tolist() == [2, 0]


def test_chunks_of_words():
    found = words(["a", "b", "c", "d", "e"], chunk=("B-NP", "I-NP", "O", "B-NP", "B-VP")).numbers
    assert found[:, CHUNK_START].tolist() == [0, 0, 2, 3, 4]
    assert found[:, CHUNK_STOP].tolist() == [2, 2, 3, 4, 5]
    assert words(["a", "b"]).numbers[:, CHUNK_START].tolist() == [0, 1]


def test_characters_are_lower_cased_and_any_text_has_them():
    found = words(["Ab", "ü", "İx", "\udc80"])
    runs = pairwise(found.character_offsets.tolist())
    assert ["".join(map(chr, found.characters[a:b])) for a, b in runs] == ["ab", "ü", "i̇x", "\udc80"]
    assert found.numbers[:, CAPITAL].tolist() == [1, 0, 1, 0]


def test_names_are_content_words_with_a_capital():
    assert words(["The", "Ann", "ann", "B2", "."], pos=("DT", "NN", "NN", "NN", ".")).names.tolist() == [
        False,
        True,
        False,
        False,
        False,
    ]
