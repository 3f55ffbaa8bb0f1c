"""The forms under which words are counted, and the coarser words behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary

# The end of symbols that rare words share, see `cepts.words.rare`. No token has a space, so no symbol is ever a word.
MARK = " …"


@dataclass(frozen=True, slots=True)
class Forms:
    """How a token becomes the form under which it is counted. The text itself is never changed.

    Parameters
    ----------
    lowercase
        Whether case is ignored.
    prefix
        Cut forms to this many letters; None keeps them whole.
    """

    lowercase: bool = True
    prefix: int | None = None

    def __post_init__(self) -> None:
        if self.prefix is not None and self.prefix < 1:
            raise ValueError(f"`prefix` must be 1 or more letters. Got {self.prefix} instead.")

    def of(self, words: Sequence[str]) -> list[str]:
        """The form of each word; symbols, which are made from forms, stay as they are."""
        if self.lowercase:
            words = [word.lower() for word in words]
        if self.prefix is None:
            return list(words)
        return [word if is_symbol(word) else word[: self.prefix] for word in words]


def is_symbol(word: str) -> bool:
    """Whether a word of a model is a symbol that rare words share."""
    return word.endswith(MARK)


def distinct(words: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct `words` in order of first use, and the place of each word among them."""
    numbers: dict[str, int] = {}
    places = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
    return list(numbers), places


def number(words: Sequence[str]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """Vocabulary of `words`, which may repeat themselves, and the number of each word in it."""
    names, places = distinct(words)
    return Vocabulary.from_words(names), places
