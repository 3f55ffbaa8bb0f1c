"""Rare words share symbols, so that a vocabulary and a lexicon stay small.

The symbol of a rare word is its stem and a mark, such as ``parlia …``, so that it still has stems and a spelling; if
even all rare words of a stem are rare together, a shorter stem is used, and in the end the mark alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary
from cepts.words.forms import distinct

# No token has a space, so that no symbol is ever a word.
MARK = " …"


def rare_symbol(stem: str) -> str:
    """The symbol of the rare words of a stem."""
    return stem + MARK


def is_symbol(word: str) -> bool:
    """Whether a word of a model is a symbol that rare words share."""
    return word.endswith(MARK)


def share_symbols(
    names: Sequence[str],
    frequencies: NDArray[np.int64],
    stems: Sequence[int],
    *,
    min_count: int = 1,
    max_vocabulary: int | None = None,
) -> list[str]:
    """The names of words, of which rare ones are replaced by symbols.

    Parameters
    ----------
    names, frequencies
        The words, and how often each occurs.
    stems
        Numbers of letters of the stems by which symbols are shared, in falling order.
    min_count
        Words that occur less often are rare, and so is a stem whose rare words occur less often together.
    max_vocabulary
        If there are more words, only this many of the most frequent ones, and of these the first, are not rare.
    """
    kept = frequencies >= min_count
    if max_vocabulary is not None and kept.sum() > max_vocabulary:
        order = np.argsort(-frequencies, kind="stable")[:max_vocabulary]
        kept = np.zeros(len(names), dtype=np.bool_)
        kept[order] = True
        min_count = max(min_count, int(frequencies[order[-1]]) if len(order) else min_count)
    rare = np.flatnonzero(~kept)
    found = list(names)
    for word in rare.tolist():
        found[word] = MARK
    for letters in reversed(stems):
        symbols, places = distinct([rare_symbol(names[word][:letters]) for word in rare.tolist()])
        often = np.bincount(places, frequencies[rare], len(symbols))[places] >= min_count
        for word, place in zip(rare[often].tolist(), places[often].tolist(), strict=True):
            found[word] = symbols[place]
    return found


def known_names(vocabulary: Vocabulary, words: Sequence[str], stems: Sequence[int]) -> list[str]:
    """The words, of which those that are not in `vocabulary` are replaced by the symbols that they share as rare words.

    `stems` are those of `share_symbols`, which made the vocabulary.
    """

    def name(word: str) -> str:
        # Only symbols of stems that are frequent enough are in the vocabulary.
        names = [word, *(rare_symbol(word[:letters]) for letters in stems), MARK]
        return next((each for each in names if vocabulary.number(each) >= 0), word)

    return [name(word) for word in words]
