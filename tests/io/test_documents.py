from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Documents
from cepts.errors import DataError, UsageError
from cepts.io import read_documents, read_stop_list


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def contents(documents: Documents) -> dict[str, list[str]]:
    starts = documents.offsets.tolist()
    return {
        name: [" ".join(documents.text[sentence]) for sentence in range(starts[number], starts[number + 1])]
        for number, name in enumerate(documents.names)
    }


def fails(match, *arguments, kind=DataError, **options):
    with pytest.raises(kind, match=match) as caught:
        read_documents(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_blank_lines_between_documents(write):
    path = write("book.txt", "\ufeff\n the cell \r\ndivides\n \t\n\n\nla\u00a0cellule\n\n")
    notices = []
    assert contents(read_documents(path, notices=notices)) == {
        "book.txt:2": ["the cell", "divides"],
        "book.txt:7": ["la\u00a0cellule"],
    }
    assert notices == []


def test_a_file_each(write):
    first, second = write("a.txt", "one\ntwo\n"), write("b.txt.gz", gzip.compress(b"two three", mtime=0))
    documents = read_documents([second, first])
    assert contents(documents) == {"b.txt.gz": ["two three"], "a.txt": ["one", "two"]}
    assert documents.text.vocabulary.words == ["two", "three", "one"]
    assert documents.word_offsets.tolist() == [0, 2, 4]


def test_several_files_may_have_several_documents(write):
    first, second = write("a", "1\n\n2"), write("b", "3\n4\n\n")
    assert contents(read_documents([first, second])) == {"a:1": ["1"], "a:3": ["2"], "b": ["3", "4"]}
    assert contents(read_documents([first, second], format="file")) == {"a": ["1", "2"], "b": ["3", "4"]}


def test_documents_know_how_they_were_read(write, tmp_path):
    blank, plain = write("texts/a.txt", "The\n\ncell\n"), write("texts/b.txt", "the\ncell\n")
    jsonl = write("texts/c.jsonl", '{"text": "The"}\n{"text": "cell"}\n')
    cases = (([blank], "auto", "blank"), ([plain], "auto", "file"), ([jsonl], "auto", "jsonl"))
    for paths, format_, boundaries in (
        *cases,
        ([blank], "file", "file"),
        ([blank, plain, jsonl], "auto", "blank+file+jsonl"),
    ):
        documents = read_documents(paths, format=format_)
        assert (documents.boundaries, documents.lowercase) == (boundaries, False)
        assert documents.sources == tuple(map(str, paths))
        assert documents.chosen(documents.offsets[1:] > 0).boundaries == boundaries
    documents = read_documents(tmp_path / "texts", lowercase=True)
    assert (documents.sources, documents.lowercase) == ((str(tmp_path / "texts"),), True)
    assert documents.text.vocabulary.words == ["the", "cell"]
    tokens = Documents.from_tokens([[["The"]]])
    assert (tokens.boundaries, tokens.lowercase, tokens.sources) == ("given", False, ())
    assert tokens.lowercased().text[0] == ["the"]
    assert tokens.lowercased().lowercase


def test_a_directory(write, tmp_path):
    write("texts/b.txt", "b\n")
    write("texts/sub/c.txt", "c\n")
    write("texts/a.txt", "a\n")
    write("texts/.hidden", "no\n")
    write("texts/.git/x", "no\n")
    write("texts/d.jsonl", '{"text": "d"}\n')
    assert list(contents(read_documents(tmp_path / "texts"))) == ["a.txt", "b.txt", "d.jsonl:1", "sub/c.txt"]
    (tmp_path / "none").mkdir()
    fails("none holds no files", tmp_path / "none")


def test_a_file_of_a_directory_is_a_document_unless_it_is_alone(write, tmp_path):
    write("texts/a.txt", "a\n\nb\n")
    notices: list[str] = []
    assert list(contents(read_documents(tmp_path / "texts"))) == ["a.txt:1", "a.txt:3"]
    write("texts/b.txt", "c\n")
    write("texts/picture.png", b"\x89PNG\0")
    assert list(contents(read_documents(tmp_path / "texts", notices=notices))) == ["a.txt", "b.txt"]
    assert notices == [
        f"{tmp_path / 'texts'}: read a.txt and b.txt.",
        f"{tmp_path / 'texts'}: left out picture.png, which is not text.",
    ]
    assert list(contents(read_documents(tmp_path / "texts", format="blank"))) == ["a.txt:1", "a.txt:3", "b.txt"]
    for number in range(5):
        write(f"texts/c{number}.txt", "c\n")
    read_documents(tmp_path / "texts", notices=notices)
    assert notices[2].endswith("texts: read 7 files, a.txt, b.txt, c0.txt ... c4.txt.")
    write("pictures/x.png", b"\x89PNG\0")
    fails(r"pictures holds no text files \(x.png\)", tmp_path / "pictures")


def test_json_lines(write):
    records = [
        {"text": "the cell\n\ndivides \r\nnow", "id": "m1"},
        {"sentences": ["one\ntwo", ["three", "four"]], "id": 7},
        {"text": ""},
        {"sentences": []},
        {"text": "last"},
    ]
    path = write("x.jsonl", "".join(json.dumps(record) + "\n\n" for record in records))
    notices = []
    assert contents(read_documents(path, notices=notices)) == {
        "m1": ["the cell", "divides", "now"],
        "7": ["one two", "three four"],
        "x.jsonl:9": ["last"],
    }
    assert notices == ["2 of 5 documents have no words and are left out."]


def test_empty_documents_are_counted(write):
    notices = []
    documents = read_documents([write("a", ""), write("b", " \n\n"), write("c", "x"), write("d", "y")], notices=notices)
    assert documents.names == ("c", "d")
    assert notices == ["2 of 4 documents have no words and are left out."]


def test_one_document_gets_a_notice(write):
    notices = []
    read_documents(write("a.txt", "x\ny\n"), notices=notices)
    assert notices == [
        "a.txt is read as a single document; if it has several, put blank lines between them, or give several files."
    ]


def test_lower_case_merges_words(write):
    documents = read_documents(write("a", "The the CELL\n\nÉté cell THE\n"), lowercase=True)
    assert documents.text.vocabulary.words == ["the", "cell", "été"]
    assert documents.text.ids.tolist() == [0, 0, 1, 2, 1, 0]


def test_progress_is_in_bytes_of_all_files(write):
    steps = []
    read_documents([write("a", "x\n"), write("b", "yy\n")], progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(2, 5), (5, 5)]


LINES = st.lists(st.sampled_from(["", " ", "a", "b c", "a b"]), max_size=12)


@settings(deadline=None)
@given(st.lists(LINES, min_size=1, max_size=3), st.booleans())
def test_documents_equal_plain_splitting(tmp_path_factory, files, end):
    want = []
    paths = []
    for number, lines in enumerate(files):
        path = tmp_path_factory.mktemp("texts") / str(number)
        path.write_text("\n".join(lines) + "\n" * end)
        paths.append(path)
        runs = "\n".join(line.strip() for line in lines).split("\n\n")
        want += [kept for run in runs if (kept := [line for line in run.split("\n") if line])]
    if not want:
        fails("found no words", paths)
    else:
        assert list(_lists(read_documents(paths, format="blank"))) == want


def _lists(documents):
    for start, stop in zip(documents.offsets[:-1].tolist(), documents.offsets[1:].tolist(), strict=True):
        yield [" ".join(documents.text[sentence]) for sentence in range(start, stop)]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("x", "", "x: found no words, wanted documents"),
        ("x", " \n\n", "found no words"),
        ("x", b"a\nb \xff\n", r"x, line 2: byte 3 \(0xff\) is not valid UTF-8"),
        ("x.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', "x.jsonl, line 2: byte 11 is not valid UTF-8"),
        ("x.jsonl", '{"text": "a"}\n{"text"\n', "line 2: found invalid JSON .*, wanted one object per line"),
        ("x.json", "[1]\n", r"x.json, line 1: found '\[1\]', wanted one object"),
        ("x.jsonl", '{"body": "a"}', "line 1: found neither `text` nor `sentences`"),
        ("x.jsonl", '{"text": "a", "sentences": []}', "line 1: found both `text` and `sentences`"),
        ("x.jsonl", '{"text": ["a"]}', "line 1: found '.*' as `text`, wanted a text"),
        ("x.jsonl", '{"sentences": "a"}', "line 1: found '.*' as `sentences`, wanted a list"),
        ("x.jsonl", '{"sentences": [1]}', "line 1: found the sentence '1', wanted a text or a list of tokens"),
        ("x.jsonl", '{"sentences": [["a b"]]}', "line 1: found the tokens .* and contain no white space"),
        ("x.jsonl", '{"sentences": [["a", ""]]}', "line 1: found the tokens"),
        ("x.jsonl", '{"sentences": [["a", 1]]}', "line 1: found the sentence"),
        ("x.jsonl", '{"text": "a", "id": []}', "line 1: found '.*' as `id`"),
        ("x.jsonl", '{"text": "\\ud800"}', "half a character"),
        ("x.jsonl", "[" * 100_000, "line 1: found invalid JSON"),
        ("x.gz", gzip.compress(b"abc" * 99, mtime=0)[:-9], "ends in the middle"),
    ],
)
def test_files_with_mistakes(write, name, content, match):
    fails(match, write(name, content))


def test_the_line_of_bad_bytes_is_that_of_its_file(write):
    fails("b, line 2: byte 1", [write("a", "x\ny\nz\n"), write("b", b"x\n\xe9t\xe9\n")])
    got = read_documents([write("a", "x\n"), write("b", b"x\n\xe9\n")], errors="replace")
    assert contents(got)["b"] == ["x", "\ufffd"]


def test_options_that_are_wrong(write, tmp_path):
    path = write("a", "x")
    fails("cannot read .*nowhere", [path, tmp_path / "nowhere"])
    fails("`format` must be one of auto, file, blank, jsonl", path, format="xml", kind=UsageError)
    fails("`errors` must be one of strict, replace", path, errors="ignore", kind=UsageError)
    fails("name at least one", [], kind=UsageError)
    fails("only one input can be -", ["-", "-"], kind=UsageError)


def test_a_stop_list(write):
    path = write("stop.txt", "\ufeff# words of grammar\nthe\n\n of # a comment\r\nthe\nc#\n\u00a0\n")
    assert read_stop_list(path) == ["the", "of", "c#", "\u00a0"]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "stop.txt has no words"),
        ("# nothing\n", "has no words"),
        ("a\nb c\n", "line 2: found 'b c', wanted one word per line"),
        (b"a\n\xff\n", "line 2: byte 1 is not valid UTF-8"),
    ],
)
def test_a_stop_list_with_mistakes(write, content, match):
    with pytest.raises(DataError, match=match) as caught:
        read_stop_list(write("stop.txt", content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "names"), [(b"a\n\nb\n", ["standard input:1", "standard input:3"]), (b'{"text": "a", "id": 1}\n', ["1"])]
)
def test_standard_input(monkeypatch, data, names):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
    assert list(contents(read_documents("-"))) == names
