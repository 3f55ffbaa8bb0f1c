from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cepts.data import Vectors
from cepts.errors import DataError, UsageError
from cepts.io import read_vectors, write_vectors
from cepts.names import WRITABLE_VECTOR_FORMATS

PAIR = Vectors.from_words(["le", "été"], np.array([[0.5, -1.25e-9], [3, 1e20]], dtype=np.float32))
ENDINGS = {"word2vec": "x.vec", "glove": "x.txt", "word2vec-binary": "x.bin", "npy": "x.npy"}

words = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1, max_size=6),
    st.sampled_from(["1", "-2.5", "nan", "\u00a0", "\ufeffa", "\udcff\udce9", "#", "\x00"]),
)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def vectors(draw, kinds=(np.float32, np.float16)):
    names = draw(st.lists(words, min_size=1, max_size=5, unique=True))
    kind = draw(st.sampled_from(kinds))
    elements = st.floats(width=8 * np.dtype(kind).itemsize, allow_nan=False, allow_infinity=False)
    matrix = draw(arrays.arrays(kind, (len(names), draw(st.integers(1, 4))), elements=elements))
    return Vectors.from_words(names, matrix)


@settings(deadline=None, max_examples=150)
@given(vectors(), st.sampled_from(WRITABLE_VECTOR_FORMATS), st.sampled_from(["", ".gz"]))
def test_what_is_written_is_read_back(tmp_path_factory, given, format, packed):
    path = tmp_path_factory.getbasetemp() / (ENDINGS[format] + packed)
    if format in ("glove", "npy") and given.words[0].startswith("\ufeff"):
        with pytest.raises(DataError, match="could not be read back"):
            write_vectors(path, given, format=format)
        return
    write_vectors(path, given, format=format)
    got = read_vectors(path, format=format)
    assert got.words == given.words
    want = given.matrix if format == "npy" else given.matrix.astype(np.float32)
    assert got.matrix.dtype == want.dtype
    assert got.matrix.tobytes() == want.tobytes()


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.one_of(numbers, st.integers(0, 0x7F7FFFFF).map(lambda bits: np.uint32(bits).view(np.float32))), min_size=1
    )
)
def test_numbers_have_few_digits_and_are_exact(tmp_path_factory, values):
    matrix = np.array([values], dtype=np.float32)
    path = tmp_path_factory.getbasetemp() / "digits.txt"
    write_vectors(path, Vectors.from_words(["w"], matrix), format="glove")
    written = path.read_text().split()[1:]
    assert np.array(written, dtype=np.float64).astype(np.float32).tobytes() == matrix.tobytes()
    for text, value in zip(written, matrix[0], strict=True):
        assert "." in text or "e" in text  # so that no line looks like a header
        digits = len(text.lower().split("e")[0].strip("-").replace(".", "").strip("0"))
        # NumPy's are the fewest there are; ours may have one more beside a power of two.
        assert digits <= len(np.format_float_scientific(value).split("e")[0].strip("-").replace(".", "").strip("0")) + 1


def test_the_text_itself(tmp_path):
    write_vectors(tmp_path / "x.vec", PAIR)
    assert (tmp_path / "x.vec").read_text(encoding="utf-8") == "2 2\nle 0.5 -1.25e-09\nété 3.0 1e+20\n"
    write_vectors(tmp_path / "x.vec", PAIR, format="glove")
    assert (tmp_path / "x.vec").read_text(encoding="utf-8") == "le 0.5 -1.25e-09\nété 3.0 1e+20\n"


def test_shortest_digits_of_usual_numbers(tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 100)).astype(np.float32)
    write_vectors(tmp_path / "x.txt", Vectors.from_words(map(str, range(50)), values), format="glove")
    written = [line.split()[1:] for line in (tmp_path / "x.txt").read_text().splitlines()]
    assert written == [[np.format_float_positional(value) for value in row] for row in values]


def test_formats_go_by_the_name(tmp_path):
    for name, start in (
        ("a.vec", b"2 2\nle 0.5"),
        ("a.bin", b"2 2\nle \0\0"),
        ("a.npy", b"\x93NUMPY"),
        ("a", b"2 2\nle 0"),
    ):
        write_vectors(tmp_path / name, PAIR)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert (tmp_path / "a.vocab.txt").read_text(encoding="utf-8") == "le\nété\n"
    assert np.load(tmp_path / "a.npy").tolist() == PAIR.matrix.tolist()


def test_parts_and_maps_are_written_whole(tmp_path):
    many = Vectors.from_words(
        map(str, range(1000)), np.random.default_rng(0).normal(size=(1000, 700)).astype(np.float16)
    )
    for format, name in ENDINGS.items():
        write_vectors(tmp_path / name, many.first(900), format=format)
        got = read_vectors(tmp_path / name)
        assert got.words == many.words[:900]
        np.testing.assert_array_equal(got.matrix, many.matrix[:900])
    write_vectors(tmp_path / "again.npy", read_vectors(tmp_path / "x.npy"))
    assert (tmp_path / "again.npy").read_bytes() == (tmp_path / "x.npy").read_bytes()


def test_standard_output(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=buffer, flush=lambda: None, fileno=io.BytesIO().fileno))
    write_vectors("-", PAIR)
    assert buffer.getvalue().startswith(b"2 2\nle ")
    with pytest.raises(UsageError, match="two files"):
        write_vectors("-", PAIR, format="npy")


@pytest.mark.parametrize("format", WRITABLE_VECTOR_FORMATS)
@pytest.mark.parametrize("word", ["", "a b", "a\tb", "a\nb", "a\r"])
def test_words_that_cannot_be_read_back(tmp_path, format, word):
    given = Vectors.from_words(["le", word], PAIR.matrix)
    path = tmp_path / ENDINGS[format]
    if format == "npy" and word in ("a b", "a\tb"):
        write_vectors(path, given, format=format)
        assert read_vectors(path).words == ["le", word]
        return
    with pytest.raises(DataError, match=r"x\.\w+: word 2.*leave") as caught:
        write_vectors(path, given, format=format)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_set_of_vectors(tmp_path):
    bad = Vectors.from_words(["a", "b"], np.array([[1, 2], [np.nan, 1]], dtype=np.float32))
    for format, name in ENDINGS.items():
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(ValueError, match="finite"):
            write_vectors(tmp_path / name, bad, format=format)
        assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(ENDINGS.values())
    with pytest.raises(ValueError, match="at least one word and one dimension"):
        write_vectors(tmp_path / "x", PAIR.first(0))
    with pytest.raises(UsageError, match="`format` must be one of"):
        write_vectors(tmp_path / "x", PAIR, format="fasttext")
    with pytest.raises(UsageError, match=r"must end in \.npy"):
        write_vectors(tmp_path / "x", PAIR, format="npy")
    with pytest.raises(DataError, match="cannot write"):
        write_vectors(tmp_path / "none" / "x", PAIR)
