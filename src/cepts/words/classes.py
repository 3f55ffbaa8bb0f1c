"""Word classes: words that occur in similar contexts, found in monolingual text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of

if TYPE_CHECKING:
    from cepts.kernels.classes import Bigrams

# Stop when a pass moves no more than this share of the words.
SETTLED = 0.001


def word_classes(
    text_ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    words: int,
    *,
    classes: int = 50,
    passes: int = 10,
) -> NDArray[np.int32]:
    """Assign each word to a class, so that classes predict each other as well as possible.

    The exchange algorithm (Kneser and Ney, 1993), as in mkcls: maximise the likelihood of the text under a bigram model
    of classes, sum N(c,c') log N(c,c') - 2 sum N(c) log N(c), by moving one word after the other, the frequent ones
    first, to the class that raises it most. Sentence boundaries are a separate class, which no word joins. All words
    take part, rare ones too: each costs no more than its own bigrams. The result is a local maximum, and is
    deterministic.

    Parameters
    ----------
    text_ids, offsets
        The text: sentence `n` is `text_ids[offsets[n]:offsets[n + 1]]`.
    words
        Size of the vocabulary. Words that do not occur in the text are in the last class.
    classes
        Number of classes, numbered from 0; some may stay empty.
    passes
        The largest number of passes over all words; there are fewer if hardly any word moves.
    """
    from cepts.kernels.classes import count_classes, exchange

    if classes < 1:
        raise ValueError(f"`classes` must be 1 or more. Got {classes} instead.")
    frequencies = np.bincount(text_ids, minlength=words).astype(np.float64)
    order = np.argsort(-frequencies, kind="stable")
    # Start with classes of words of similar frequency that cover about equal parts of the text: the exchange then ends
    # in a higher maximum than if words are assigned to classes in turn.
    share = np.cumsum(frequencies[order]) / max(len(text_ids), 1)
    class_of = np.empty(words + 1, dtype=np.int32)
    class_of[order] = np.minimum(share * classes, classes - 1)
    class_of[words] = classes
    after, before = _bigrams(text_ids, offsets, words)
    joint = np.empty((classes + 1, classes + 1))
    count_classes(after, class_of, joint)
    totals = np.bincount(class_of[:words], frequencies, minlength=classes)
    order = order[: np.count_nonzero(frequencies)]
    for _ in range(passes):
        moved, _ = exchange(order, frequencies, after, before, class_of, joint, totals)
        if moved <= SETTLED * len(order):
            break
    return class_of[:words].copy()


def _bigrams(text_ids: NDArray[np.int32], offsets: NDArray[np.int64], words: int) -> tuple[Bigrams, Bigrams]:
    """The words after each word and those before it, both in ascending order; `words` is the sentence boundary."""
    from cepts.kernels.classes import Bigrams

    sentences = len(offsets) - 1
    places = np.arange(len(text_ids)) + np.repeat(np.arange(1, sentences + 1), np.diff(offsets))
    text = np.full(len(text_ids) + sentences + 1, words, dtype=np.int64)
    text[places] = text_ids
    kinds, counts = np.unique(text[:-1] * (words + 1) + text[1:], return_counts=True)
    first, second = np.divmod(kinds, words + 1)
    order = np.argsort(second, kind="stable")

    def rows(first: NDArray[np.int64], second: NDArray[np.int64], counts: NDArray[np.int64]) -> Bigrams:
        starts = offsets_of(np.bincount(first, minlength=words + 1))
        return Bigrams(starts, second.astype(np.int32), counts.astype(np.float64))

    return rows(first, second, counts), rows(second[order], first[order], counts[order])
