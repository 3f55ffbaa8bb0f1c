"""From words to sub-words in windows that a model can take, and from the vectors of sub-words back to words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.encoders.encoder import Matrix, Sentences


class Window(NamedTuple):
    """Consecutive sub-words that are encoded together.

    Attributes
    ----------
    ids
        Numbers of the sub-words.
    words
        For each sub-word, the number of its word among all words.
    wanted
        Whether the vector of a sub-word is taken from this window, rather than from a neighbouring one that has it
        further from its edge.
    """

    ids: list[int]
    words: list[int]
    wanted: list[bool]


def cut_windows(pieces: Sequence[Sequence[int]], first: int, longest: int) -> Iterator[Window]:
    """Cut the sub-words of a sentence into windows of at most `longest` sub-words, which overlap by half.

    Parameters
    ----------
    pieces
        The sub-words of each word.
    first
        The number of the sentence's first word among all words.
    longest
        How many sub-words the model takes, without marks of start and end.

    Every sub-word is wanted of exactly one window: where two have it, of the one in which more sub-words are before and
    after it.
    """
    ids = [piece for word in pieces for piece in word]
    words = [first + number for number, word in enumerate(pieces) for _ in word]
    step = max(longest // 2, 1)
    starts = [0]
    while starts[-1] + longest < len(ids):
        starts.append(min(starts[-1] + step, len(ids) - longest))
    # The border of two windows is in the middle of what they share.
    borders = [
        0,
        *((after + before + longest) // 2 for before, after in pairwise(starts)),
        len(ids),
    ]
    for start, low, high in zip(starts, borders, borders[1:], strict=False):
        stop = min(start + longest, len(ids))
        yield Window(ids[start:stop], words[start:stop], [low <= place < high for place in range(start, stop)])


def padded(
    windows: Sequence[Sequence[int]], start: Sequence[int], end: Sequence[int], padding: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of all windows between the marks of start and end, filled up to the longest, and 1 where they are."""
    rows = [[*start, *window, *end] for window in windows]
    ids = np.full((len(rows), max(map(len, rows))), padding, dtype=np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask


def pooled(
    sentences: Sentences,
    pieces_of: Callable[[str], Sequence[int]],
    encode: Callable[[Sequence[Sequence[int]]], Sequence[NDArray]],
    *,
    longest: int,
    batch: int,
    width: int,
) -> Matrix:
    """The mean of the vectors of each word's sub-words; zeros for a word without sub-words.

    Parameters
    ----------
    sentences
        The words of each sentence.
    pieces_of
        Gives the sub-words of a word.
    encode
        Encodes windows: for each, one vector for each of its sub-words.
    longest
        How many sub-words a window may have.
    batch
        How many windows are encoded together.
    width
        How many numbers a vector has.
    """
    known: dict[str, Sequence[int]] = {}
    windows: list[Window] = []
    total = 0
    for sentence in sentences:
        for word in sentence:
            if word not in known:
                known[word] = pieces_of(word)
        windows += cut_windows([known[word] for word in sentence], total, longest)
        total += len(sentence)
    windows = [window for window in windows if window.ids]
    # Windows of about the same length are encoded together, so that little is padded.
    order = sorted(range(len(windows)), key=lambda number: len(windows[number].ids))
    sums, counts = np.zeros((total, width)), np.zeros(total)
    for start in range(0, len(order), batch):
        chosen = [windows[number] for number in order[start : start + batch]]
        for window, vectors in zip(chosen, encode([window.ids for window in chosen]), strict=True):
            wanted = np.array(window.wanted)
            words = np.array(window.words)[wanted]
            np.add.at(sums, words, np.asarray(vectors, dtype=np.float64)[wanted])
            np.add.at(counts, words, 1.0)
    return (sums / np.maximum(counts, 1.0)[:, None]).astype(np.float32)
