"""Acronyms and the words that they stand for: *NYC* and *New York City*, *U.S.* and *United States*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cepts.data import Span

# Capitals, or letters with a full stop after each; a plural s may follow.
CAPITALS = re.compile(r"([A-Z]{2,6})s?")
DOTTED = re.compile(r"((?:[A-Za-z]\.){2,6}|(?:[A-Za-z]\.)+[A-Za-z])(?:'?s)?")
# Words that acronyms may leave out.
SMALL = frozenset({"a", "an", "and", "de", "for", "in", "of", "on", "the", "to"})
LONGEST = 8


class Acronym(NamedTuple):
    """An acronym and the span of words that it stands for, as (start, stop); `whole` if no letter is left over.

    *NYC* stands for *New York* too, but its last letter is left over.
    """

    source: Span
    target: Span
    whole: bool


def acronyms(source: Sequence[str], target: Sequence[str]) -> list[Acronym]:
    """The acronyms of either sentence with the words of the other that they stand for.

    Of several spans for one acronym, those without a letter left over win.

    Examples
    --------
    >>> acronyms(["NYC"], ["in", "New", "York", "City"])
    [Acronym(source=(0, 1), target=(1, 4), whole=True)]
    """
    found = [Acronym((place, place + 1), span, whole) for place, span, whole in _expansions(source, target)]
    found += [Acronym(span, (place, place + 1), whole) for place, span, whole in _expansions(target, source)]
    return found


def _expansions(tokens: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, Span, bool]]:
    for place, token in enumerate(tokens):
        match = CAPITALS.fullmatch(token) or DOTTED.fullmatch(token)
        if match is None:
            continue
        letters = match[1].replace(".", "").lower()
        spans = [found for start in range(len(others)) for found in _spans(letters, others, start)]
        for span, whole in spans:
            if whole or not any(other for _, other in spans):
                yield place, span, whole


def _spans(letters: str, words: Sequence[str], start: int) -> list[tuple[Span, bool]]:
    """The spans from `start` on whose words begin with the letters; all but the last letter are enough for three."""
    found = []
    used = 0
    for place in range(start, min(len(words), start + LONGEST)):
        word = words[place]
        if used < len(letters) and word[:1].lower() == letters[used] and word[:1].isalpha() and len(word) > 1:
            used += 1
            if used == len(letters) or (used == len(letters) - 1 >= 2):
                found.append(((start, place + 1), used == len(letters)))
        elif used == 0 or word.lower() not in SMALL:
            break
    return found
