"""Function words, which only the n-grams of an adapted model predict: from a list, or by how evenly they are used.

A function word is frequent, and about equally frequent in every passage; a content word occurs where its topic does. So
the text is cut into stretches of equal length, and the variance of each word's counts over the stretches is compared
with that of random placement. Which variance is too large depends on the text (*cell* is everywhere in a chapter on
cells), so the frequent words are split into two groups at the threshold that separates them best.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text, Vocabulary

STRETCH = 250  # words: about a section of a textbook
MOST_STRETCHES = 20_000  # a larger text is sampled evenly
LEAST_SHARE = 1 / 2000  # of the words of the text
LEAST_COUNT = 20  # with fewer, the variance is mostly noise
MOST_SPREAD = 2.5  # the highest threshold, for texts about many topics
LEAST_SPREAD = 0.1  # smaller spreads (a rate that varies by less than a third) count as equal
PLACEHOLDER = re.compile(r"<[^<>]+>")
# As long as the list of Novak and Mammone (2001), who made theirs by hand and do not print it.
_ENGLISH = (
    "the a an and or but if so as than then of to in on at by for from with into between through is are was were be "
    "been being has have had do does did can could may must will would should not no it its he his they their we "
    "our you your i this that these those which who what when where how there such also all"
)
ENGLISH_FUNCTION_WORDS = tuple(_ENGLISH.split())


def is_word(token: str) -> bool:
    """Whether `token` has a letter and is not a placeholder such as ``<num>``."""
    return any(character.isalpha() for character in token) and not PLACEHOLDER.fullmatch(token)


def marked_words(vocabulary: Vocabulary, stop: Collection[str] = ()) -> NDArray[np.bool_]:
    """Which words of `vocabulary` are in the list `stop`, or numbers, punctuation or placeholders such as ``<num>``."""
    listed = frozenset(stop)
    return np.array([word in listed or not is_word(word) for word in vocabulary.words], dtype=np.bool_)


def function_words(
    text: Text, *, stretch: int = STRETCH, least_share: float = LEAST_SHARE, most_spread: float = MOST_SPREAD
) -> NDArray[np.bool_]:
    """Find the function words of a text by how evenly it uses them; this works in any language.

    Returns a truth value for each word of the vocabulary of `text`. Function words make up at least `least_share` of
    the text, and their spread is below `most_spread` and below the threshold that best separates the spreads of all
    such words into two groups. Numbers, punctuation and placeholders such as ``<num>`` always count as function words.

    The spread of a word is the relative variance of its rate from stretch to stretch, beyond that of a Poisson
    variable: ``(variance - mean) / mean ** 2`` of its counts. In a biology textbook it is near 0 for *of*, and 10 for
    *energy*.

    Parameters
    ----------
    text
        Sentences in their original order; shuffled sentences show only frequencies.
    stretch
        Number of words in a stretch.
    least_share
        The smallest share of the text that a function word makes up, from 0 to 1.
    most_spread
        The largest spread of a function word.
    """
    if stretch < 1:
        raise ValueError(f"`stretch` must be at least 1. Got {stretch} instead.")
    marked = marked_words(text.vocabulary)
    tokens = len(text.ids)
    if not tokens:
        return marked
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    asked = np.flatnonzero((counts >= max(LEAST_COUNT, least_share * tokens)) & ~marked)
    spread = _spread(text.ids, asked, len(text.vocabulary), stretch)
    marked[asked[spread < min(most_spread, _parting(spread))]] = True
    return marked


def _parting(spread: NDArray[np.float64]) -> float:
    """The threshold that splits logarithms of spreads into two groups with the least variance within them (Otsu)."""
    ordered = np.sort(np.maximum(spread, LEAST_SPREAD))
    values = np.log(ordered)
    if not len(values) or values[0] == values[-1]:
        return np.inf
    below = np.arange(1, len(values))
    sums = np.cumsum(values)
    means = sums[:-1] / below, (sums[-1] - sums[:-1]) / (len(values) - below)
    between = below * (len(values) - below) * (means[1] - means[0]) ** 2
    return float(ordered[1 + between.argmax()])


def _spread(ids: NDArray[np.int32], asked: NDArray[np.int64], words: int, stretch: int) -> NDArray[np.float64]:
    """The spread of the words `asked`."""
    count = max(1, min(len(ids) // stretch, MOST_STRETCHES))
    stretch = min(stretch, len(ids))
    starts = np.linspace(0, len(ids) - stretch, count).astype(np.int64)
    row_of = np.full(words, -1, dtype=np.int64)
    row_of[asked] = np.arange(len(asked))
    rows = row_of[ids[starts[:, None] + np.arange(stretch)]]
    cells = (rows * count + np.arange(count)[:, None])[rows >= 0]
    table = np.bincount(cells, minlength=len(asked) * count).reshape(len(asked), count)
    means = table.mean(axis=1)
    # A word that occurs in none of the sampled stretches of a large text counts as perfectly even.
    return (table.var(axis=1) - means) / np.maximum(means, 1 / count) ** 2
