from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import oracles_sentences as oracles
from cepts.data import Text, Vectors, Vocabulary
from cepts.errors import DataError
from cepts.spaces.sentences import (
    WordWeights,
    idf_weights,
    sentence_vectors,
    sif_vectors,
    sif_weights,
    simple_text,
    simple_tokens,
    without_common,
)


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("", ""),
        ("  ?! -- … ", ""),
        ("The cat's here.", "the cat 's here"),
        ("I don’t, I can't, he cannot; we'll", "i do n't i ca n't he can not we 'll"),
        ("'Quoted' words, the dogs' tails, (so)", "quoted words the dogs tails so"),
        ("L'homme d’aujourd'hui et l'été", "l' homme d' aujourd' hui et l' été"),
        ("dell'Unione, un'altra", "dell' unione un' altra"),
        ("3.5 of 1,000: the 20th, in the 1990s.", "3.5 of 1,000 the 20th in the 1990s"),
        ("In the U.S. on 5.", "in the u.s. on 5"),
        ("covid-19 snake_case B5 x2y", "covid 19 snake case b 5 x 2 y"),
        ("Ёлка и Łódź straße", "ёлка и łódź straße"),
        ("cannotation scant nothing", "cannotation scant nothing"),
    ],
)
def test_tokens(sentence, tokens):
    assert simple_tokens(sentence) == tokens.split()


@given(st.text(alphabet="abnt'’ .,-1_é\u0301中\n", max_size=30))
def test_tokens_lose_only_what_is_neither_letter_nor_digit(sentence):
    tokens = simple_tokens(sentence)
    assert all(tokens)
    kept = [letter for letter in "".join(tokens) if letter.isalnum()]
    assert kept == [letter for letter in sentence.lower() if letter.isalnum()]


def test_a_raw_text_has_a_sentence_for_each_line():
    text = simple_text(["It's", "", "it"])
    assert [text[n] for n in range(len(text))] == [["it", "'s"], [], ["it"]]


WORDS = ["a", "b", "C", "d", "e"]
TOKENS = st.sampled_from(["a", "A", "b", "C", "c", "D", "x", "y"])
SENTENCES = st.lists(st.lists(TOKENS, max_size=6), max_size=8)
MATRICES = arrays(np.float16, (len(WORDS), 3), elements=st.integers(-8, 8))
POSITIVE = arrays(np.float32, len(WORDS), elements=st.sampled_from([0.25, 0.5, 1.0, 3.0]))


@given(SENTENCES, MATRICES, POSITIVE, st.booleans(), st.booleans())
def test_sentence_vectors_equal_adding_word_by_word(sentences, matrix, values, repeats, mean):
    got = sentence_vectors(
        Text.from_tokens(sentences), Vectors.from_words(WORDS, matrix), WordWeights(values, repeats, mean)
    )
    wanted = [
        oracles.sentence_vector(sentence, WORDS, matrix, values, repeats=repeats, mean=mean) for sentence in sentences
    ]
    assert got.covered.tolist() == [vector is not None for vector in wanted]
    filled = [np.zeros(3) if vector is None else vector for vector in wanted]
    assert (got.matrix.dtype, got.matrix.shape) == (np.float32, (len(sentences), 3))
    np.testing.assert_allclose(got.matrix, np.reshape(filled, (-1, 3)), rtol=1e-5, atol=1e-5)


@given(SENTENCES, MATRICES)
def test_without_weights_all_words_count_the_same(sentences, matrix):
    text, vectors = Text.from_tokens(sentences), Vectors.from_words(WORDS, matrix)
    plain = sentence_vectors(text, vectors)
    wanted = sentence_vectors(text, vectors, WordWeights(np.full(len(WORDS), 2, dtype=np.float32)))
    np.testing.assert_array_equal(plain.covered, wanted.covered)
    np.testing.assert_allclose(plain.matrix, wanted.matrix, rtol=1e-5)


def test_a_part_of_a_text_has_the_rows_of_the_whole():
    text = Text.from_tokens([["a", "b"], ["b", "x"], ["C", "d", "d"], []])
    vectors = Vectors.from_words(WORDS, np.arange(15, dtype=np.float32).reshape(5, 3))
    whole, part = sentence_vectors(text, vectors), sentence_vectors(text.part(1, 4), vectors)
    np.testing.assert_array_equal(part.matrix, whole.matrix[1:])
    assert part.covered.tolist() == [True, True, False]


@given(SENTENCES.filter(len), st.sampled_from([0.1, 1.0]))
def test_idf_equals_counting(sentences, floor):
    weights = idf_weights(Text.from_tokens(sentences), Vocabulary.from_words(WORDS), floor=floor)
    np.testing.assert_allclose(weights.values, oracles.idf(sentences, WORDS, floor), rtol=1e-6)
    assert (weights.repeats, weights.mean) == (False, True)


@given(SENTENCES.filter(len))
def test_words_that_muse_has_not_counted_are_skipped(sentences):
    """As in its program: the mean is of words that are in the counted text."""
    vectors = Vectors.from_words(WORDS, np.arange(5 * len(WORDS), dtype=np.float32).reshape(len(WORDS), 5))
    weights = idf_weights(Text.from_tokens(sentences[:1]), vectors.vocabulary, floor=1.0, skip_unseen=True)
    seen = {oracles.row_of(WORDS, token) for token in sentences[0]}
    counted = oracles.idf(sentences[:1], WORDS, 1.0)
    assert [weight > 0 for weight in weights.values] == [row in seen for row in range(len(WORDS))]
    got = sentence_vectors(Text.from_tokens(sentences), vectors, weights)
    for row, sentence in enumerate(sentences):
        kept = [token for token in sentence if oracles.row_of(WORDS, token) in seen]
        wanted = oracles.sentence_vector(kept, WORDS, vectors.matrix, counted, repeats=False, mean=True)
        assert got.covered[row] == (wanted is not None)
        np.testing.assert_allclose(got.matrix[row], 0.0 if wanted is None else wanted, rtol=1e-5)


def test_sif_weights():
    weights = sif_weights(Vocabulary.from_words(["the", "The", "cat", "n't"]), {"the": 90, "cat": 10}, smoothing=0.1)
    np.testing.assert_allclose(weights.values, [0.1, 0.1, 0.5, 1], rtol=1e-6)
    assert (weights.repeats, weights.mean) == (True, False)


@given(arrays(np.float32, (7, 4), elements=st.integers(-8, 8)), st.integers(0, 2))
def test_what_is_common_is_the_first_right_singular_vectors(matrix, directions):
    spectrum = np.linalg.svd(matrix.astype(float), compute_uv=False)
    got = without_common(matrix, directions=directions)
    left = max((spectrum[directions:] ** 2).sum(), 0)
    assert (got.astype(float) ** 2).sum() == pytest.approx(left, rel=1e-4, abs=1e-3)
    # Where singular values are the same, their vectors are any of a plane.
    if directions == 0 or spectrum[directions - 1] - spectrum[directions] > 0.01:
        np.testing.assert_allclose(got, oracles.without_common(matrix.astype(float), directions), atol=1e-3)


def test_sif_vectors_lose_what_all_sentences_share():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(5, 3)) + np.array([0, 5, 0])
    vectors = Vectors.from_words(WORDS, matrix.astype(np.float32))
    text = Text.from_tokens([["a", "b"], ["b", "C", "C"], ["x"], ["d", "e", "a"]])
    weights = sif_weights(vectors.vocabulary, {"a": 5, "b": 3, "d": 1})
    before, after = sentence_vectors(text, vectors, weights), sif_vectors(text, vectors, weights)
    np.testing.assert_allclose(after.matrix, oracles.without_common(before.matrix, 1), atol=1e-5)
    assert after.covered.tolist() == [True, True, False, True]
    assert not after.matrix[2].any()
    assert np.abs(after.matrix).max() < np.abs(before.matrix).max()


def test_bad_arguments_are_refused():
    vectors = Vectors.from_words(WORDS, np.ones((5, 3), dtype=np.float32))
    text = Text.from_tokens([["a"]])
    with pytest.raises(ValueError, match=r"`weights` must be 5 numbers. Got 2 instead"):
        sentence_vectors(text, vectors, WordWeights(np.ones(2, dtype=np.float32)))
    with pytest.raises(ValueError, match=r"`smoothing` must be above 0. Got 0 instead"):
        sif_weights(vectors.vocabulary, {"a": 1}, smoothing=0)
    with pytest.raises(ValueError, match=r"`floor` must be above 0. Got -1 instead"):
        idf_weights(text, vectors.vocabulary, floor=-1)
    with pytest.raises(DataError, match="the table of word counts is empty"):
        sif_weights(vectors.vocabulary, {})
    with pytest.raises(DataError, match="no sentences to learn word weights"):
        idf_weights(Text.from_tokens([]), vectors.vocabulary)
