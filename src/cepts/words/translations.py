"""Entries of a lexicon, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cepts.errors import check_choice
from cepts.names import DIRECTIONS
from cepts.words.forms import Forms
from cepts.words.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class Translation:
    """A word, a word of the other language, and what links them.

    `asked` is the word as the caller wrote it, `word` the form under which the model keeps its statistics.
    """

    asked: str
    word: str
    other: str
    probability: float
    back: float
    count: float

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "word": self.word,
            "other": self.other,
            "probability": round(self.probability, 6),
            "back": round(self.back, 6),
            "count": round(self.count, 4),
        }


def translations(
    lexicon: Lexicon,
    forms: Forms,
    *,
    direction: str = "forward",
    words: Sequence[str] | None = None,
    top: int = 10,
    least: float = 0.01,
) -> Iterator[Translation]:
    """Entries of each word by falling probability, words in order of first use or as asked for."""
    check_choice("direction", direction, DIRECTIONS)
    forward = direction == "forward"
    column = 0 if forward else 1
    mine, others = (lexicon.source, lexicon.target) if forward else (lexicon.target, lexicon.source)
    source = np.repeat(np.arange(len(lexicon.source)), np.diff(lexicon.rows))
    of_mine, of_other = (source, lexicon.targets) if forward else (lexicon.targets, source)
    count = lexicon.counts[:, min(column, lexicon.counts.shape[1] - 1)]
    shown = np.flatnonzero((lexicon.table[:, column] >= least) & (count > 0))
    # By word, then falling probability, then the other word, so that the order is deterministic.
    order = shown[np.lexsort((of_other[shown], -lexicon.table[shown, column], of_mine[shown]))]
    bounds = np.searchsorted(of_mine[order], np.arange(len(mine) + 1))
    asked = (
        [(word, number) for number, word in enumerate(mine.vocabulary.words)]
        if words is None
        else [(word, mine.vocabulary.number(forms.of([word])[0])) for word in words]
    )
    for word, number in asked:
        if number < 0:
            continue
        for cell in order[bounds[number] : min(bounds[number] + top, bounds[number + 1])]:
            yield Translation(
                word,
                mine.vocabulary[number],
                others.vocabulary[int(of_other[cell])],
                float(lexicon.table[cell, column]),
                float(lexicon.table[cell, 1 - column]),
                float(count[cell]),
            )
