"""Rare words share symbols, so that a vocabulary and a lexicon stay small.

The symbol of a rare word is its stem and a mark, such as ``parlia …``, so that it still has stems and a spelling; if
even all rare words of a stem are rare together, a shorter stem is used, and in the end the mark alone.

A text with very many words needs this while it is read, too: whenever too many are held, the rarest ones become symbols
(`shrink`). Later occurrences of these are counted anew, so a word that becomes frequent later is a word from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, WordBound
from cepts.words.forms import MARK, Forms, distinct, is_symbol
from cepts.words.forms import number as number_words

# How many words are held while a text is read, for each one that is kept, and at least.
WORDS_HELD, LEAST_HELD = 4, 1 << 17


def rare_symbol(stem: str) -> str:
    """The symbol of the rare words of a stem."""
    return stem + MARK


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
        The words, and how often each occurs. Symbols among them count as rare words of their stems.
    stems
        Numbers of letters of the stems by which symbols are shared, in falling order.
    min_count
        Words that occur less often are rare, and so is a stem whose rare words occur less often together.
    max_vocabulary
        If there are more words, only this many of the most frequent ones, and of these the first, are not rare.
    """
    kept = (frequencies >= min_count) & ~_are_symbols(names)
    if max_vocabulary is not None and kept.sum() > max_vocabulary:
        kept = _most_frequent(kept, frequencies, max_vocabulary)
        min_count = max(min_count, int(frequencies[kept].min()))
    return _RareWords(names, frequencies, kept, stems).named(min_count)


def _are_symbols(names: Sequence[str]) -> NDArray[np.bool_]:
    return np.fromiter(map(is_symbol, names), np.bool_, len(names))


def _most_frequent(among: NDArray[np.bool_], frequencies: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """The most frequent words, and of equally frequent ones the first."""
    places = np.flatnonzero(among)
    chosen = np.zeros(len(among), dtype=np.bool_)
    chosen[places[np.argsort(-frequencies[places], kind="stable")[:most]]] = True
    return chosen


class _RareWords:
    """Words that are not kept, by their stems.

    Parameters
    ----------
    names, frequencies
        All words, and how often each occurs.
    kept
        Which of them stay words.
    stems
        As in `share_symbols`.
    """

    def __init__(
        self, names: Sequence[str], frequencies: NDArray[np.int64], kept: NDArray[np.bool_], stems: Sequence[int]
    ) -> None:
        self.names, self.words = names, np.flatnonzero(~kept)
        # Of each length: the stems, that of each word, and how often each occurs.
        self.levels: list[tuple[list[str], NDArray[np.int32], NDArray[Any]]] = []
        longer = [names[word].removesuffix(MARK) for word in self.words.tolist()]
        places: NDArray[np.int32] = np.arange(len(longer), dtype=np.int32)
        for letters in stems:
            longer, shared = distinct([stem[:letters] for stem in longer])
            places = shared[places]
            self.levels.append((longer, places, np.bincount(places, frequencies[self.words], len(longer))))

    def _chosen(self, least: int) -> NDArray[np.int64]:
        """The longest stem of each word that occurs `least` times or more, as a place in `levels`, or after them."""
        chosen = np.full(len(self.words), len(self.levels))
        for level in reversed(range(len(self.levels))):
            _, places, totals = self.levels[level]
            chosen[totals[places] >= least] = level
        return chosen

    def symbols(self, least: int) -> int:
        """How many symbols there are at most, if stems that occur less often have none."""
        chosen = self._chosen(least)
        each = (len(np.unique(places[chosen == level])) for level, (_, places, _) in enumerate(self.levels))
        return sum(each, int((chosen == len(self.levels)).any()))

    def named(self, least: int) -> list[str]:
        """All names, with symbols in place of those of rare words."""
        chosen, found = self._chosen(least), list(self.names)
        for word in self.words.tolist():
            found[word] = MARK
        for level, (stems, places, _) in enumerate(self.levels):
            of_level = np.flatnonzero(chosen == level)
            used, shared = np.unique(places[of_level], return_inverse=True)
            symbols = [rare_symbol(stems[place]) for place in used.tolist()]
            for word, symbol in zip(self.words[of_level].tolist(), shared.tolist(), strict=True):
                found[word] = symbols[symbol]
        return found


def bound_of(max_vocabulary: int, forms: Forms, stems: Sequence[int], *, least: int | None = None) -> WordBound:
    """How many words are held while a text is read of which `max_vocabulary` words are kept in the end.

    It is never below `least`, whose default is `LEAST_HELD`.
    """
    most = max(WORDS_HELD * max_vocabulary, LEAST_HELD if least is None else least)
    return WordBound(most, partial(shrink, forms=forms, stems=stems, most=most))


def shrink(
    vocabulary: Vocabulary, frequencies: NDArray[np.int64], *, forms: Forms, stems: Sequence[int], most: int
) -> tuple[Vocabulary, NDArray[np.int32]]:
    """A vocabulary of forms with at most half of `most` names, of which 1/8 of `most` are symbols; see `WordBound`.

    Parameters
    ----------
    vocabulary, frequencies
        The words, and how often each has occurred so far.
    forms
        How words are counted.
    stems
        As in `share_symbols`.
    most
        The number of words that is too large.

    Returns
    -------
    Vocabulary, NDArray
        The names, and the number of each word among them.
    """
    names, places = distinct(forms.of(vocabulary.decoded()))
    if len(names) <= most // 2:
        return Vocabulary.from_words(names), places
    counted = np.bincount(places, frequencies, len(names)).astype(np.int64)
    symbols = max(most // 8, 1)
    kept = _most_frequent(~_are_symbols(names), counted, max(most // 2 - symbols, 0))
    rare = _RareWords(names, counted, kept, stems)
    least = max(int(counted[kept].min()), 1) if kept.any() else 1
    while rare.symbols(least) > symbols:
        least *= 2
    found, shared = number_words(rare.named(least))
    return found, shared[places]


def known_names(vocabulary: Vocabulary, words: Sequence[str], stems: Sequence[int]) -> list[str]:
    """The words, of which those that are not in `vocabulary` are replaced by the symbols that they share as rare words.

    `stems` are those of `share_symbols`, which made the vocabulary.
    """

    def name(word: str) -> str:
        # Only symbols of stems that are frequent enough are in the vocabulary.
        bare = word.removesuffix(MARK)
        names = [word, *(rare_symbol(bare[:letters]) for letters in stems), MARK]
        return next((each for each in names if vocabulary.number(each) >= 0), word)

    return [name(word) for word in words]
