from __future__ import annotations

import gzip

import pytest

from cepts.errors import DataError
from cepts.io import read_counts, read_sentence_similarities, read_similarities


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.txt"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def fails(read, match, path):
    with pytest.raises(DataError, match=match) as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["car\tauto\t3.5\nBoy lad  4\r\n\n", b"\xef\xbb\xbfcar auto 3.5\nBoy lad 4"])
def test_similarities_of_words(write, content):
    got = read_similarities(write(content, "WS.txt"))
    assert (got.name, got.pairs, got.scores.tolist()) == ("WS.txt", [("car", "auto"), ("Boy", "lad")], [3.5, 4])
    assert len(got) == 2


def test_similarities_of_words_compressed(write):
    assert read_similarities(write(gzip.compress(b"a b 1\n"), "x.gz")).pairs == [("a", "b")]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "x.txt is empty"),
        ("a b 1\na b\n", "line 2: found 'a b', wanted two words and a score"),
        ("a b c 1\n", "line 1: found 'a b c 1'"),
        ("a\t\t1\n", "line 1: found"),
        ("word1\tword2\tscore\n", "line 1: found 'score', wanted a score after the two words; .* header"),
        ("a b nan\n", "line 1: found 'nan'"),
        ("a b inf\n", "line 1: found 'inf'"),
    ],
)
def test_similarities_of_words_with_mistakes(write, content, match):
    fails(read_similarities, match, write(content))


def test_similarities_of_sentences(write):
    notices = []
    path = write('4.4\tA "quoted" one.\tAnother one. \n\tnobody\tjudged\n0\tx\t\u00a0y\n')
    got = read_sentence_similarities(path, notices=notices)
    assert got.pairs == [('A "quoted" one.', "Another one."), ("x", "\u00a0y")]
    assert (got.scores.tolist(), got.skipped, len(got), got.name) == ([4.4, 0], 1, 2, "x.txt")
    assert notices == [f"{path}: 1 of 3 pairs have no score and are skipped."]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "x.txt: found nothing, wanted a score and two sentences"),
        ("\ta\tb\n", "found 1 pairs without a score"),
        ("1\ta\n", "line 1: found 2 columns, wanted 3"),
        ("1\ta\tb\n1 a b\n", "line 2: found 1 column, wanted 3"),
        ("a\tb\t1\n", "line 1: found 'a', wanted a score before the two sentences"),
    ],
)
def test_similarities_of_sentences_with_mistakes(write, content, match):
    fails(read_sentence_similarities, match, write(content))


def test_counts(write):
    assert read_counts(write("the 12\n\u00a0\t3\nthe 1\n")) == {"the": 13, "\u00a0": 3}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "x.txt is empty"),
        ("a 1\nb\n", "line 2: found 'b', wanted a word and a whole number"),
        ("a 1.5\n", "line 1: found 'a 1.5'"),
        ("a -1\n", "line 1"),
        ("a ٣\n", "line 1"),
        ("a b 1\n", "line 1"),
        ("a 9999999999999999999999\n", "line 1"),
    ],
)
def test_counts_with_mistakes(write, content, match):
    fails(read_counts, match, write(content))
