from __future__ import annotations

import pytest

from cepts.words.forms import Forms, distinct, number


@pytest.mark.parametrize(
    ("forms", "wanted"),
    [
        (Forms(), ["élèves", "straße", "1998", "élèves"]),
        (Forms(lowercase=False), ["Élèves", "STRAßE", "1998", "élèves"]),
        (Forms(prefix=3), ["élè", "str", "199", "élè"]),
        (Forms(lowercase=False, prefix=1), ["É", "S", "1", "é"]),
    ],
)
def test_forms_of_words(forms, wanted):
    assert forms.of(["Élèves", "STRAßE", "1998", "élèves"]) == wanted


def test_letters_are_counted_after_lower_casing():
    # The lower case of this letter is two characters.
    assert Forms(prefix=2).of(["İstanbul"]) == ["i̇"]


def test_words_of_one_form_have_one_number():
    vocabulary, places = number(Forms().of(["The", "the", "house", "THE"]))
    assert vocabulary.words == ["the", "house"]
    assert places.tolist() == [0, 0, 1, 0]


def test_distinct_words_are_numbered_by_first_use():
    words, places = distinct(["b", "a", "b"])
    assert words == ["b", "a"]
    assert places.tolist() == [0, 1, 0]
    assert distinct([])[0] == []
