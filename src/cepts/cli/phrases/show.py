"""Sentence pairs for people: both sentences, and a line for each pair of phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cepts.cli.console import width_of
from cepts.data import Segments, SentencePair
from cepts.io.writer import Writer

if TYPE_CHECKING:
    from cepts.data import Alignment, Alignments, Cept, Segment

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NOTHING = "-"
GAP = "..."


class _Row(NamedTuple):
    """Words of either side that belong together, in their order, and how sure that is; a side may be empty.

    `links` are the links between its words.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    confidence: float | None = None
    links: tuple[tuple[int, int], ...] = ()


class PairText(Writer):
    """Writes pairs as text: two sentences, their phrases with confidences, the words of neither, a blank line.

    Phrases whose words are not all linked with each other are followed by their word links, or by ``word by word`` if
    each word is linked with its counterpart in order. Use it as `cepts.io.SentencePairWriter`. Where links come with
    cepts, the lines are those, with ``...`` for gaps.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._written = 0

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next pairs."""
        if links is None or segments is None:
            raise ValueError("text shows links and segments; give both.")
        for number, pair in enumerate(pairs):
            alignment = links[number]
            if alignment.cepts is None:
                rows = [_phrase(segment, alignment.links) for segment in segments[number]]
            else:
                rows = [_row_of(cept, alignment) for cept in alignment.cepts]
            lines = [*([""] if self._written else []), *_lines(pair, rows)]
            self._put(f"{line}\n".encode("utf-8", "surrogateescape") for line in lines)
            self._written += 1


def _phrase(segment: Segment, links: Sequence[tuple[int, int]]) -> _Row:
    source, target, confidence = segment
    inside = tuple((i, j) for i, j in links if source[0] <= i < source[1] and target[0] <= j < target[1])
    return _Row(tuple(range(*source)), tuple(range(*target)), confidence, inside)


def _row_of(cept: Cept, alignment: Alignment) -> _Row:
    members = set(cept.source)
    found = [p for (i, _), p in zip(alignment.links, alignment.confidence.tolist(), strict=True) if i in members]
    return _Row(tuple(cept.source), tuple(cept.target), sum(found) / len(found) if found else None)


def _lines(pair: SentencePair, rows: Sequence[_Row]) -> Iterator[str]:
    source, target = ([_visible(word) for word in side.tokens] for side in (pair.source, pair.target))
    yield " ".join(source)
    yield " ".join(target)
    if not source or not target:
        yield "  (a side is empty)"
        return
    alone = [
        *(_Row(run, ()) for run in _runs(set(range(len(source))) - {i for row in rows for i in row.source})),
        *(_Row((), run) for run in _runs(set(range(len(target))) - {j for row in rows for j in row.target})),
    ]
    # Words of the target alone stand after the row that has the word before them.
    place = {j: min(row.source) for row in rows if row.source for j in row.target}
    order = sorted(
        [*rows, *alone],
        key=lambda row: (
            (min(row.source), 0, min(row.target, default=-1))
            if row.source
            else (max((i for j, i in place.items() if j == row.target[0] - 1), default=-1), 1, row.target[0])
        ),
    )
    cells = [(_words(source, row.source), _words(target, row.target)) for row in order]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    for texts, row in zip(cells, order, strict=True):
        left, right = (text + " " * (width - width_of(text)) for text, width in zip(texts, widths, strict=True))
        line = f"  {left}  ~  {right}"
        yield line.rstrip() if row.confidence is None else f"{line}  {row.confidence:.2f}{_inside(row, source, target)}"


def _inside(row: _Row, source: Sequence[str], target: Sequence[str]) -> str:
    """How the words of a phrase are linked, unless all are linked with all."""
    if not row.links or len(row.links) == len(row.source) * len(row.target):
        return ""
    if row.links == tuple(zip(row.source, row.target, strict=False)) and len(row.source) == len(row.target):
        return "  word by word"
    return "  " + ", ".join(f"{source[i]} ~ {target[j]}" for i, j in row.links)


def _visible(word: str) -> str:
    """The word with escapes for what would disturb the lines, such as a tab."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], word)


def _words(tokens: Sequence[str], places: Sequence[int]) -> str:
    if not places:
        return NOTHING
    shown = [tokens[places[0]]]
    for before, place in pairwise(places):
        shown += [*([GAP] if place > before + 1 else []), tokens[place]]
    return " ".join(shown)


def _runs(places: Iterable[int]) -> list[tuple[int, ...]]:
    """Places that follow each other, together."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [tuple(run) for run in runs]
