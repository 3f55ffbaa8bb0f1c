"""Dictionary entries as rows of views."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_spaces_models as oracles
from cepts.data import Dictionary, Vectors
from cepts.errors import DataError, UsageError
from cepts.spaces.entries import entry_weights, find_entries, identical_strings

NAMES = ("en", "fr", "ru", "it")


def view(words, name=""):
    return Vectors.from_words(words, np.zeros((len(words), 2), dtype=np.float32), name)


def numbered(count=3, names=NAMES[:3]):
    """Views whose words are `<name><row>`."""
    return [view([f"{name}{row}" for row in range(count)], name) for name in names]


def lines(entries):
    return {tuple(row) for row in entries.rows.tolist()}


def dictionary(languages, *entries, name=""):
    return Dictionary(languages, entries, name)


# -- joining -------------------------------------------------------------------------------------------------


def rows_of(views, words):
    """Sets of entries, most of two words, with -1 where a view has none."""
    pairs = st.tuples(
        st.tuples(st.integers(0, views - 1), st.integers(0, views - 1)).filter(lambda pair: pair[0] < pair[1]),
        st.integers(0, words - 1),
        st.integers(0, words - 1),
    ).map(lambda tie: tuple({tie[0][0]: tie[1], tie[0][1]: tie[2]}.get(view, -1) for view in range(views)))
    wider = st.tuples(*[st.integers(-1, words - 1)] * views).filter(lambda row: sum(word >= 0 for word in row) > 2)
    return st.tuples(
        st.lists(pairs, min_size=1, max_size=12, unique=True), st.lists(wider, max_size=2, unique=True)
    ).map(lambda parts: parts[0] + parts[1])


@settings(max_examples=80, deadline=None)
@given(st.one_of(rows_of(3, 3), rows_of(4, 2)))
def test_joined_entries_are_all_words_that_are_tied_in_pairs(rows):
    names = NAMES[: len(rows[0])]
    views = numbered(3, names)
    dictionaries = []
    for row in rows:  # a dictionary each, with the languages that the entry has
        known = [place for place, word in enumerate(row) if word >= 0]
        languages = tuple(names[place] for place in known)
        dictionaries.append(dictionary(languages, tuple(f"{names[place]}{row[place]}" for place in known)))
    found = find_entries(dictionaries, views)
    assert lines(found) == oracles.joined(rows)
    assert len(found) == len(lines(found))
    assert found.asked == len(rows)
    assert found.coverage == 1.0


def test_three_dictionaries_make_one_entry_of_three_words():
    en_fr = dictionary(("en", "fr"), ("en0", "fr0"), ("en1", "fr1"))
    en_ru = dictionary(("en", "ru"), ("en0", "ru0"))
    fr_ru = dictionary(("fr", "ru"), ("fr0", "ru0"), ("fr1", "ru1"))
    found = find_entries([en_fr, en_ru, fr_ru], numbered())
    assert lines(found) == {(0, 0, 0), (1, 1, -1), (-1, 1, 1)}
    assert found.complete == 1


def test_two_views_are_never_joined():
    found = find_entries([dictionary(("en", "fr"), ("en0", "fr0"), ("en0", "fr1"))], numbered(names=NAMES[:2]))
    assert lines(found) == {(0, 0), (0, 1)}


# -- finding and counting ------------------------------------------------------------------------------------


def test_unknown_and_repeated_entries_are_counted():
    entries = ("en0", "fr0"), ("en0", "fr0"), ("en1", "missing"), ("missing", "fr1"), ("en2", "fr1")
    found = find_entries([dictionary(("en", "fr"), *entries)], numbered(names=NAMES[:2]))
    assert lines(found) == {(0, 0), (2, 1)}
    assert (found.asked, found.unknown, len(found)) == (5, 2, 2)
    assert found.coverage == pytest.approx(0.6)
    assert found.complete == 2


def test_an_entry_may_lack_a_word_and_keep_the_others():
    entries = ("en0", None, "ru0"), ("en1", "missing", "ru1"), ("en2", None, None), (None, None, None)
    found = find_entries([dictionary(NAMES[:3], *entries)], numbered())
    assert lines(found) == {(0, -1, 0), (1, -1, 1)}
    assert found.unknown == 2
    assert found.complete == 0


def test_columns_go_by_name_and_else_by_order():
    swapped = dictionary(("fr", "en"), ("fr1", "en0"))
    assert lines(find_entries([swapped], numbered(names=NAMES[:2]))) == {(0, 1)}
    other = dictionary(("english", "french"), ("en0", "fr1"))
    assert lines(find_entries([other], numbered(names=NAMES[:2]))) == {(0, 1)}
    unnamed = [view(["a", "b"]), view(["c", "d"])]
    assert lines(find_entries([dictionary(("", ""), ("b", "c"))], unnamed)) == {(1, 0)}


def test_languages_that_are_no_views_are_refused():
    with pytest.raises(UsageError, match=r"pairs\.txt: found the languages en, de, wanted some of en, fr, ru") as error:
        find_entries([dictionary(("en", "de"), ("en0", "de0"), name="pairs.txt")], numbered())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("entries", [(), (("fr0", "en0"),), (("en0", None),)])
def test_no_entry_at_all_is_an_error_that_says_what_was_looked_for(entries):
    asked = dictionary(("en", "fr"), *entries, name="pairs.txt")
    with pytest.raises(DataError, match=f"pairs.txt: found no entry among {len(entries)} with words") as error:
        find_entries([asked], numbered(names=NAMES[:2]))
    assert "en 3 words, fr 3 words" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(DataError, match="the dictionary: found no entry among 0"):
        find_entries([], numbered())


# -- weights -------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 3), min_size=1, max_size=12))
def test_an_entry_weighs_the_geometric_mean_of_its_words_shares(rows):
    rows = np.array(rows)
    wanted = []
    for row in rows:
        known = [(place, word) for place, word in enumerate(row) if word >= 0]
        shares = [1.0 / sum(other[place] == word for other in rows) for place, word in known]
        wanted.append(np.prod(shares) ** (1.0 / len(shares)) if shares else 1.0)
    np.testing.assert_allclose(entry_weights(rows), wanted)


def test_a_word_with_many_entries_counts_about_once():
    weights = entry_weights(np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 4]]))
    np.testing.assert_allclose(weights, [0.5, 0.5, 0.5, 0.5, 1.0])


# -- identical strings ---------------------------------------------------------------------------------------


def test_identical_strings_are_those_of_two_views_or_more():
    views = [view(["taxi", "7", "dog"], "en"), view(["7", "taxi", "chien"], "fr"), view(["chien", "x", "7"], "it")]
    found = identical_strings(views)
    assert found.languages == ("en", "fr", "it")
    assert set(found) == {("taxi", "taxi", None), ("7", "7", "7"), (None, "chien", "chien")}
    assert lines(find_entries([found], views)) == {(0, 1, -1), (1, 0, 2), (-1, 2, 0)}


def test_identical_strings_of_views_without_names_are_found():
    views = [view(["taxi", "dog"]), view(["chien", "taxi"])]
    assert lines(find_entries([identical_strings(views)], views)) == {(0, 1)}


def test_no_identical_strings_are_an_error():
    views = [view(["a"], "en"), view(["b"], "fr")]
    with pytest.raises(DataError, match="identical strings: found no entry among 0"):
        find_entries([identical_strings(views)], views)


# -- notices -------------------------------------------------------------------------------------------------


def noted(entries, count=10):
    found: list[str] = []
    find_entries([dictionary(("source", "target"), *entries, name="d.txt")], numbered(count, NAMES[:2]), found)
    return found


def test_few_entries_found_are_noted():
    unknown = [(f"x{n}", f"y{n}") for n in range(9)]
    assert noted([("en0", "fr0"), ("en1", "fr1")]) == []
    assert noted([("en0", "fr0"), *unknown]) == [
        "d.txt: found 1 of 10 entries among the words of en and fr; check languages and spelling."
    ]


def test_exchanged_columns_and_capitals_are_named_as_the_cause():
    (found,) = noted([("en0", "fr0"), *((f"fr{n}", f"en{n}") for n in range(1, 9))])
    assert found == (
        "d.txt: found 1 of 9 entries, but 8 with its columns exchanged; name the languages of its columns in their "
        "order."
    )
    (found,) = noted([("en0", "fr0"), *((f"EN{n}", f"Fr{n}") for n in range(1, 9))])
    assert "lower-cased, 9 would be found" in found


def test_where_only_exchanged_columns_are_found_the_error_says_so():
    with pytest.raises(DataError, match="with its columns exchanged, 2 entries are found"):
        noted([("fr0", "en0"), ("fr1", "en1")])
