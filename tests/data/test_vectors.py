from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Dictionary, VectorReading, Vectors
from cepts.io import read_vectors, write_vectors

VECTORS = Vectors.from_words(["The", "the", "House", "a"], np.arange(8, dtype=np.float32).reshape(4, 2), "en")


def test_vectors_say_what_they_are():
    assert (len(VECTORS), VECTORS.width, VECTORS.words) == (4, 2, ["The", "the", "House", "a"])
    assert repr(VECTORS) == "Vectors(en: 4 words of width 2)"


def test_a_row_for_each_word():
    for matrix in (np.zeros((3, 2)), np.zeros(4), np.zeros((4, 2, 1))):
        with pytest.raises(ValueError, match="a row for each of the 4 words"):
            Vectors.from_words(VECTORS.words, matrix)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_the_first_words(count):
    first = VECTORS.first(count)
    assert first.words == VECTORS.words[:count]
    np.testing.assert_array_equal(first.matrix, VECTORS.matrix[:count])
    assert np.shares_memory(first.matrix, VECTORS.matrix) or not count
    assert first.name == "en"


def test_words_of_some_rows():
    taken = VECTORS.take([3, 0])
    assert taken.words == ["a", "The"]
    assert taken.matrix.tolist() == [[6, 7], [0, 1]]


def test_lower_case_keeps_what_is_written_so_else_the_first():
    lower = VECTORS.lowercased()
    assert lower.words == ["the", "house", "a"]
    assert lower.matrix.tolist() == [[2, 3], [4, 5], [6, 7]]
    capitals = Vectors.from_words(["THE", "The", "a"], VECTORS.matrix[:3]).lowercased()
    assert capitals.words == ["the", "a"]
    assert capitals.matrix.tolist() == [[0, 1], [4, 5]]
    assert lower.lowercased().matrix is lower.matrix


def test_a_dictionary_finds_its_rows():
    french = Vectors.from_words(["le", "maison"], np.zeros((2, 3), dtype=np.float32))
    entries = (("the", "le"), ("House", None), ("horse", "maison"))
    dictionary = Dictionary(("en", "fr"), entries, "d")
    assert dictionary.rows([VECTORS, french]).tolist() == [[1, 0], [2, -1], [-1, 1]]
    assert dictionary.swapped().rows([french, VECTORS]).tolist() == [[0, 1], [-1, 2], [1, -1]]
    assert dictionary.swapped().languages == ("fr", "en")
    assert list(dictionary) == list(entries)
    with pytest.raises(ValueError, match=r"one view for each language \(en, fr\). Got 1 instead"):
        dictionary.rows([VECTORS])
    with pytest.raises(ValueError, match="must have 2 words"):
        Dictionary(("en", "fr"), (("a", "b", "c"),))


def test_vectors_know_how_they_were_read(tmp_path):
    """What `reading` says gives the same words again from the same file."""
    words = ["The", "house", "the", "House", "of", "Of", "a"]
    whole = Vectors.from_words(words, np.arange(14, dtype=np.float32).reshape(7, 2))
    write_vectors(tmp_path / "v.vec", whole)
    path = tmp_path / "v.vec"
    assert read_vectors(path).reading == VectorReading()
    for made in (
        read_vectors(path, lowercase=True, max_vocabulary=2),
        read_vectors(path, lowercase=True).first(2),
        read_vectors(path).lowercased(),
        read_vectors(path).lowercased().first(3),
        read_vectors(path).first(5).lowercased(),
        read_vectors(path, max_vocabulary=4).take([0, 1, 2, 3]),
        read_vectors(path).moved(whole.matrix),
    ):
        again = read_vectors(path, lowercase=made.reading.lowercase, max_vocabulary=made.reading.max_vocabulary)
        assert again.words == made.words
        assert again.reading == made.reading
    assert read_vectors(path, lowercase=True).first(2).reading == VectorReading(lowercase=True, max_vocabulary=2)
    assert read_vectors(path).first(100).reading == VectorReading()
