from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Dictionary
from cepts.errors import DataError, UsageError
from cepts.io import read_dictionary, write_dictionary


@pytest.fixture
def write(tmp_path):
    def write(content, name="d.txt"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def fails(match, path, error=DataError, **options):
    with pytest.raises(error, match=match) as caught:
        read_dictionary(path, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "the le\nhouse maison\n",
        "the\tle\r\nhouse\tmaison",
        "\ufeffthe  le\n\n house\t maison \n",
        b"the le\nhouse maison",
    ],
)
def test_two_columns(write, content):
    path = write(content)
    got = read_dictionary(path)
    assert got == Dictionary(("source", "target"), (("the", "le"), ("house", "maison")), "d.txt")
    assert read_dictionary(path, languages=["en", "fr"]).languages == ("en", "fr")


def test_one_entry_is_enough(write):
    assert len(read_dictionary(write("a b"))) == 1


def test_compressed(write):
    assert read_dictionary(write(gzip.compress(b"a b\n"), "d.gz")).entries == (("a", "b"),)


def test_a_tab_lets_words_hold_blanks_and_be_missing(write):
    notices = []
    got = read_dictionary(write("New York\tNueva York\na b\n-\t_\nx\t\n"), notices=notices)
    assert got.entries == (("New York", "Nueva York"), ("a", "b"), ("-", "_"), ("x", None))
    assert notices == [
        f"{write('', 'e').with_name('d.txt')}: 1 entry has a word in one language only, first in line 4."
    ]


@pytest.mark.parametrize("header", ["# en fr ru", "#en\tfr\tru", "# en\tfr\tru"])
def test_more_languages(write, header):
    path = write(f"{header}\nthe\tle\t\n\tmaison\tдом\na b c\n")
    got = read_dictionary(path)
    assert got.languages == ("en", "fr", "ru")
    assert got.entries == (("the", "le", None), (None, "maison", "дом"), ("a", "b", "c"))
    chosen = read_dictionary(path, languages=["ru", "en"])
    assert chosen.languages == ("ru", "en")
    assert chosen.entries == ((None, "the"), ("дом", None), ("c", "a"))
    fails("found the languages en, fr, ru, wanted it", path, languages=["en", "it"])


def test_more_languages_without_names(write):
    path = write("a\tb\tc\n\tx\ty\n")
    assert read_dictionary(path).languages == ("language 1", "language 2", "language 3")
    assert read_dictionary(path, languages=["x", "y", "z"]).languages == ("x", "y", "z")


def test_entries_without_the_chosen_languages_are_left_out(write):
    path = write("# en fr ru\na\t\t\n\tb\tc\n")
    assert read_dictionary(path, languages=["fr", "ru"]).entries == (("b", "c"),)
    fails("found no entry with a word of", write("# en fr ru\na\t\t\n"), languages=["fr", "ru"])


def test_only_a_first_line_is_a_header(write):
    assert read_dictionary(write("a b\n# x\n")).entries == (("a", "b"), ("#", "x"))
    fails("line 1: found the header '# #', wanted # and the names", write("# #\na b\n"))


def test_repeated_entries_are_taken_once(write):
    notices = []
    got = read_dictionary(write("a b\nc d\na\tb\na c\na b\n"), notices=notices)
    assert got.entries == (("a", "b"), ("c", "d"), ("a", "c"))
    assert len(notices) == 1
    assert "2 entries are repeated, first 'a b' (line 1, again in line 3)" in notices[0]


def test_json_lines(write):
    lines = [{"en": "house", "fr": "maison"}, {"fr": "le", "ru": None, "en": ""}, {"ru": "дом", "score": 3}]
    text = "\n".join(json.dumps(line) for line in lines)
    for name in ("d.jsonl", "d.txt"):
        got = read_dictionary(write(text, name))
        assert got.languages == ("en", "fr", "ru")
        assert got.entries == (("house", "maison", None), (None, "le", None), (None, None, "дом"))
    assert read_dictionary(write(text), languages=["fr", "en"]).entries == (("maison", "house"), ("le", None))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "d.txt is empty"),
        ("\n\n", "d.txt is empty"),
        ("# en fr\n", "d.txt is empty"),
        ("# en\na b\n", "line 1: found the header"),
        ("# en en\na b\n", "line 1: found the header"),
        ("house\n", "line 1: found 1 word in 'house', wanted at least 2"),
        ("a b\n\nc\n", "line 3: found 1 word in 'c', wanted 2 as the first entry"),
        ("a b\na b c\n", "line 2: found 3 words in 'a b c', wanted 2"),
        ("# en fr ru\na b\n", "line 2: found 2 words in 'a b', wanted 3 as the names in the header"),
        ("a b\n\t\n", "line 2: found no word, wanted at least one"),
        ("# x y z\n\t\t\n", "line 2: found no word, wanted at least one"),
        ('{"en": "a", "fr": "b"}\n{"en": ""}', "line 2: found no word, wanted at least one"),
        ('{"en": "a", "fr": "b"}\n{"en": 3}', "line 2: found .* wanted a text for each language"),
        ('{"en": "a", "fr": "b"}\n[1]', r"line 2: found '\[1\]', wanted an object such as"),
        ('{"en": "a", "fr": "b"}\n{"en', "line 2: found invalid JSON"),
        ('{"en": "a"}\n', "found words in en only"),
    ],
)
def test_mistakes(write, content, match):
    fails(match, write(content))


def test_options(write):
    fails("`languages` must be two", write("a b"), UsageError, languages=["en"])
    fails("`languages` must be two", write("a b"), UsageError, languages="en")
    fails("`languages` must be different", write("a b"), UsageError, languages=["en", "en"])
    fails(
        "line 1: found 2 words in 'a b', wanted 3 as the languages asked for", write("a b"), languages=["x", "y", "z"]
    )


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1, max_size=5).filter(
    lambda word: word == word.strip(" ")
)


@st.composite
def dictionaries(draw):
    languages = draw(st.sampled_from([("source", "target"), ("en", "fr"), ("en", "fr", "ru", "it")]))
    entry = st.tuples(*[st.one_of(st.none(), words)] * len(languages)).filter(any)
    return Dictionary(languages, tuple(draw(st.lists(entry, min_size=1, max_size=6, unique=True))))


@settings(deadline=None)
@given(dictionaries(), st.sampled_from(["d.tsv", "d.jsonl", "d.tsv.gz"]), st.booleans())
def test_what_is_written_is_read_back(tmp_path_factory, given, name, scored):
    path = tmp_path_factory.getbasetemp() / name
    write_dictionary(path, given, scores=[0.5] * len(given) if scored else None)
    got = read_dictionary(path)
    assert got.entries == given.entries
    assert got.languages == given.languages


def test_the_text_itself(tmp_path):
    path = tmp_path / "d.tsv"
    pairs = Dictionary(("source", "target"), (("a", "b"), ("c", None)))
    write_dictionary(path, pairs)
    assert path.read_text() == "a\tb\nc\t\n"
    write_dictionary(path, pairs, scores=[1, 0.123456789])
    assert path.read_text() == "# source\ttarget\tscore\na\tb\t1\nc\t\t0.123457\n"
    write_dictionary(path, pairs, scores=[1, 2], header=False)
    assert path.read_text() == "a\tb\t1\nc\t\t2\n"
    write_dictionary(path, Dictionary(("en", "fr"), (("a", "b"),)))
    assert path.read_text() == "# en\tfr\na\tb\n"


def test_words_that_cannot_be_written(tmp_path):
    for word in ("a\tb", "a\n", " a", ""):
        with pytest.raises(DataError, match="entry 1 has") as caught:
            write_dictionary(tmp_path / "d.tsv", Dictionary(("source", "target"), ((word, "b"),)))
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="entry 1 has no word"):
        write_dictionary(tmp_path / "d.tsv", Dictionary(("source", "target"), ((None, None),)))
    with pytest.raises(ValueError, match="`scores` must have one for each"):
        write_dictionary(tmp_path / "d.tsv", Dictionary(("source", "target"), (("a", "b"),)), scores=[])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line", [rb'{"en": "a\ud800", "fr": "x"}', rb'{"en": "\udc80", "fr": "x"}', rb'{"\udfff": "a"}']
)
def test_half_a_character_is_refused(tmp_path, line):
    (tmp_path / "x.jsonl").write_bytes(b'{"en": "\\ud83d\\ude00", "fr": "\xff"}\n' + line + b"\n")
    with pytest.raises(DataError, match=r"x\.jsonl, line 2: found \\ud[89a-f]\w\w in .*, which is half a character"):
        read_dictionary(tmp_path / "x.jsonl")
