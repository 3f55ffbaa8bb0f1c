"""Counts of words in documents and in windows are what they are when a window is moved by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_poisson as oracles
from cepts.data import Documents
from cepts.engine import ThreadEngine, Workplace
from cepts.errors import ModelError, UsageError
from cepts.lm import cells as cells_module
from cepts.lm import shelved as shelved_module
from cepts.lm.counts import document_counts, window_counts

WORDS = "abcdef"
sentences = st.lists(st.sampled_from(WORDS), max_size=9)
collections = st.lists(st.lists(sentences, max_size=4), max_size=5)


def content_of(documents, function_words):
    return np.array([word not in function_words for word in documents.text.vocabulary.words], dtype=bool)


def as_matrix(found, documents, columns):
    numbers = {word: number for number, word in enumerate(documents.text.vocabulary.words)}
    matrix = np.zeros((len(numbers), columns))
    for (word, other), count in found.items():
        matrix[numbers[word], numbers.get(other, other)] = count
    return matrix


@settings(deadline=None, max_examples=100)
@given(collections, st.sets(st.sampled_from(WORDS)), st.sampled_from([1, 4, 1 << 20]))
def test_words_are_counted_in_their_documents(texts, function_words, size):
    documents = Documents.from_tokens(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelved_module, "SHARD_WORDS", size)
        patch.setattr(cells_module, "RANGE_CELLS", size)
        found = document_counts(documents, content_of(documents, function_words))
    want = oracles.document_counts(texts, set(WORDS) - function_words)
    assert found.shape == (len(documents.text.vocabulary), len(texts))
    assert found.nnz == len(want)
    np.testing.assert_array_equal(found.toarray(), as_matrix(want, documents, len(texts)))


options = st.fixed_dictionaries(
    {
        "window": st.sampled_from([3, 5, 7, 21]),
        "stop_first": st.booleans(),
        "borders": st.booleans(),
    }
)


@settings(deadline=None, max_examples=300)
@given(collections, st.sets(st.sampled_from(WORDS)), options, st.sampled_from([1, 4, 1 << 20]))
def test_a_window_counts_as_it_does_by_hand(texts, function_words, options, size):
    documents = Documents.from_tokens(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelved_module, "SHARD_WORDS", size)
        patch.setattr(cells_module, "RANGE_CELLS", size)
        found = window_counts(documents, content_of(documents, function_words), **options)
    want = as_matrix(
        oracles.window_counts(texts, set(WORDS) - function_words, **options),
        documents,
        len(documents.text.vocabulary),
    )
    assert found.shape == want.shape
    assert found.nnz == (want > 0).sum()
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), want, rtol=1e-6)
    np.testing.assert_allclose(found.toarray(), found.toarray().T, rtol=1e-6)


def test_every_word_of_a_long_text_has_a_whole_window():
    documents = Documents.from_tokens([[["a"] * 500]])
    assert window_counts(documents, np.array([True])).toarray().item() == 500 * 21 - 2 * sum(range(1, 11))


def test_threads_give_the_same_bytes(monkeypatch):
    random = np.random.default_rng(0)
    documents = Documents.from_tokens([[list(map(str, random.zipf(1.5, 400)))] for _ in range(5)])
    content = np.ones(len(documents.text.vocabulary), dtype=bool)
    monkeypatch.setattr(shelved_module, "SHARD_WORDS", 100)
    monkeypatch.setattr(cells_module, "RANGE_CELLS", 1000)
    one, three = (window_counts(documents, content, threads=threads) for threads in (1, 3))
    assert one.data.tobytes() == three.data.tobytes()
    assert one.indices.tobytes() == three.indices.tobytes()


def test_files_and_what_is_left_of_them_give_the_same_bytes(tmp_path, monkeypatch):
    random = np.random.default_rng(1)
    documents = Documents.from_tokens([[list(map(str, random.zipf(1.5, 300)))] for _ in range(4)])
    content = random.random(len(documents.text.vocabulary)) < 0.7
    whole = window_counts(documents, content, stop_first=True)
    monkeypatch.setattr(shelved_module, "SHARD_WORDS", 100)
    monkeypatch.setattr(cells_module, "RANGE_CELLS", 1000)
    place = Workplace(ThreadEngine(2), tmp_path)
    for missing in ((), ("shards/00003", "rows/00000"), ("rows",)):
        for name in missing:
            (tmp_path / f"{name}.piece").unlink()
        found = window_counts(documents, content, stop_first=True, workplace=place)
        for name in ("data", "indices", "indptr"):
            assert getattr(found, name).tobytes() == getattr(whole, name).tobytes()
    assert len(list((tmp_path / "shards").iterdir())) == 4
    assert len(list((tmp_path / "rows").iterdir())) > 2
    with pytest.raises(ModelError, match="`window` differs"):
        window_counts(documents, content, window=5, stop_first=True, workplace=place)


BAD_OPTIONS = {
    "even": ({"window": 20}, "`window` must be an odd number of 3 or more.* Got 20 instead"),
    "small": ({"window": 1}, "Got 1 instead"),
    "threads": ({"threads": 0}, "`threads` must be 1 or more. Got 0 instead"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused_in_one_line(options, message):
    with pytest.raises(UsageError, match=message) as raised:
        window_counts(Documents.from_tokens([[["a"]]]), np.array([True]), **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [np.array([True]), np.array([1, 0]), [[True, False]]])
def test_content_is_a_truth_value_a_word(content):
    documents = Documents.from_tokens([[["a", "b"]]])
    for count in (document_counts, window_counts):
        with pytest.raises(ValueError, match="`content` must be 2 truth values, one for each word"):
            count(documents, content)
