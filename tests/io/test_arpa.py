from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_ngrams as oracles
from cepts.data import NGrams, Text, Vocabulary
from cepts.errors import DataError
from cepts.io import read_arpa, write_arpa
from cepts.lm.backoff import BackoffModel, joined_vocabulary, with_vocabulary
from cepts.lm.kneser_ney import KneserNey

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"

ARPA = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=1

\\1-grams:
-1.0 <unk>
-99 <s> -0.5
-0.5 </s>
-0.3 a -0.2
-0.6 b -0.1

\\2-grams:
-0.2 <s> a -0.3
-0.4 a b -0.25
-0.1 b </s>
-0.7 a </s>

\\3-grams:
-0.15 <s> a b

\\end\\
"""


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def assert_same(got, want, tolerance=0.0):
    assert got.vocabulary.words == want.vocabulary.words
    for name in ("levels", "words", "first", "suffixes"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    for name in ("probs", "backoffs"):
        np.testing.assert_allclose(getattr(got, name), getattr(want, name), rtol=tolerance)


def test_every_number_is_in_its_place(tmp_path):
    model = read_arpa(written(tmp_path / "a.arpa", ARPA))
    oracles.check_form(model)
    words = model.vocabulary.words
    assert words == ["<unk>", "<s>", "</s>", "a", "b"]
    found = {
        " ".join(words[word] for word in gram): (round(np.log10(prob), 5) if prob else 0, round(np.log10(backoff), 5))
        for gram, prob, backoff in zip(oracles.grams_of(model), model.probs, model.backoffs, strict=True)
    }
    assert found == {
        "<unk>": (-1, 0),
        "<s>": (0, -0.5),  # of probability 0
        "</s>": (-0.5, 0),
        "a": (-0.3, -0.2),
        "b": (-0.6, -0.1),
        "<s> a": (-0.2, -0.3),
        "a b": (-0.4, -0.25),
        "b </s>": (-0.1, 0),
        "a </s>": (-0.7, 0),
        "<s> a b": (-0.15, 0),
    }


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.integers(1, 4))
def test_what_is_written_reads_back(tmp_path_factory, seed, order):
    ngrams = KneserNey(order=order).fit(oracles.random_text(seed, sentences=8)).ngrams_
    path = tmp_path_factory.mktemp("arpa") / "model.arpa.gz"
    write_arpa(ngrams, path)
    again = read_arpa(path)
    assert_same(again, ngrams, 1e-6)


@pytest.mark.parametrize(
    "changed",
    [
        ARPA.replace(" ", "\t").replace("ngram\t", "ngram "),
        ARPA.replace("\n", "\r\n"),
        ARPA.replace("\n\n", "\n"),
        "\n\n" + ARPA,
        ARPA + "anything\n",
        "\ufeff" + ARPA,
        ARPA.removesuffix("\n"),
        ARPA.replace("<unk>", "<UNK>"),
        ARPA.replace("-0.1 b </s>\n-0.7 a </s>", "-0.7 a </s>\n-0.1 b </s>"),
        ARPA.replace("-0.15", "-.15").replace("-0.3 a", "-3e-1  a"),
        ARPA.replace("-99 <s>", "-inf <s>"),
        ARPA.replace("-99 <s>", "0 <s>"),
        ARPA.replace("-1.0 <unk>", "-1.00000000000000000000000000 <unk> 0.0"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path, changed):
    want = read_arpa(written(tmp_path / "a.arpa", ARPA))
    for block_bytes in (1 << 22, 16):
        assert_same(read_arpa(written(tmp_path / "b.arpa", changed), block_bytes=block_bytes), want)
    written(tmp_path / "b.arpa.gz", gzip.compress(changed.encode()))
    assert_same(read_arpa(tmp_path / "b.arpa.gz"), want)


def test_words_in_any_order(tmp_path):
    lines = ARPA.split("\n")
    lines[6:11] = lines[10:5:-1]
    got = read_arpa(written(tmp_path / "b.arpa", "\n".join(lines)))
    assert got.vocabulary.words == ["<unk>", "<s>", "</s>", "b", "a"]
    want = read_arpa(written(tmp_path / "a.arpa", ARPA))
    assert_same(with_vocabulary(got, joined_vocabulary(want)), want)


def test_a_missing_unknown_word_has_no_probability(tmp_path):
    notices = []
    text = ARPA.replace("-1.0 <unk>\n", "").replace("1=5", "1=4")
    model = read_arpa(written(tmp_path / "a.arpa", text), notices=notices)
    oracles.check_form(model)
    assert model.probs[0] == 0
    assert len(notices) == 1
    assert "has no <unk>" in notices[0]


def test_missing_ngrams_are_inserted_without_changing_the_model(tmp_path):
    """`c a b a` lacks its prefixes `c a b` and `c a`, and its suffixes `a b a` and `b a`."""
    text = ARPA.replace("1=5", "1=6").replace("-0.6 b", "-0.8 c -0.4\n-0.6 b")
    text = text.replace("3=1", "3=1\nngram 4=1").replace("\\end\\", "\\4-grams:\n-0.05 c a b a\n\n\\end\\")
    notices = []
    model = read_arpa(written(tmp_path / "a.arpa", text), notices=notices)
    oracles.check_form(model)
    assert "inserted 4 missing n-grams" in notices[0]
    want = read_arpa(written(tmp_path / "b.arpa", ARPA.replace("1=5", "1=6").replace("-0.6 b", "-0.8 c -0.4\n-0.6 b")))
    got, before = oracles.Dictionary(model), oracles.Dictionary(want)
    longest = tuple(model.vocabulary.numbers(["c", "a", "b", "a"]).tolist())
    for gram in got.grams[: model.levels[-2]]:
        for word in range(got.size):
            if (*gram, word) == longest:
                np.testing.assert_allclose(got.prob(word, gram), 10**-0.05, rtol=1e-6)
            else:
                np.testing.assert_allclose(got.prob(word, gram), before.prob(word, gram), rtol=1e-6)


def test_an_order_without_ngrams(tmp_path):
    text = ARPA.replace("3=1", "3=0").replace("-0.15 <s> a b\n", "")
    model = read_arpa(written(tmp_path / "a.arpa", text))
    oracles.check_form(model)
    assert model.levels.tolist() == [0, 5, 9, 9]
    write_arpa(model, tmp_path / "b.arpa")
    assert_same(read_arpa(tmp_path / "b.arpa"), model, 1e-6)


WRONG = {
    "a long line": (ARPA.replace("ngram 3=1", " " * 3000 + "x" * 3000), "line 4: found 'xxx"),
    "empty": ("", "is empty"),
    "blank": ("\n\n", "line 2: found blank lines only"),
    "no data": ("hello\n" + ARPA, r"line 1: found 'hello', wanted the line \\data\\"),
    "binary": (b"mmap lm http://kheafield.com/code format version 5\n\0\0", "found a KenLM binary"),
    "bytes": (b"\x7fELF\0\0\0", "are not text"),
    "cut in entries": (ARPA[: ARPA.index("-0.1 b </s>")], "line 15: found the end of the file after 2 2-grams of 4"),
    "cut in a number": (ARPA[: ARPA.index("4 a b")], "line 14: found the end of the file after 1 2-grams of 4"),
    "cut in the end": (ARPA[:-3], r"after 1 3-grams of 1, wanted the line \\end\\; the file is cut short"),
    "cut in header": (ARPA[:20], "line 2: found the end of the file in the header"),
    "no end": (ARPA.replace("\\end\\\n", ""), r"after 1 3-grams of 1, wanted the line \\end\\; the file is cut short"),
    "too few": (ARPA.replace("-0.4 a b -0.25\n", ""), r"line 18: found \\3-grams: after 3 2-grams, wanted 4"),
    "too few at the end": (ARPA.replace("3=1", "3=2"), r"line 22: found \\end\\ after 1 3-grams, wanted 2"),
    "too many": (ARPA.replace("2=4", "2=3"), "line 17: found more 2-grams than the 3 in the header"),
    "a section less": (ARPA.replace("\\3-grams:\n-0.15 <s> a b\n", ""), r"found \\end\\, wanted \\3-grams:"),
    "a section more": (ARPA.replace("ngram 3=1\n", ""), r"found \\3-grams:, wanted \\end\\"),
    "no header": (ARPA.replace("ngram 1=5\n", ""), "line 2: found 'ngram 2=4', wanted the number of 1-grams"),
    "no counts": ("\\data\\\n\\1-grams:\n", r"line 2: found \\1-grams:, wanted `ngram 1=count`"),
    "other line": (ARPA.replace("ngram 3=1", "ngrams"), "line 4: found 'ngrams', wanted `ngram order=count`"),
    "other mark": (ARPA.replace("\\3-grams:", "\\3-gram"), r"found '\\\\3-gram', wanted a section of n-grams"),
    "bad number": (ARPA.replace("-0.4 a b", "-0.4x a b"), "line 15: found '-0.4x', wanted a number"),
    "bad backoff": (ARPA.replace("-0.25", "b"), "line 15: found 'b', wanted a number"),
    "nan": (ARPA.replace("-0.25", "nan"), "line 15: found 'nan', wanted a number"),
    "infinite backoff": (ARPA.replace("-0.25", "inf"), "line 15: found 'inf', wanted a number"),
    "few words": (ARPA.replace("-0.4 a b -0.25", "-0.4 a"), "line 15: found 2 fields, wanted one or two numbers and 2"),
    "many words": (
        ARPA.replace("-0.15 <s> a b", "-0.15 <s> a b b b"),
        "line 20: found 6 fields, wanted one number and 3",
    ),
    "unknown word": (
        ARPA.replace("-0.1 b </s>", "-0.1 c </s>"),
        "line 16: found 'c', wanted only words that have a 1-gram",
    ),
    "positive": (ARPA.replace("-0.4 a b", "0.4 a b"), "line 15: found the log-probability '0.4'"),
    "word twice": (ARPA.replace("-0.6 b", "-0.6 a"), "line 11: found 'a' a second time"),
    "twice": (ARPA.replace("-0.7 a </s>", "-0.7 a b"), "line 17: found 'a b' a second time"),
    "no start": (ARPA.replace("<s>", "x"), "found no 1-gram <s>"),
    "latin-1": (
        ARPA.replace("-0.6 b", "-0.6 é").encode("latin-1"),
        r"line 11: byte 6 is not valid UTF-8; convert the file to UTF-8\.$",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("block_bytes", [1 << 22, 32])
def test_each_way_of_being_wrong_has_its_line(tmp_path, name, block_bytes):
    text, message = WRONG[name]
    with pytest.raises(DataError, match=message) as caught:
        read_arpa(written(tmp_path / "a.arpa", text), block_bytes=block_bytes)
    assert "a.arpa" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_word_with_a_blank_cannot_be_written(tmp_path):
    ngrams = KneserNey().fit(Text.from_tokens([["a b", "c"]])).ngrams_
    with pytest.raises(DataError, match="cannot hold the word 'a b'"):
        write_arpa(ngrams, tmp_path / "model.arpa")
    assert list(tmp_path.iterdir()) == []


def test_zero_and_words_of_many_bytes(tmp_path):
    vocabulary = Vocabulary.from_words(["<unk>", "<s>", "</s>", "東京" * 500])
    arrays = np.array([0, 0, 0.25, 0.75], dtype=np.float32), np.array([1, 10, 1, 1], dtype=np.float32)
    ngrams = NGrams(vocabulary, np.array([0, 4]), np.arange(4, dtype=np.int32), *arrays, np.full(5, 4), np.full(4, -1))
    write_arpa(ngrams, tmp_path / "model.arpa")
    lines = (tmp_path / "model.arpa").read_text().split("\n")
    assert lines[4:7] == ["-99\t<unk>", "-99\t<s>\t1", "-0.60206\t</s>"]
    again = read_arpa(tmp_path / "model.arpa")
    np.testing.assert_allclose(again.probs, ngrams.probs, rtol=1e-6)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_kenlm_scores_what_we_write_as_we_do(tmp_path, order):
    kenlm = pytest.importorskip("kenlm")
    ngrams = KneserNey(order=order).fit(oracles.random_text(7)).ngrams_
    write_arpa(ngrams, tmp_path / "model.arpa")
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    theirs = kenlm.Model(str(tmp_path / "model.arpa"), config)
    text = oracles.random_text(8, words=15)  # some of them unknown
    want = [prob for n in range(len(text)) for prob, _, _ in theirs.full_scores(" ".join(text[n]))]
    np.testing.assert_allclose(BackoffModel(ngrams).log_probs(text) / np.log(10), want, atol=2e-6)


@pytest.mark.parametrize("number", ["39", "1e30", "3.5e38", "1e400", "-1e400", "inf"])
def test_a_backoff_that_overflows_is_refused(tmp_path, number):
    path = tmp_path / "x.arpa"
    head = "\\data\\\nngram 1=3\nngram 2=1\n\n\\1-grams:\n"
    path.write_text(f"{head}-99 <s> {number}\n-1 </s>\n-1 a -0.5\n\n\\2-grams:\n-0.1 <s> a\n\n\\end\\\n")
    if number.startswith("-"):
        assert np.isfinite(read_arpa(path).backoffs).all()
        return
    with pytest.raises(DataError, match=r"x\.arpa, line 6: found (the log-backoff )?'"):
        read_arpa(path)
