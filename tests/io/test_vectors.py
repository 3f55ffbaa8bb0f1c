from __future__ import annotations

import gzip
import io
import struct
import sys
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.errors import DataError, UsageError
from cepts.io import read_vectors
from cepts.io.word2vec import nearest_float32
from oracles_vectors import fasttext_model, fasttext_vectors, nearest, rows_of

WORDS = ["le", "château", "l'été", "\u00a0", "東\u3000京", "1999", "#"]
MATRIX = np.random.default_rng(0).normal(size=(len(WORDS), 3)).astype(np.float32)


def text_of(words, matrix) -> bytes:
    lines = [f"{word} {' '.join(map(repr, row))}\n" for word, row in zip(words, matrix.tolist(), strict=True)]
    return "".join(lines).encode()


def binary_of(words, matrix, end=b"\n") -> bytes:
    rows = [word.encode() + b" " + row.tobytes() + end for word, row in zip(words, matrix, strict=True)]
    return b"%d %d\n" % matrix.shape + b"".join(rows)


def array_of(matrix) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, matrix)
    return buffer.getvalue()


GLOVE = text_of(WORDS, MATRIX)
WORD2VEC = b"%d %d\n" % MATRIX.shape + GLOVE
BINARY = binary_of(WORDS, MATRIX)


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.vec"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def fails(match, path, error=DataError, **options):
    with pytest.raises(error, match=match) as caught:
        read_vectors(path, **options)
    assert "\n" not in str(caught.value)


def same(got, words=WORDS, matrix=MATRIX):
    assert got.words == list(words)
    np.testing.assert_array_equal(got.matrix, matrix)


# -- every format ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("x.vec", WORD2VEC, "word2vec"),
        ("x.txt", GLOVE, "glove"),
        ("x.bin", BINARY, "word2vec-binary"),
        ("x", binary_of(WORDS, MATRIX, b""), "word2vec-binary"),
        ("x.bin", fasttext_model(WORDS, np.vstack([MATRIX, MATRIX]), minn=0, maxn=0, buckets=7), "fasttext"),
        ("x.npy", array_of(MATRIX), "npy"),
    ],
)
def test_formats_are_recognised(write, tmp_path, name, content, format, pack):
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8", newline="")
    path = write(pack(content), name if pack is bytes else name + ".gz")
    notices = []
    got = read_vectors(path, notices=notices)
    same(got)
    same(read_vectors(path, format=format))
    assert got.matrix.dtype == np.float32
    assert got.name == path.name
    assert notices == []
    assert read_vectors(path, name="fr").name == "fr"
    same(read_vectors(path, max_vocabulary=2), WORDS[:2], MATRIX[:2])
    same(read_vectors(path, max_vocabulary=99))


@pytest.mark.parametrize("block_bytes", [1, 7, 64])
@pytest.mark.parametrize("content", [WORD2VEC, GLOVE, BINARY])
def test_blocks_change_nothing(write, content, block_bytes):
    same(read_vectors(write(content), block_bytes=block_bytes))


def test_standard_input(monkeypatch):
    for content in (WORD2VEC, GLOVE, BINARY):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        got = read_vectors("-")
        same(got)
        assert got.name == "standard input"


def test_progress_ends_at_the_end(write):
    steps = []
    path = write(WORD2VEC)
    read_vectors(path, progress=steps.append, block_bytes=64)
    assert len(steps) > 3
    assert steps[-1].done == steps[-1].total == path.stat().st_size


# -- text --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "2 2\na 1 2\nb 3 4\n",
        "a 1 2\nb 3 4",
        "a 1 2 \r\nb 3 4 \r\n",
        "\ufeff2 2\n\na\t1\t2\n \nb  +3.0 \t4e0\n\n",
        "a .1e1 2.\nb 0.3E+1 40e-1\n",
        "a 1 2\n b 3 4\n",
    ],
)
def test_shapes_of_text(write, content):
    same(read_vectors(write(content)), "ab", [[1, 2], [3, 4]])


def test_words_may_hold_blanks(write):
    got = read_vectors(write("the 1 2\n. . . 3 4\n<  > 5 6\nat x@y.com 7 8\n"))
    same(got, ["the", ". . .", "<  >", "at x@y.com"], np.arange(1, 9).reshape(4, 2))
    same(read_vectors(write(". . 1 2\na 3 4\n")), [". .", "a"], [[1, 2], [3, 4]])


def test_bytes_that_are_not_utf8_stay(write):
    got = read_vectors(write(b"\xff\xe9 1 2\n\x01 3 4\n"))
    assert got.words == ["\udcff\udce9", "\x01"]
    assert got.vocabulary.buffer.tobytes() == b"\xff\xe9\x01"


def test_a_header_of_too_much_takes_no_room(write):
    fails("found the end after 1 words, wanted 1,000,000,000,000", write("1000000000000 2\na 1 2\n"))
    fails("found a word and 2 numbers, wanted 1,000,000,000 as", write("1 1000000000\na 1 2\n"))
    fails("found the end", write(b"1000000000000 2\na " + b"x" * 8, "x.bin"))
    fails("width 1,000,000,000", write(b"1 1000000000\na \0\0\0\0", "x.bin"))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "x.vec is empty"),
        ("\n \n", "found nothing"),
        ("3 2\n", "found a header and no words"),
        ("2 2\na 1 2\n", "line 2: found the end after 1 words, wanted 2 as the header says"),
        ("1 2\na 1 2\nb 1 2\n", "line 3: found more words than the 1"),
        ("2 3\na 1 2\nb 1 2\n", "line 2: found a word and 2 numbers, wanted 3 as the header says"),
        ("2 1\na 1 2\nb 1 2\n", "line 2: found a word and 2 numbers, wanted 1 as the header says"),
        ("a 1 2\n\nb 1\n", "line 3: found a word and 1 number, wanted 2 as in the lines before"),
        ("a 1 2\nb 1 2 3\n", "line 2: found a word and 3 numbers, wanted 2"),
        ("a 1 2\nb\n", "line 2: found a word and 0 numbers, wanted 2"),
        ("a\n", "line 1: found a word and 0 numbers, wanted 1 at least"),
        ("a 1 2\n 3 4\n", "line 2: found 2 numbers without a word"),
        ("a 1 2\nb 1 x\n", "line 2: found 'x', wanted a number"),
        ("a 1 2\nb 1 2x\n", "line 2: found .*x', wanted a number"),
        ("a 1 2\nb 1_0 2\n", "line 2: found .*, wanted a number"),
        ("a 1 2\nb 1 0x2\n", "line 2: found .*, wanted a number"),
        ("a 1 2\nb 1 2\x01\n", "line 2: found .*, wanted a number"),
        ("a 1 2\nb 1e 2\n", "line 2: found '1e', wanted a number"),
        ("a 1 2\nb . 2\n", "line 2: found '.', wanted a number"),
        ("a 1 2\nb 1 NaN\n", "line 2: found nan in the vector of 'b', wanted finite"),
        ("a -inf 2\n", "line 1: found -inf in the vector of 'a', wanted finite"),
        ("a 1 2\nb 1 1e39\n", "line 2: found '1e39', wanted numbers up to"),
    ],
)
def test_text_with_mistakes(write, content, match):
    for block_bytes in (1 << 20, 4):
        fails(match, write(content), block_bytes=block_bytes)


def test_a_format_that_does_not_fit(write):
    fails("line 1: found 'a 1 2', wanted a header", write("a 1 2\n"), format="word2vec")
    fails("byte 1: found .* wanted a header", write("a 1 2\n"), format="word2vec-binary")
    fails("no mark of fastText", write(GLOVE), format="fasttext")
    fails("not a readable .npy", write(GLOVE), format="npy")
    fails("found no known format of vectors", write(b"PK\0\0\1\2"))
    fails("found no known format of vectors", write(GLOVE, "x.npy"))
    fails("`format` must be one of", write(GLOVE), UsageError, format="json")
    fails("`max_vocabulary` must be at least 1", write(GLOVE), UsageError, max_vocabulary=0)
    fails("must come with an .npy", write(GLOVE), UsageError, words="vocab.txt")
    fails("cannot read", "nowhere.vec")


def test_repeated_words_are_told(write):
    text = "a 1 2\nb 3 4\n\na 5 6\nc 0 0\na 7 8\nB 9 9\n"
    for content, unit in ((text, "line"), ("6 2\n" + text, "line")):
        notices = []
        shift = content is not text
        same(
            read_vectors(write(content), notices=notices, block_bytes=8),
            ["a", "b", "c", "B"],
            [[1, 2], [3, 4], [0, 0], [9, 9]],
        )
        first, second = notices
        assert f"x.vec: 2 words are repeated, first 'a' ({unit} {1 + shift}, again in {unit} {4 + shift})" in first
        assert f"x.vec: 1 word has a vector of zeros, first 'c' ({unit} {5 + shift})" in second
    same(read_vectors(write(text), max_vocabulary=3), ["a", "b", "c"], [[1, 2], [3, 4], [0, 0]])
    notices = []
    same(read_vectors(write(text), lowercase=True, notices=notices), ["a", "b", "c"], [[1, 2], [3, 4], [0, 0]])
    assert "2 words are repeated" in notices[0]
    assert "1 word is the same as another in lower case" in notices[1]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "A", "é", "É", "İ", "i̇", "AA", "Aa", "aa"]), min_size=1, max_size=9, unique=True))
def test_lower_case_is_that_of_the_type(tmp_path_factory, words):
    directory = tmp_path_factory.getbasetemp()
    matrix = np.arange(1, len(words) + 1, dtype=np.float32).reshape(-1, 1)
    (directory / "lower.txt").write_text("\n".join(words), encoding="utf-8")
    (directory / "lower.npy").write_bytes(array_of(matrix))
    (directory / "lower.vec").write_bytes(b"%d 1\n" % len(words) + text_of(words, matrix))
    for name in ("lower.npy", "lower.vec"):
        for block_bytes in (1, 1 << 20):
            notices = []
            got = read_vectors(directory / name, lowercase=True, notices=notices, block_bytes=block_bytes)
            want = read_vectors(directory / name).lowercased()
            same(got, want.words, want.matrix)
            merged = len(words) - len(want)
            assert len(notices) == (merged > 0)
            assert not merged or f": {merged} word" in notices[0]


def test_lower_case_looks_no_further_than_the_last_word_wanted(write):
    got = read_vectors(write("A 1\nB 2\na 3\nc 4\nb 5\n"), lowercase=True, max_vocabulary=3)
    same(got, "abc", [[3], [2], [4]])


decimals = st.builds(
    lambda sign, digits, point, exponent: (
        sign + digits[: point % (len(digits) + 1)] + "." + digits[point % (len(digits) + 1) :] + exponent
    ),
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", min_size=1, max_size=30),
    st.integers(0, 30),
    st.one_of(st.just(""), st.integers(-60, 37).map("e{}".format)),
)


def near_halfway(bits: int, shift: int) -> str:
    """A decimal at, just above or just below what lies halfway between two float32."""
    low = np.uint32(bits).view(np.float32)
    middle = (Decimal(float(low)) + Decimal(float(np.nextafter(low, np.float32(np.inf))))) / 2
    digits = format(middle, "f") if abs(middle) > 1e-5 else format(middle, "e")
    return digits if not shift else format(middle + shift * Decimal(10) ** (middle.adjusted() - 24), "e")


halfway = st.builds(near_halfway, st.integers(1, 0x7F7FFFFE), st.sampled_from([-1, 0, 1]))
floats = st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(decimals, halfway, floats), min_size=1, max_size=8))
def test_numbers_are_the_nearest_float32(tmp_path_factory, numbers):
    want = [nearest(number) for number in numbers]
    numbers, want = zip(
        *[(n, w) for n, w in zip(numbers, want, strict=True) if np.isfinite(w)] or [("0", 0.0)], strict=True
    )
    path = tmp_path_factory.getbasetemp() / "numbers.txt"
    path.write_text("w " + " ".join(numbers) + "\n")
    got = read_vectors(path).matrix
    np.testing.assert_array_equal(got.view(np.uint32), np.array([want], dtype=np.float32).view(np.uint32))


@given(st.one_of(decimals, halfway))
def test_exact_arithmetic_is_exact(number):
    got, want = nearest_float32(number.encode()), nearest(number)
    assert np.float32(got).view(np.uint32) == np.float32(want).view(np.uint32)


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "1e-400", "-1e-400", "1e999999999999", "340282356779733661637539395458142568448"]
)
def test_numbers_out_of_range(write, number):
    want = np.float32(float(number)) if abs(float(number)) < 1 else np.inf
    if np.isfinite(want):
        assert read_vectors(write(f"a {number}\n")).matrix.view(np.uint32) == want.view(np.uint32)
    else:
        fails("wanted numbers up to", write(f"a {number}\n"))


lines = st.lists(
    st.tuples(
        st.text("ab1.é\u00a0 ", min_size=1, max_size=5).filter(lambda word: word.strip(" \u00a0")),
        st.lists(st.sampled_from(["1", "-.5", "x", "1e2"]), min_size=0, max_size=4),
        st.sampled_from([" ", "\t", "  "]),
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(lines, st.integers(1, 40))
def test_lines_are_cut_as_the_oracle_cuts_them(tmp_path_factory, lines, block_bytes):
    """Well or ill formed: the same words and numbers, or a mistake in the same line."""
    text = "".join(f"{word}{blank}{blank.join(numbers)}\n" for word, numbers, blank in lines).encode()
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(text)
    want = rows_of(text)
    if isinstance(want, int):
        with pytest.raises(DataError, match=f"line {want}:"):
            read_vectors(path, format="glove", block_bytes=block_bytes)
    else:
        got = read_vectors(path, format="glove", block_bytes=block_bytes)
        assert dict(zip(got.words, map(tuple, got.matrix.tolist()), strict=True)) == want
        assert got.words == list(want)


# -- binary formats ----------------------------------------------------------------------------------------------------


def test_binary_with_mistakes(write):
    nan = MATRIX.copy()
    nan[2, 1] = np.nan
    for content, match in (
        (BINARY[:-10], "word 7: found the end of the file in the middle of it, wanted 7 words"),
        (
            binary_of(WORDS[:4], MATRIX[:4]).replace(b"4 3", b"5 3", 1),
            "word 5: found the end of the file before it",
        ),
        (BINARY.replace(b"7 3", b"6 3", 1), "word 7: found more bytes after the 6 words"),
        (binary_of(WORDS, nan), 'word 3: found nan in the vector of "l\'été", wanted finite'),
        (binary_of(["a", ""], MATRIX[:2]), "word 2: found no word before a blank"),
        (b"1 1\n" + b"a\x01" * 40_000 + b" 1234", "word 1: found a word of more than 65,536 bytes"),
        (b"0 3\n\x01", "wanted at least 1 word"),
        (b"3 0\n\x01", "a width from 1"),
    ):
        for block_bytes in (1 << 20, 16):
            fails(match, write(content, "x.bin"), format="word2vec-binary", block_bytes=block_bytes)
    same(read_vectors(write(BINARY[:-10]), max_vocabulary=6), WORDS[:6], MATRIX[:6])


def test_repeated_words_of_a_binary_file(write):
    notices = []
    got = read_vectors(write(binary_of(["a", "b", "a", "c"], MATRIX[:4])), notices=notices, block_bytes=16)
    same(got, "abc", MATRIX[[0, 1, 3]])
    assert "'a' (word 1, again in word 3)" in notices[0]


fasttext_words = st.lists(
    st.one_of(st.text("abé東😀<>", min_size=1, max_size=6), st.just("</s>")), min_size=1, max_size=6, unique=True
)


@settings(deadline=None, max_examples=60)
@given(fasttext_words, st.integers(0, 3), st.integers(0, 5), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_words_of_a_fasttext_model_are_means(tmp_path_factory, words, minn, maxn, buckets, seed):
    matrix = np.random.default_rng(seed).normal(size=(len(words) + buckets, 4)).astype(np.float32)
    path = tmp_path_factory.getbasetemp() / "model.bin"
    path.write_bytes(fasttext_model(words, matrix, minn=minn, maxn=maxn, buckets=buckets))
    same(read_vectors(path), words, fasttext_vectors(words, matrix, minn, maxn, buckets))
    most = read_vectors(path, max_vocabulary=2)
    same(most, words[:2], read_vectors(path).matrix[:2])


def test_the_rows_that_fasttext_itself_takes(write):
    """The n-grams of `<été>` from 1 to 4 characters, in 1,000 buckets, as `get_subwords` of fastText 0.9.2 says."""
    buckets = [627, 133, 617, 777, 975, 927, 363, 267, 387, 535, 777, 781]
    matrix = np.random.default_rng(2).normal(size=(1001, 1)).astype(np.float32)
    want = np.float32(0)
    for row in [0, *(1 + bucket for bucket in buckets)]:
        want += matrix[row, 0]
    path = write(fasttext_model(["été"], matrix, minn=1, maxn=4, buckets=1000))
    same(read_vectors(path), ["été"], [[want * np.float32(1 / 13)]])


def test_fasttext_models_with_labels_and_of_old(write):
    matrix = np.random.default_rng(1).normal(size=(2 + 5, 3)).astype(np.float32)
    for version, maxn in ((11, 0), (12, 3)):
        model = fasttext_model(
            ["ab", "c"], matrix, minn=2, maxn=3, buckets=5, labels=["__label__x"], version=version, kind=3
        )
        same(read_vectors(write(model)), ["ab", "c"], fasttext_vectors(["ab", "c"], matrix, 2, maxn, 5))


def test_fasttext_models_with_mistakes(write):
    matrix = np.ones((5, 2), dtype=np.float32)

    def model(**changes):
        return fasttext_model(
            ["a", "b"], changes.pop("matrix", matrix), **{"minn": 1, "maxn": 2, "buckets": 3, **changes}
        )

    nan = matrix.copy()
    nan[1] = np.nan
    whole = model()
    for content, match in (
        (model(quantised=True), "a quantised fastText model"),
        (model(pruned=0), "a quantised fastText model"),
        (model(version=13), "version 13, wanted 11 or 12"),
        (model(matrix=matrix[:4]), "a matrix of 4 x 2, wanted 5 x 2"),
        (model(matrix=nan), "word 2: found nan in the vector of 'b'"),
        (model(buckets=0), "0 buckets"),
        (whole[:6], "end of the file in its first bytes"),
        (whole[:30], "end of the file in its settings"),
        (whole[:75], "end of the file in its dictionary"),
        (whole[:100], "end of the file in entry 1 of its dictionary"),
        (whole[: -9 - 20], "end of the file in its matrix"),
    ):
        fails(match, write(content, "x.bin"), format="fasttext")
        fails(match, write(gzip.compress(content), "x.bin.gz"), format="fasttext")


# -- arrays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("beside", ["vocab.txt", "words.txt", "en.txt", "en.vocab", "en.vocab.txt.gz"])
def test_arrays_and_their_words(write, tmp_path, kind, beside):
    words = "\r\n".join(["a b", "b", "c"]).encode()
    write(gzip.compress(words) if beside.endswith("gz") else words, beside)
    path = write(array_of(np.arange(6).reshape(3, 2).astype(kind)), "en.npy")
    for got in (read_vectors(path), read_vectors(tmp_path), read_vectors(path, words=tmp_path / beside)):
        same(got, ["a b", "b", "c"], [[0, 1], [2, 3], [4, 5]])
        assert got.matrix.dtype == (np.float16 if kind is np.float16 else np.float32)
    assert read_vectors(tmp_path).name == tmp_path.name


def test_arrays_stay_on_the_disk(write):
    write("a\nb\nc\n", "vocab.txt")
    path = write(array_of(np.arange(6, dtype=np.float16).reshape(3, 2)), "en.npy")
    for got in (read_vectors(path), read_vectors(path, max_vocabulary=2)):
        assert isinstance(got.matrix.base, np.memmap) or isinstance(got.matrix.base.base, np.memmap)
        assert not got.matrix.flags.owndata


def test_words_of_its_own_name_come_first(write):
    write("a\n", "vocab.txt")
    write("b\n", "fr.txt")
    assert read_vectors(write(array_of(np.ones((1, 2))), "fr.npy")).words == ["b"]
    assert read_vectors(write(array_of(np.ones((1, 2))), "en.npy")).words == ["a"]


def test_repeated_words_of_an_array(write):
    write("a\nA\nb\na\n", "vocab.txt")
    path = write(array_of(np.array([[1, 2], [3, 4], [0, 0], [7, 8]], dtype=np.float16)), "en.npy")
    notices = []
    same(read_vectors(path, notices=notices), ["a", "A", "b"], [[1, 2], [3, 4], [0, 0]])
    assert "'a' (line 1, again in line 4)" in notices[0]
    assert "zeros, first 'b' (line 3)" in notices[1]
    got = read_vectors(path, lowercase=True)
    same(got, "ab", [[1, 2], [0, 0]])
    assert got.matrix.dtype == np.float16
    same(read_vectors(path, lowercase=True, max_vocabulary=2), "ab", [[1, 2], [0, 0]])


def test_arrays_in_another_order(write):
    write("a\nb\n", "vocab.txt")
    got = read_vectors(write(array_of(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])), "en.npy"))
    same(got, "ab", [[1, 2], [3, 4]])
    assert got.matrix.flags.c_contiguous


def test_arrays_with_mistakes(write, tmp_path):
    path = write(array_of(np.ones((2, 2))), "en.npy")
    fails(r"found no word list next to it \(en.vocab.txt, en.vocab, en.txt, vocab.txt, words.txt\)", path)
    write("a\n", "vocab.txt")
    fails("en.npy has 2 rows but .*vocab.txt has 1 words", path)
    write("a\n\n", "vocab.txt")
    fails("vocab.txt, line 2: found an empty line", path)
    write("a\nb\n", "vocab.txt")
    for array in (
        np.ones(2),
        np.ones((2, 2), dtype=int),
        np.ones((2, 0)),
        np.ones((2, 2, 1)),
        np.ones((2, 2), complex),
    ):
        fails("wanted rows of float16", write(array_of(array), "en.npy"))
    for value in (np.nan, np.inf, 1e39):
        fails("row 2: found (nan|inf) in the vector of 'b'", write(array_of(np.array([[1, 1], [1, value]])), "en.npy"))
    fails("not a readable .npy", write(array_of(np.ones((2, 2)))[:-3], "en.npy"))
    fails("cannot read", write(array_of(np.ones((2, 2))), "en.npy"), words=tmp_path / "none")
    write(array_of(np.ones((2, 2))), "fr.npy")
    fails(r"directory with 2 .npy files \(en.npy, fr.npy\)", tmp_path)
    (tmp_path / "empty").mkdir()
    fails("directory with no .npy files, wanted", tmp_path / "empty")


def test_pickled_arrays_are_refused(write):
    write("a\n", "vocab.txt")
    buffer = io.BytesIO()
    np.save(buffer, np.array([[{}]], dtype=object))
    fails("not a readable .npy", write(buffer.getvalue(), "en.npy"))


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_damaged_files_are_one_line(tmp_path_factory, data):
    """A few bytes changed or cut: a DataError, or vectors that are finite and distinct."""
    directory = tmp_path_factory.getbasetemp()
    model = fasttext_model(WORDS, np.vstack([MATRIX, MATRIX]), minn=1, maxn=2, buckets=7)
    content = bytearray(data.draw(st.sampled_from([WORD2VEC, GLOVE, BINARY, model])))
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = directory / "damaged.bin"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        got = read_vectors(path)
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(got.matrix).all()
        assert len(set(got.words)) == len(got) > 0


def test_magic_of_fasttext():
    assert struct.unpack("<i", fasttext_model(["a"], MATRIX[:1], minn=0, maxn=0, buckets=0)[:4]) == (793712314,)
