"""Sub-words pooled to words, and windows of long sentences."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles_encoders as oracles
from cepts.encoders.pooling import cut_windows, pooled

WIDTH = 5


def pieces_of(word):
    """A sub-word for each letter; none for a word of dots."""
    return [ord(letter) for letter in word if letter != "."]


def in_context(windows):
    """The vector of a sub-word depends on all of its window."""
    tables = np.random.default_rng(0).standard_normal((200, WIDTH))
    return [
        np.array([tables[piece] + 0.1 * np.mean(tables[list(window)], axis=0) for piece in window])
        for window in windows
    ]


SENTENCES = st.lists(st.lists(st.text("abc.", min_size=1, max_size=4), max_size=5), max_size=5)


@given(SENTENCES, st.integers(1, 4))
def test_words_get_the_mean_of_their_sub_words(sentences, batch):
    found = pooled(sentences, pieces_of, in_context, longest=30, batch=batch, width=WIDTH)
    wanted = oracles.word_means(sentences, pieces_of, in_context, 30)
    assert found.shape == (len(wanted), WIDTH)
    for row, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(row, np.zeros(WIDTH) if want is None else want, rtol=1e-5, atol=1e-6)


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=30), st.integers(1, 12), st.integers(0, 5))
def test_every_sub_word_is_wanted_once_and_where_it_has_most_around_it(pieces, longest, first):
    windows = list(cut_windows(pieces, first, longest))
    flat = [(piece, first + number) for number, word in enumerate(pieces) for piece in word]
    taken = [
        (piece, word)
        for window in windows
        for piece, word, wanted in zip(window.ids, window.words, window.wanted, strict=True)
        if wanted
    ]
    assert taken == flat
    assert all(len(window.ids) <= longest for window in windows)
    for window in windows if len(windows) > 1 and longest >= 4 else []:
        # A quarter of the window is on either side of what is taken, except at the ends of the sentence.
        places = np.flatnonzero(window.wanted)
        assert window is windows[0] or places[0] >= longest // 4
        assert window is windows[-1] or len(window.ids) - 1 - places[-1] >= longest // 4 - 1
