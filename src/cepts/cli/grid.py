"""A sentence pair as a grid of characters: a row a source word, a column a target word, a mark a link."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from cepts.cli.console import width_of

if TYPE_CHECKING:
    from cepts.data import Alignment

STRONG = 0.75  # the least confidence of a link whose mark is filled
NO_LINK = "·"
# By tier (whether the link is sure), then by whether it is strong.
MARKS = {True: {True: "■", False: "□"}, False: {True: "●", False: "○"}}
LEFT_TO_RIGHT_MARK = "\u200e"
NARROWEST = 20  # columns that a grid has at least


def pair_lines(
    source: Sequence[str], target: Sequence[str], alignment: Alignment, *, width: int = 80, numbers: bool = False
) -> list[str]:
    """The lines of a grid that is at most `width` columns wide.

    Where the target sentence does not fit, the grid goes on below with the next words; each part then has only the
    source words that are linked to its words, and those without any link are listed at the end. A right-to-left
    sentence runs from right to left. With `numbers`, a link's mark is its confidence in %, and `?` if it is only
    possible.
    """
    from cepts.data import runs_right_to_left

    width = max(width, NARROWEST)
    marks = _marks(alignment, numbers=numbers)
    rows = [_cut(_visible(word), width // 3) for word in source]
    side = max(map(width_of, rows), default=0)
    columns = [_cut(_visible(word), width - side - 2) for word in target]
    taken = [width_of(column) or 1 for column in columns]
    for (_, j), mark in marks.items():
        taken[j] = max(taken[j], width_of(mark))
    parts = _parts(taken, width - side - 2)
    to_left, labels_to_left = runs_right_to_left(target), runs_right_to_left(source)
    lines = []
    for part in parts:
        shown = [i for i in range(len(rows)) if len(parts) == 1 or any((i, j) in marks for j in part)]
        order = part[::-1] if to_left else part
        corner = "" if len(parts) == 1 else f"{part.start + 1}-{part.stop}"
        corner = corner if len(corner) <= side else ""
        lines.append(_line(corner, side, [_padded(columns[j], taken[j]) for j in order]))
        for i in shown:
            cells = [_centred(marks.get((i, j), NO_LINK), taken[j]) for j in order]
            lines.append(_line(rows[i], side, cells, to_right=labels_to_left))
        lines.append("")
    alone = [word for i, word in enumerate(rows) if not any(link[0] == i for link in marks)]
    if len(parts) > 1 and alone:
        lines += [*_wrapped("No links:", alone, width), ""]
    return lines[:-1]


def legend(alignments: Sequence[Alignment], *, width: int = 80) -> list[str]:
    """What the marks of these alignments mean; nothing where all are plain links."""
    used = {mark for alignment in alignments for mark in _marks(alignment).values()}
    if used <= {"■"}:
        return []
    tiers = ["■ sure", "● possible"] if used & {"●", "○"} else ["■ link"]
    weak = " ".join(mark for mark in "□○" if mark in used)
    return _wrapped("", [*tiers, *([f"{weak} confidence below {STRONG}"] if weak else [])], width, gap="   ")


def _marks(alignment: Alignment, *, numbers: bool = False) -> dict[tuple[int, int], str]:
    links = zip(alignment.links, alignment.confidence.tolist(), alignment.sure.tolist(), strict=True)
    if numbers:
        return {link: f"{100 * share:.0f}{'' if sure else '?'}" for link, share, sure in links}
    return {link: MARKS[sure][share >= STRONG] for link, share, sure in links}


def _parts(widths: Sequence[int], room: int) -> list[range]:
    """Runs of columns that fit side by side, with a space between."""
    starts, left = [0], room
    for j, width in enumerate(widths):
        if width > left and j > starts[-1]:
            starts.append(j)
            left = room
        left -= width + 1
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(widths)], strict=True)]


def _visible(word: str) -> str:
    """A word without what would move the cursor, hide letters or turn the rest of the line round."""
    replaced = {"Cc", "Cs", "Zl", "Zp"}
    return "".join(
        "\ufffd" if unicodedata.category(letter) in replaced or unicodedata.bidirectional(letter) in _TURNS else letter
        for letter in word
    )


_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _cut(word: str, width: int) -> str:
    """A word, or as much of it as fits."""
    if width_of(word) <= width:
        return word
    return next(word[:-n] + "…" for n in count(1) if width_of(word[:-n]) < width)


def _padded(text: str, width: int) -> str:
    return _held(text) + " " * (width - width_of(text))


def _centred(mark: str, width: int) -> str:
    left = (width - width_of(mark)) // 2
    return " " * left + mark + " " * (width - width_of(mark) - left)


def _line(label: str, side: int, cells: Sequence[str], *, to_right: bool = False) -> str:
    space = " " * (side - width_of(label))
    line = ((space + _held(label)) if to_right else (_held(label) + space)) + "  " + " ".join(cells)
    line = line.rstrip()
    # Terminals that know right-to-left scripts take the direction of a line from its first letter.
    return LEFT_TO_RIGHT_MARK + line if LEFT_TO_RIGHT_MARK in line else line


def _held(word: str) -> str:
    """A word that stays in its column where terminals turn right-to-left text round: marks keep words apart."""
    turns = any(unicodedata.bidirectional(letter) in {"R", "AL", "AN"} for letter in word)
    return f"{LEFT_TO_RIGHT_MARK}{word}{LEFT_TO_RIGHT_MARK}" if turns else word


def _wrapped(start: str, words: Sequence[str], width: int, *, gap: str = " ") -> list[str]:
    lines = [start]
    for word in words:
        if lines[-1] and width_of(lines[-1]) + len(gap) + width_of(word) > width:
            lines.append("")
        lines[-1] += (gap if lines[-1] else "") + _held(word)
    return lines
