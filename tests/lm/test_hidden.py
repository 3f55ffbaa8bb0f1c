from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lm as oracles
from cepts.data import Documents
from cepts.errors import DataError, UsageError
from cepts.lm.factorise import HiddenOptions, document_priors, fit_hidden_documents
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryOptions
from toy_lm import histories, toy_documents, toy_hidden

ROWS = st.lists(st.integers(-1, 4), max_size=12).map(lambda rows: np.array(rows, dtype=np.int32))


def plain(hidden):
    return [part.astype(np.float64) for part in (hidden.words, hidden.priors, hidden.marginals)]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 99), histories, ROWS, st.integers(0, 12))
def test_a_tracker_follows_a_text_in_any_pieces(seed, options, rows, cut):
    hidden = toy_hidden(np.random.default_rng(seed), range(5))
    whole = hidden.tracker(options).follow(rows)
    tracker = hidden.tracker(options)
    first = tracker.follow(rows[:cut])
    twin = tracker.copy()
    twin.follow(np.array([3, 1], dtype=np.int32))  # what a copy reads does not change the first
    np.testing.assert_array_equal(np.vstack([first, tracker.follow(rows[cut:])]), whole)
    for place in range(len(rows)):
        want = oracles.history_weights(rows[:place].tolist(), *plain(hidden), options)
        np.testing.assert_allclose(whole[place], want, rtol=1e-4, atol=1e-6)
        assert abs(whole[place].sum(dtype=np.float64) - 1) < 1e-6


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 99), histories, ROWS)
def test_estimated_priors_are_the_mean_of_all_histories(seed, options, rows):
    hidden = toy_hidden(np.random.default_rng(seed), range(5))
    found = hidden.estimated_priors(rows, options)
    want = [oracles.history_weights(rows[:place].tolist(), *plain(hidden), options) for place in range(len(rows))]
    np.testing.assert_allclose(found, np.mean(want, axis=0) if want else np.zeros(4), rtol=1e-4, atol=1e-6)


def test_long_texts_have_the_same_estimated_priors_as_in_one_run():
    hidden = toy_hidden(np.random.default_rng(3), range(5))
    rows = np.random.default_rng(4).integers(-1, 5, 9000).astype(np.int32)
    options = HistoryOptions()
    want = hidden.tracker(options).follow(rows).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(hidden.estimated_priors(rows, options), want, rtol=1e-6)


def test_lifts_are_those_of_the_words_of_each_hidden_document():
    hidden = HiddenDocuments(np.eye(2, dtype=np.float32), np.full(2, 0.5, np.float32), np.array([1, 3], dtype=np.int32))
    assert len(hidden) == 2


def test_lifts_leave_small_shares_out():
    words = np.array([[0.5, 1 - 5e-7], [0.5, 5e-7]], dtype=np.float32)
    hidden = HiddenDocuments(words, np.array([0.25, 0.75], np.float32), np.arange(2, dtype=np.int32))
    assert hidden.lifts.starts.tolist() == [0, 2, 3]
    assert hidden.lifts.members.tolist() == [0, 1, 0]
    np.testing.assert_allclose(hidden.lifts.lifts, [0.5 / 0.875, 4, 1 / 0.875], rtol=1e-5)


@pytest.mark.parametrize(
    "option",
    [
        {"history": -1},
        {"places": "none"},
        {"posterior": "sum"},
        {"fold_in": 0},
        {"decay": 0},
        {"decay": 1.1},
        {"decay": float("nan")},
        {"strength": 0},
        {"strength": float("inf")},
        {"uninformative": 1},
        {"uninformative": -0.1},
    ],
)
def test_options_of_the_history_are_checked(option):
    with pytest.raises(UsageError, match=rf"^`{next(iter(option))}` must be .* Got .* instead\.$"):
        HistoryOptions(**option)


def content_of(documents):
    return np.array([word[0] == "s" for word in documents.text.vocabulary.words])


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_hidden_documents_are_the_subjects(segmentation):
    documents = toy_documents(documents=30)
    options = HiddenOptions(segmentation=segmentation, window=7)
    hidden = fit_hidden_documents([(documents, 1.0)], content_of(documents), 3, options)
    words = documents.text.vocabulary.words
    assert {words[number][0] for number in hidden.numbers.tolist()} == {"s"}
    assert hidden.words.dtype == hidden.priors.dtype == np.float32
    np.testing.assert_allclose(hidden.words.sum(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(hidden.priors.sum(), 1, rtol=1e-6)
    assert hidden.words.min() >= 0
    subjects = {words[hidden.numbers[row]][:2] for row in hidden.words.argmax(axis=0).tolist()}
    assert subjects == {"s0", "s1", "s2"}


@pytest.mark.parametrize("segmentation", ["implicit", "explicit"])
def test_a_text_counts_for_what_it_is_worth(segmentation):
    documents = toy_documents(documents=9)
    others = Documents(documents.text, documents.offsets, documents.names)

    def fitted(*texts):
        options = HiddenOptions(segmentation=segmentation, window=5, iterations=5)
        return fit_hidden_documents(list(texts), content_of(documents), 2, options)

    alone = fitted((documents, 1.0))
    unheard = fitted((documents, 1.0), (others, 0.0))
    np.testing.assert_array_equal(alone.words, unheard.words)
    # Rare words are rare by their worth.
    assert len(fitted((documents, 1.0), (others, 1.0)).numbers) >= len(alone.numbers)
    with pytest.raises(DataError, match="no content words"):
        fitted((documents, 1e-3))


def test_a_document_of_function_words_only_is_left_out():
    rows = [[["the", "s0w1", "s0w1", "s0w2"]], [["the", "of"]], [[]], [["s1w1", "s1w1", "s0w2", "of"]]]
    documents = Documents.from_tokens(rows)
    options = HiddenOptions(segmentation="explicit")
    hidden = fit_hidden_documents([(documents, 1.0)], content_of(documents), 2, options)
    np.testing.assert_allclose(hidden.words.sum(axis=0), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": 99}, "23 content words, so `hidden` must be 1 to 23"),
        ({"hidden": 0}, "Got 0 instead"),
        ({"hidden": -3}, "Got -3 instead"),
        ({"hidden": 10, "segmentation": "explicit"}, "in 9 documents with such words, so `hidden` must be 1 to 9,"),
        ({"segmentation": "none"}, "`segmentation` must be one of implicit, explicit"),
        ({"factorisation": "lda"}, "`factorisation` must be one of nmf, svd"),
        ({"places": "none"}, "`places` must be one of content, all"),
        ({"start": "there"}, "`start` must be one of columns, random, anchors"),
        ({"blocks": "four"}, "`blocks` must be one of two, joint, sequential"),
        ({"priors": "flat"}, "`priors` must be one of shares, documents"),
        ({"window": 4}, "`window` must be an odd number"),
        ({"window": -1}, "`window` must be an odd number"),
    ],
)
def test_options_of_the_hidden_documents_are_checked(options, message):
    documents = toy_documents(documents=9)
    with pytest.raises(UsageError, match=message) as caught:
        hidden = options.pop("hidden", 2)
        fit_hidden_documents(
            [(documents, 1.0)], content_of(documents), hidden, HiddenOptions(**{"min_count": 1, **options})
        )
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 99))
def test_priors_of_documents_divide_by_the_square_of_their_lengths(seed):
    """M made by eq. (10) of nmf_lm, of hidden documents with lengths of their own, gives its P(d) back."""
    random = np.random.default_rng(seed)
    words = random.dirichlet(np.ones(6), 3).T
    lengths, priors = random.uniform(2, 20, 3), random.dirichlet(np.ones(3))
    # Where hidden documents share no words, the windows around a word have the length of its hidden document.
    words = words * (np.arange(6)[:, None] % 3 == np.arange(3))
    words /= words.sum(axis=0)
    matrix = words @ np.diag(lengths * priors * lengths) @ words.T
    counts = words @ (lengths * priors)  # how often each word is in the centre of a window
    found = document_priors(words, lengths**2 * priors, matrix.sum(axis=1), counts)
    np.testing.assert_allclose(found / found.sum(), priors, rtol=1e-6)
    same = document_priors(words, priors, words @ priors, (words @ priors) / 7)
    np.testing.assert_allclose(same / same.sum(), priors, rtol=1e-6)


def test_the_options_of_the_paper_change_what_is_counted():
    """Content words far apart, with function words between: near each other among content words only."""
    text = [["s0a", *["the"] * 5, "s0b", *["the"] * 5] * 6, ["s1a", *["the"] * 5] * 6]
    documents = Documents.from_tokens([[sentence] for sentence in text])
    content = content_of(documents)
    found = {}
    for places in ("content", "all"):
        options = HiddenOptions(window=3, places=places, iterations=300, borders=False)
        hidden = fit_hidden_documents([(documents, 1.0)], content, 1, options)
        found[places] = hidden.words[:, 0]
    counts = [6, 6, 6]
    assert found["all"].tolist() == pytest.approx([count / 18 for count in counts])  # each word with itself alone
    # Windows of s0a and s0b hold three words; the first and the last word of the text have smaller ones.
    assert found["content"].tolist() == pytest.approx([17 / 52, 18 / 52, 17 / 52])


def test_the_lengths_of_windows_are_those_of_the_text():
    """A dense and a thin text with as many content words: windows have 5 or 3 of them."""
    rows = [[["s0a", "s0b"] * 200], [["s1a", "the", "s1b", "the"] * 200]]
    documents = Documents.from_tokens(rows)
    found = {}
    for priors in ("shares", "documents"):
        options = HiddenOptions(window=5, places="all", priors=priors, iterations=200)
        hidden = fit_hidden_documents([(documents, 1.0)], content_of(documents), 2, options)
        dense = hidden.words[:2].sum(axis=0).argmax()
        found[priors] = hidden.priors[dense] / hidden.priors[1 - dense]
    assert found["shares"] == pytest.approx(5 / 3, rel=0.01)
    assert found["documents"] == pytest.approx(3 / 5, rel=0.01)


def test_a_text_of_function_words_only_is_refused():
    documents = Documents.from_tokens([[["the", "of", "the"]]])
    with pytest.raises(DataError, match="no content words that occur at least 2 times"):
        fit_hidden_documents([(documents, 1.0)], np.zeros(2, dtype=bool), 1)
