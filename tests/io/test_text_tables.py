"""Bitexts in JSON lines and CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import words_of
from cepts.errors import DataError
from cepts.io import read_bitext
from cepts.io.columns import is_language

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
ROWS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pairs(*arguments, **options):
    return [(" ".join(source), " ".join(target)) for source, target in read_bitext(*arguments, **options)]


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


# -- JSON lines ------------------------------------------------------------------------------------------------


def test_translations_by_language(write):
    content = lines(
        {"id": 1, "translation": {"en": "the house", "fr": "la maison", "de": "das Haus"}},
        {"id": 2, "translation": {"en": "a\nb", "fr": None}},
        {"id": 3, "translation": None},
        {"id": 4},
    )
    want = [("the house", "la maison"), ("a b", ""), ("", ""), ("", "")]
    notices: list[str] = []
    path = write("x.jsonl", content)
    assert pairs(path, notices=notices) == want
    told = "the source is en and the target is fr (also there: de); choose others with `languages`."
    assert notices == [f"{path}: {told}"]
    assert pairs(write("no_suffix", content)) == want
    assert pairs(write("x.json.gz", gzip.compress(content.encode()))) == want
    assert pairs(path, languages=("DE", "en-GB"))[0] == ("das Haus", "the house")
    with pytest.raises(DataError, match="the fields en, fr, de, wanted it and en"):
        read_bitext(path, languages=("it", "en"))


@pytest.mark.parametrize(
    ("record", "options", "want"),
    [
        ({"target": "b", "source": "a", "note": "c"}, {}, ("a", "b")),
        ({"src": "a", "tgt": "b"}, {}, ("a", "b")),
        ({"id": "x-1", "en": "a", "pt_BR": "b"}, {}, ("a", "b")),
        ({"id": "a", "en": "b"}, {}, ("a", "b")),
        ({"id": 7, "english": "a", "french": "b"}, {}, ("a", "b")),
        ({"en": "a", "fr": "b", "ro": "c"}, {"languages": ("ro", "en")}, ("c", "a")),
        ({"source": "a", "target": "b", "post": "c"}, {"columns": ("source", "post")}, ("a", "c")),
        ({"translation": {"en": "x", "fr": "y"}, "a": "1 1", "b": "2"}, {"columns": ("a", "b")}, ("1 1", "2")),
    ],
)
def test_flat_keys(write, record, options, want):
    assert pairs(write("x.jsonl", lines(record)), **options) == [want]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ('{"en": "a", "fr": "b"}\n{"en": "a",\n', {}, r"x.jsonl, line 2: found invalid JSON"),
        ('{"en": "a", "fr": "b"}\n\n', {}, r"x.jsonl, line 2: found invalid JSON"),
        ('["a", "b"]\n', {}, r"line 1: found .* wanted an object such as"),
        ('{"en": "a", "fr": "b"}\n{"en": ["a"], "fr": "b"}\n', {}, r"line 2: found '\[\"a\"\]' as `en`, wanted a text"),
        ('{"en": "a"}\n', {}, "line 1 has the keys en; wanted two text columns"),
        ('{"en": "a", "n": 1}\n', {"columns": ("en", "n")}, "line 1 has the keys en, n; wanted a text column n"),
        ('{"translation": {"en": "a"}}\n', {}, "the column translation has the fields en; wanted two text fields"),
        (
            '{"translation": {"en": "a", "fr": "b"}}\n{"translation": "a"}\n',
            {},
            "line 2: found '\"a\"' as `translation`, wanted texts by language",
        ),
        ('{"en": "\\ud800", "fr": "b"}\n', {}, r"line 1: found \\ud800 .* half a character"),
        (b'{"en": "a", "fr": "b"}\n{"en": "\xff", "fr": "b"}\n', {}, "line 2: byte 9 is not valid UTF-8"),
    ],
)
def test_json_that_is_wrong(write, content, options, message):
    with pytest.raises(DataError, match=message) as caught:
        read_bitext(write("x.jsonl", content), **options)
    assert "\n" not in str(caught.value)


def test_json_with_invalid_bytes_replaced(write):
    path = write("x.jsonl", b'{"en": "a\xff", "fr": "b"}\n')
    assert pairs(path, errors="replace") == [("a\ufffd", "b")]


# -- CSV -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_each_separator(write, delimiter):
    rows = [["id", "en", "fr"], ["1", 'the "blue", old; house', "la\nmaison"], ["2", "", "b"]]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    want = [('the "blue", old; house', "la maison"), ("", "b")]
    notices: list[str] = []
    path = write("x.csv", text.getvalue())
    assert pairs(path, notices=notices) == want
    assert notices == [f"{path}: the source is en and the target is fr (also there: id); choose others with `columns`."]
    assert pairs(write("no_suffix", text.getvalue())) == want
    assert pairs(path, columns=("fr", "id"))[1] == ("b", "2")
    assert pairs(path, languages=("fr", "en"))[1] == ("b", "")
    assert pairs(write("bom.csv", "\ufeff" + text.getvalue())) == want


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("source,target\na,b\nc\n", {}, "x.csv, line 3: found 1 cell, wanted 2 as in the first row"),
        ('source,target\n"a\nb",c\na,b,c\n', {}, "line 4: found 3 cells, wanted 2"),
        ('source,target\na,"b\nc\n', {}, r"line 2: found a row that is not CSV \(unexpected end of data\)"),
        ('source,target\n"a"b,c\n', {}, "line 2: found a row that is not CSV"),
        ("The house is blue.,La maison est bleue.\na,b\n", {}, "line 1: found 'The house is blue.' in the first row"),
        ("en,en\na,b\n", {}, "line 1: found the same name twice in the first row"),
        ("text\na\n", {}, "wanted two text columns"),
        ("en,fr\na,b\n", {"columns": ("en", "de")}, "line 1 has the columns en, fr; wanted a text column de"),
        ("en,fr\na,b\n", {"languages": ("en", "de")}, "line 1 has the columns en, fr, wanted en and de"),
        ("en,fr\n", {}, "x.csv is empty"),
        (b"en,fr\na,\xff\n", {}, "line 2: byte 3 is not valid UTF-8"),
    ],
)
def test_csv_that_is_wrong(write, content, options, message):
    with pytest.raises(DataError, match=message) as caught:
        read_bitext(write("x.csv", content), **options)
    assert "\n" not in str(caught.value)


def test_a_word_list_with_a_tab_is_no_csv(write):
    assert pairs(write("no_suffix", "it\tis\nno\tde\n")) == [("it", "is"), ("no", "de")]


# -- both ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(ROWS, st.sampled_from([1, 1 << 20]))
def test_what_other_programs_write_is_read_row_by_row(tmp_path_factory, rows, block_bytes):
    home = tmp_path_factory.mktemp("tables")
    (home / "x.jsonl").write_text(
        "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in rows), "utf-8", newline=""
    )
    with (home / "x.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *rows])
    want = [(words_of(a), words_of(b)) for a, b in rows]
    for name in ("x.jsonl", "x.csv"):
        bitext = read_bitext(home / name, block_bytes=block_bytes)
        assert [bitext[n] for n in range(len(bitext))] == want


def test_names_of_languages():
    assert [name for name in ("en", "pt_BR", "zh-Hans", "id", "xx", "eng", "text") if is_language(name)] == [
        "en",
        "pt_BR",
        "zh-Hans",
        "id",
    ]


def test_columns_about_a_pair_are_not_taken_for_sentences(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id,english,basque,score\n1,the house,etxea,0.5\n", encoding="utf-8")
    notices = []
    bitext = read_bitext(path, notices=notices)
    assert [list(bitext.source[0]), list(bitext.target[0])] == [["the", "house"], ["etxea"]]
    assert "the source is english and the target is basque" in notices[0]


def test_columns_about_a_pair_are_taken_where_there_is_nothing_else(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id,english\nrumah,the house\n", encoding="utf-8")
    bitext = read_bitext(path)
    assert [list(bitext.source[0]), list(bitext.target[0])] == [["rumah"], ["the", "house"]]
