from __future__ import annotations

from itertools import pairwise

import pytest

from cepts.data import Sentence, SentencePair
from cepts.kernels.phrase_features import (
    CONTENT,
    FUNCTION,
    NUMBER,
    PUNCTUATION,
    WORD,
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
    assert same[:, WORD.form].tolist() == [False, False, False]
    assert same[:, WORD.lower].tolist() == [True, True, False]
    assert same[:, WORD.lemma].tolist() == [True, True, True]
    assert len(source) == 3


def test_without_lemmas_the_lower_cased_form_stands_for_them():
    found = words(["Dogs", "dogs"])
    assert found.numbers[:, WORD.lemma].tolist() == found.numbers[:, WORD.lower].tolist()
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
        ("🎉", "NN", CONTENT),
        (":-)", None, CONTENT),
        ("§", None, PUNCTUATION),
        ("1990s", "NNS", NUMBER),
        ("3.5", "DT", NUMBER),
    ],
)
def test_kinds_of_words(token, tag, kind):
    found = words([token], pos=None if tag is None else (tag,))
    assert found.numbers[:, WORD.kind].tolist() == [kind]


def test_names_that_the_inventory_lacks_are_zero():
    found = words(["The", "cat"], pos=("DT", "JJ"), chunk=("B-NP", "B-VP")).numbers
    assert found[:, WORD.tag].tolist() == [1, 0] and found[:, WORD.chunk].tolist() == [1, 0]
    assert found[:, WORD.frequent].tolist() == [2, 0]


def test_chunks_of_words():
    found = words(["a", "b", "c", "d", "e"], chunk=("B-NP", "I-NP", "O", "B-NP", "B-VP")).numbers
    assert found[:, WORD.chunk_start].tolist() == [0, 0, 2, 3, 4]
    assert found[:, WORD.chunk_stop].tolist() == [2, 2, 3, 4, 5]
    assert words(["a", "b"]).numbers[:, WORD.chunk_start].tolist() == [0, 1]


def test_characters_are_lower_cased_and_any_text_has_them():
    found = words(["Ab", "ü", "İx", "\udc80"])
    runs = pairwise(found.character_offsets.tolist())
    assert ["".join(map(chr, found.characters[a:b])) for a, b in runs] == ["ab", "ü", "i̇x", "\udc80"]
    assert found.numbers[:, WORD.capital].tolist() == [1, 0, 1, 0]


def test_names_are_content_words_with_a_capital():
    assert words(["The", "Ann", "ann", "B2", "."], pos=("DT", "NN", "NN", "NN", ".")).names.tolist() == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_words_in_typographic_and_in_plain_form_are_the_same():
    source, target = words_of(SentencePair(Sentence(("It", "’s", "“")), Sentence(("It", "'s", '"'))), INVENTORY)
    assert (source.numbers[:, WORD.form] == target.numbers[:, WORD.form]).all()
    assert source.tokens == ("It", "'s", '"')


def test_words_that_tell_enough_to_stand_anywhere():
    inventory = Inventory(words=("more", "people", "the"))
    tokens = ("the", "people", "more", "Oslo", "3", ",", "🎉")
    for tags, more in ((("DT", "NNS", "RBR", "NNP", "CD", ",", "NN"), [1, 3, 4, 6]), (None, [3, 4, 6])):
        found, _ = words_of(SentencePair(Sentence(tokens, pos=tags), Sentence(("x",))), inventory)
        assert found.telling.nonzero()[0].tolist() == more
