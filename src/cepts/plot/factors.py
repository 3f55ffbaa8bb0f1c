"""A sentence pair as onmf draws it (figures 3, 5 and 6): its matrix, the two factors, and the alignment they make."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.io.files import PathLike
from cepts.plot.figure import GREY, INK, PALE, colour_of, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.25  # inches
GAP = 0.3
MARGIN = 0.2
LINE = 0.19
LEGEND = 3.5  # inches that it takes
LONGEST = 24  # letters of a word that are shown
NULL = "∅"


def plot_factors(
    path: PathLike,
    matrix: ArrayLike,
    source_factor: ArrayLike,
    target_factor: ArrayLike,
    source_words: Sequence[str],
    target_words: Sequence[str],
    source_assignment: Sequence[int] | NDArray[np.integer],
    target_assignment: Sequence[int] | NDArray[np.integer],
    *,
    cept_names: Sequence[str] | None = None,
    sure: Collection[tuple[int, int]] = (),
    possible: Collection[tuple[int, int]] = (),
    title: str = "",
) -> None:
    """Draw how one sentence pair was factorised, to an .svg, .pdf or .png file.

    From left to right: the association matrix; the source words' cepts; above, the target words' cepts; and where
    the two meet, the alignment that they make. The area of a square is its value. A cept has one colour throughout.

    Parameters
    ----------
    path
        The file; its suffix is the format.
    matrix
        (I + 1) x (J + 1), the null row and column first.
    source_factor, target_factor
        P(cept | word): (I + 1) x C and (J + 1) x C, null first. A cept that no word is assigned to, such as those of
        null, is grey.
    source_words, target_words
        The I and J words.
    source_assignment, target_assignment
        The cept of each word, a column of the factors; -1 is null.
    cept_names
        C names; by default 1 to C.
    sure, possible
        Gold links (i, j), from 0: filled and open circles on the alignment.
    title
        Title of the figure.
    """
    pair = _Pair(
        matrix, (source_words, target_words), (source_factor, target_factor), (source_assignment, target_assignment)
    )
    names = [str(cept + 1) for cept in range(pair.cepts)] if cept_names is None else list(cept_names)
    if len(names) != pair.cepts:
        raise ValueError(f"`cept_names` must have one name for each of {pair.cepts} cepts. Got {len(names)} instead.")
    gold = [(set(sure), True), (set(possible) - set(sure), False)]
    for links, _ in gold:
        for i, j in links:
            if not (0 <= i < len(source_words) and 0 <= j < len(target_words)):
                raise ValueError(f"`sure` and `possible` links must lie within the sentences. Got {(i, j)} instead.")
    with drawing(path) as figure:
        _draw(figure, pair, names, gold, title)


class _Pair:
    """The data of the figure, after checking that the sizes match the words."""

    def __init__(
        self,
        matrix: ArrayLike,
        words: tuple[Sequence[str], Sequence[str]],
        factors: tuple[ArrayLike, ArrayLike],
        assignments: tuple[ArrayLike, ArrayLike],
    ) -> None:
        self.words = words
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.source_factor, self.target_factor = (np.asarray(factor, dtype=np.float64) for factor in factors)
        self.source_assignment, self.target_assignment = (np.asarray(cepts, dtype=np.int64) for cepts in assignments)
        self.cepts = self.source_factor.shape[1] if self.source_factor.ndim == 2 else 0
        rows, columns = len(words[0]) + 1, len(words[1]) + 1
        for name, values, shape in (
            ("matrix", self.matrix, (rows, columns)),
            ("source_factor", self.source_factor, (rows, self.cepts)),
            ("target_factor", self.target_factor, (columns, self.cepts)),
        ):
            if values.shape != shape:
                raise ValueError(f"`{name}` must be {shape[0]} x {shape[1]}, null first. Got {values.shape} instead.")
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise ValueError(f"`{name}` must hold finite numbers of 0 or more.")
        for name, cepts, count in (
            ("source_assignment", self.source_assignment, rows - 1),
            ("target_assignment", self.target_assignment, columns - 1),
        ):
            if cepts.shape != (count,):
                raise ValueError(f"`{name}` must have one cept for each of {count} words. Got {len(cepts)} instead.")
            if cepts.min(initial=-1) < -1 or cepts.max(initial=-1) >= self.cepts:
                raise ValueError(f"`{name}` must be -1 (null) or a cept below {self.cepts}.")
        used = {*self.source_assignment.tolist(), *self.target_assignment.tolist()}
        self.colours = [colour_of(cept) if cept in used else GREY for cept in range(self.cepts)]

    def alignment(self) -> NDArray[np.int64]:
        """The cept of each link, null first; -1 for links to null, -2 where there is no link."""
        links = np.full(self.matrix.shape, -2, dtype=np.int64)
        same = self.source_assignment[:, None] == self.target_assignment[None, :]
        linked = same & (self.source_assignment[:, None] >= 0)
        links[1:, 1:][linked] = np.broadcast_to(self.source_assignment[:, None], same.shape)[linked]
        links[1:, 0][self.source_assignment < 0] = -1
        links[0, 1:][self.target_assignment < 0] = -1
        return links


def _draw(
    figure: Figure, pair: _Pair, names: list[str], gold: Sequence[tuple[set[tuple[int, int]], bool]], title: str
) -> None:
    rows, columns = pair.matrix.shape
    source, target = ([NULL, *map(_shortened, words)] for words in pair.words)
    names = [_shortened(name) for name in names]
    has_gold = any(links for links, _ in gold)
    # All sizes are in inches: cells have one size in all panels, and rows and columns continue from panel to panel.
    source_room, target_room, name_room = (_room(words) for words in (source, target, names))
    wide, high, across = CELL * columns, CELL * rows, CELL * pair.cepts
    left = MARGIN + source_room
    middle = left + wide + GAP + source_room
    right = middle + max(across + name_room, 1.0) + GAP
    bottom = MARGIN + max(name_room, target_room)
    upper = bottom + high + GAP
    width = max(right + max(wide, 1.0) + MARGIN, LEGEND + MARGIN)
    # The legend is in the corner over the matrix where it fits.
    beside = upper + across + target_room + LINE
    below = (upper + target_room if right - name_room > LEGEND else beside) + LINE
    height = MARGIN + max(beside, below + LINE * (1 + 1.4 * bool(title) + has_gold))
    figure.set_size_inches(width, height)

    def panel(x: float, y: float, panel_width: float, panel_height: float, shape: tuple[int, int]) -> Axes:
        axes = figure.add_axes((x / width, y / height, panel_width / width, panel_height / height))
        axes.set_xlim(-0.5, shape[1] - 0.5)
        axes.set_ylim(shape[0] - 0.5, -0.5)
        _grid(axes, shape)
        return axes

    matrix = panel(left, bottom, wide, high, (rows, columns))
    _squares(matrix, pair.matrix / (pair.matrix.max() or 1.0), np.full(pair.matrix.shape, INK, dtype=object))
    _null_lines(matrix, row=True, column=True)
    _words(matrix, source, target, above=True)
    _heading(matrix, "association", target_room)

    colours = np.array(pair.colours, dtype=object)
    to_cepts = panel(middle, bottom, across, high, (rows, pair.cepts))
    _squares(to_cepts, pair.source_factor, np.broadcast_to(colours, pair.source_factor.shape))
    _null_lines(to_cepts, row=True, column=False)
    _words(to_cepts, source, names, above=False, column_colours=pair.colours)
    _heading(to_cepts, "source to cept", 0.0)

    from_cepts = panel(right, upper, wide, across, (pair.cepts, columns))
    _squares(from_cepts, pair.target_factor.T, np.broadcast_to(colours[:, None], pair.target_factor.T.shape))
    _null_lines(from_cepts, row=False, column=True)
    _words(from_cepts, names, target, above=True, row_colours=pair.colours)
    _heading(from_cepts, "cept to target", target_room)

    links = pair.alignment()
    aligned = panel(right, bottom, wide, high, (rows, columns))
    shown = np.array([*pair.colours, GREY, GREY], dtype=object)
    _squares(aligned, np.where(links > -2, 0.8, 0.0), shown[links])
    _null_lines(aligned, row=True, column=True)
    _words(aligned, [], target, above=False)
    _circles(aligned, gold)
    _heading(aligned, "alignment", 0.0)

    notes = ["The area of a square is its value; a cept has one colour."]
    if has_gold:
        notes.append("● sure and ○ possible links of the gold alignment")
    line = height - MARGIN
    if title:
        figure.text(MARGIN / width, line / height, title, va="top", fontsize=11, fontweight="bold")
        line -= 1.4 * LINE
    for note in notes:
        figure.text(MARGIN / width, line / height, note, va="top", fontsize=8, color=GREY)
        line -= LINE


def _shortened(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"


def _room(words: Sequence[str]) -> float:
    """Width of the longest of `words` in inches, with some padding."""
    from matplotlib.textpath import TextPath

    # An empty word has no extent at all.
    widths = [TextPath((0, 0), word, size=9).get_extents().width for word in words if word.strip()]
    return max([CELL, *(width / 72 for width in widths)]) + 0.1


def _grid(axes: Axes, shape: tuple[int, int]) -> None:
    rows, columns = shape
    # All lines of a kind are one path, broken by NaN, which makes files smaller.
    for lines, end, along in ((rows, columns, 0), (columns, rows, 1)):
        ends = np.tile([-0.5, end - 0.5, np.nan], lines - 1)
        places = np.repeat(np.arange(1, lines) - 0.5, 3)
        points = (places, ends) if along else (ends, places)
        axes.plot(*points, color=PALE, linewidth=0.6, zorder=0)


def _null_lines(axes: Axes, *, row: bool, column: bool) -> None:
    """Lines that separate null from the words."""
    if row:
        axes.axhline(0.5, color=GREY, linewidth=0.8, zorder=1)
    if column:
        axes.axvline(0.5, color=GREY, linewidth=0.8, zorder=1)


def _squares(axes: Axes, shares: NDArray[np.float64], colours: NDArray[Any]) -> None:
    """A square in each cell, whose area is the value (a little less, so that neighbours do not touch)."""
    from matplotlib.collections import PolyCollection

    places = np.argwhere(shares > 1e-4)
    halves = 0.46 * np.sqrt(np.minimum(shares[shares > 1e-4], 1.0))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    polygons = places[:, None, ::-1] + halves[:, None, None] * corners
    axes.add_collection(
        PolyCollection(list(polygons), facecolors=list(colours[tuple(places.T)]), edgecolors="none", zorder=2)
    )


def _circles(axes: Axes, gold: Sequence[tuple[set[tuple[int, int]], bool]]) -> None:
    for links, is_sure in gold:
        for i, j in sorted(links):
            axes.plot(
                j + 1,
                i + 1,
                "o",
                markersize=5.0,
                markerfacecolor=INK if is_sure else "white",
                markeredgecolor=INK,
                markeredgewidth=0.9,
                zorder=3,
            )


def _words(
    axes: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    above: bool,
    row_colours: Sequence[str] | None = None,
    column_colours: Sequence[str] | None = None,
) -> None:
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns), default=0) > 2 else 0)
    axes.tick_params(length=0, pad=3, labeltop=above, labelbottom=not above)
    for labels, colours in ((axes.get_yticklabels(), row_colours), (axes.get_xticklabels(), column_colours)):
        for label, colour in zip(labels, colours or (), strict=colours is not None):
            label.set_color(colour)
            label.set_fontweight("bold")


def _heading(axes: Axes, text: str, words: float) -> None:
    """The name of a panel, over its words."""
    offset = (0, 72 * words + 4)
    axes.annotate(text, (0, 1), offset, xycoords="axes fraction", textcoords="offset points", color=GREY, va="bottom")
