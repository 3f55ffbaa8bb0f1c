"""Word classes: words that occur in similar contexts, found in monolingual text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.words.adjacent import AdjacentWords

if TYPE_CHECKING:
    from cepts.kernels.classes import Bigrams

# Stop when a pass moves no more than this share of the words.
SETTLED = 0.001


def word_classes(
    adjacent: AdjacentWords, *, classes: int = 50, passes: int = 10, known: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Assign each word to a class, so that classes predict each other as well as possible.

    The exchange algorithm (Kneser and Ney, 1993), as in mkcls: maximise the likelihood of the text under a bigram model
    of classes, sum N(c,c') log N(c,c') - 2 sum N(c) log N(c), by moving one word after the other, the frequent ones
    first, to the class that raises it most. Sentence boundaries are a separate class, which no word joins. All words
    take part, rare ones too: each costs no more than its own bigrams. The result is a local maximum, and is
    deterministic.

    Parameters
    ----------
    adjacent
        The adjacent words of the text. Words that do not occur in it are in the last class.
    classes
        Number of classes, numbered from 0; some may stay empty.
    passes
        The largest number of passes over all words; there are fewer if hardly any word moves.
    known
        The class of each word that has one already, which it keeps; -1 for the others.
    """
    from cepts.kernels.classes import count_classes, exchange

    if classes < 1:
        raise ValueError(f"`classes` must be 1 or more. Got {classes} instead.")
    words, frequencies = adjacent.words, adjacent.counts.astype(np.float64)
    order = np.argsort(-frequencies, kind="stable")
    # Start with classes of words of similar frequency that cover about equal parts of the text: the exchange then ends
    # in a higher maximum than if words are assigned to classes in turn.
    share = np.cumsum(frequencies[order]) / max(adjacent.counts.sum(), 1)
    class_of = np.empty(words + 1, dtype=np.int32)
    class_of[order] = np.minimum(share * classes, classes - 1)
    class_of[words] = classes
    if known is not None:
        class_of[:words] = np.where(known >= 0, known, class_of[:words])
        order = order[known[order] < 0]
    after, before = _bigrams(adjacent)
    joint = np.empty((classes + 1, classes + 1))
    count_classes(after, class_of, joint)
    totals = np.bincount(class_of[:words], frequencies, minlength=classes)
    order = order[frequencies[order] > 0]
    for _ in range(passes):
        moved, _ = exchange(order, frequencies, after, before, class_of, joint, totals)
        if moved <= SETTLED * len(order):
            break
    return class_of[:words].copy()


def _bigrams(adjacent: AdjacentWords) -> tuple[Bigrams, Bigrams]:
    """The words after each word and those before it, both in ascending order."""
    from cepts.kernels.classes import Bigrams

    first, second, times = adjacent.first, adjacent.second, adjacent.times
    order = np.argsort(second, kind="stable")

    def rows(first: NDArray[np.int32], second: NDArray[np.int32], times: NDArray[np.int64]) -> Bigrams:
        starts = offsets_of(np.bincount(first, minlength=adjacent.words + 1))
        return Bigrams(starts, second, times.astype(np.float64))

    return rows(first, second, times), rows(second[order], first[order], times[order])
