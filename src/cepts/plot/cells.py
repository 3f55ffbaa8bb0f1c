"""Matrices of cells between words: how large cells can be so that the figure is not too large, and what is in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.plot.figure import LARGEST, PALE
from cepts.plot.fonts import POINTS_PER_INCH, families_for, shaped, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL, SMALLEST_CELL = 0.25, 0.03  # inches
FONT, SMALLEST_FONT = 9.0, 5.0  # points
LINE_HEIGHT = 1.12  # of a label, as a multiple of its font's size
LONGEST = 24  # letters of a word that are shown


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a cell is; the font shrinks with it, down to a smallest size at which only some words have labels."""

    cell: float = CELL

    @property
    def font(self) -> float:
        """Size of the labels in points."""
        return min(FONT, max(SMALLEST_FONT, POINTS_PER_INCH * self.cell / LINE_HEIGHT))

    @property
    def every(self) -> int:
        """1 if every word has a label, n if only every n-th word has one."""
        return max(1, math.ceil(self.font * LINE_HEIGHT / POINTS_PER_INCH / self.cell - 1e-9))


def fitting(size_of: Callable[[Scale], tuple[float, float]], what: str, *, thin: bool = True, hint: str = "") -> Scale:
    """The largest scale at which a figure is not too large; `size_of` gives its width and height in inches.

    Cells shrink, and labels with them; then, if `thin` allows it, labels are left out. If even that is not enough, the
    figure is refused: `what` says what it shows, `hint` what to do instead.
    """
    scale = Scale()
    while max(size_of(scale)) > LARGEST:
        scale = Scale(0.95 * scale.cell)
        if scale.cell < SMALLEST_CELL or (scale.every > 1 and not thin):
            raise UsageError(
                f"a figure of {what} would be larger than {LARGEST:.0f} x {LARGEST:.0f} inches; "
                f"{hint or 'draw a shorter pair'}."
            )
    return scale


def shortened(word: str) -> str:
    """A word as a label: its beginning if it is long, with its letters in the order in which they are drawn."""
    return shaped(word if len(word) <= LONGEST else word[: LONGEST - 1] + "…")


def room_for(words: Sequence[str]) -> float:
    """Width of the longest of `words` in inches, at the usual size."""
    families = families_for(words)
    return max((width_of(word, FONT, families) for word in words), default=0.0)


def label_cells(
    axes: Axes, scale: Scale, rows: Sequence[str], columns: Sequence[str], *, count: int, above: bool = False
) -> None:
    """Label the rows and the `count` columns with words; those of the columns are upright if they are too wide."""
    every = scale.every
    axes.set_yticks(range(0, len(rows), every), rows[::every])
    upright = room_for(columns) * scale.font / FONT > scale.cell * every - 0.02
    axes.set_xticks(range(0, count, every), columns[::every], rotation=90 if upright else 0)
    axes.tick_params(length=0, pad=3, labelsize=scale.font, labeltop=above, labelbottom=not above)
    # Fonts are chosen for each side, because Han characters of Japanese and of Chinese need different ones.
    axes.tick_params(axis="y", labelfontfamily=families_for(rows))
    axes.tick_params(axis="x", labelfontfamily=families_for(columns))


def draw_grid(axes: Axes, rows: int, columns: int) -> None:
    """Draw lines between cells."""
    # All horizontal lines, and all vertical ones, are one path broken by NaN, which makes files smaller.
    for lines, end, along in ((rows, columns, 0), (columns, rows, 1)):
        ends = np.tile([-0.5, end - 0.5, np.nan], lines - 1)
        places = np.repeat(np.arange(1, lines) - 0.5, 3)
        points = (places, ends) if along else (ends, places)
        axes.plot(*points, color=PALE, linewidth=0.6, zorder=0)


def draw_squares(axes: Axes, shares: NDArray[np.float64], colours: NDArray[Any]) -> None:
    """Draw a square in each cell whose area is the value (a little less, so that neighbours do not touch)."""
    from matplotlib.collections import PolyCollection

    places = np.argwhere(shares > 1e-4)
    halves = 0.46 * np.sqrt(np.minimum(shares[shares > 1e-4], 1.0))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    polygons = places[:, None, ::-1] + halves[:, None, None] * corners
    axes.add_collection(
        PolyCollection(list(polygons), facecolors=list(colours[tuple(places.T)]), edgecolors="none", zorder=2)
    )
