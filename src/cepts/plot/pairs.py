"""Figures of an aligned sentence pair: two rows of words with lines between them or through cepts, or a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignment, Alignments, runs_right_to_left
from cepts.errors import UsageError, check_choice
from cepts.extract import cepts_of_links
from cepts.io.files import PathLike
from cepts.names import PAIR_FORMS
from cepts.plot.cells import FONT, Scale, draw_grid, fitting, label_cells, room_for, shortened
from cepts.plot.figure import GREY, INK, Drawn, colour_of, drawing
from cepts.plot.fonts import families_for, width_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Sizes of the rows of words, in inches at the usual size.
TEXT = 11.0  # points
PILL, PADDING, SPACE, WIDEST_SPACE, BETWEEN, EDGE = 0.31, 0.1, 0.1, 0.5, 0.75, 0.04
NODE = 0.3  # the least distance between the circles of two cepts
LUMINANCES = 0.12, 0.3  # least and greatest of lines, which must be visible on light and on dark pages
PALENESS = 0.74  # the share of white in the background of a word
UNLINKED, UNLINKED_INK = "#eef1f4", "#5b6570"
# Sizes of the matrix, in inches.
MARGIN, NOTE = 0.12, 0.22
NOTES = "Filled squares are sure links, open ones possible; the area is the confidence."

Point = tuple[float, float]


def plot_pair(
    path: PathLike, source: Sequence[str], target: Sequence[str], alignment: Alignment, *, form: str = "lines"
) -> Drawn:
    """Draw a sentence pair and its links.

    Words that are linked, directly or through other words, have the same colour; words without links are grey. Possible
    links are dashed lines or open squares, and links of low confidence are pale lines or small squares. Right-to-left
    sentences run from right to left.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    source, target
        The words.
    alignment
        Their links.
    form
        ``lines`` draws the source words above the target words with lines between them, on a transparent background
        for light and dark pages. ``cepts`` draws a circle for each group of linked words between the two, and a line
        from each word to its circle, as in figure 2 of Goutte et al. (2004). ``matrix`` draws a row for each source
        word, a column for each target word, a square for each link, and a frame around each phrase of several words, if
        the alignment has phrases.
    """
    check_choice("form", form, PAIR_FORMS)
    for name, places, words in (("source", alignment.source, source), ("target", alignment.target, target)):
        if places.max(initial=-1) >= len(words):
            raise UsageError(
                f"links must lie within the sentences. Got position {places.max()} (from 0) in `{name}`, which has "
                f"{len(words)} words."
            )
    ground = "white" if form == "matrix" else "none"
    with drawing(path, texts=[*source, *target], ground=ground) as figure:
        if form == "matrix":
            _draw_matrix(figure, source, target, alignment)
        else:
            _draw_rows(figure, source, target, alignment, through_cepts=form == "cepts")
    return Drawn(Path(path))


def _groups(alignment: Alignment, sizes: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each word's group of linked words, for source and target; -1 for words without links.

    Groups are numbered in the order of their first source words.
    """
    found = cepts_of_links(Alignments.from_links([alignment.links]))
    numbers = []
    for cepts, size in zip((found.source, found.target), sizes, strict=True):
        numbers.append(np.full(size, -1, dtype=np.int64))
        numbers[-1][: len(cepts)] = cepts
    return numbers[0], numbers[1]


# -- lines -------------------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """The words of one side, their font families, and their widths at the usual size, with padding, in inches."""

    words: list[str]
    families: list[str]
    widths: NDArray[np.float64]
    to_left: bool

    @classmethod
    def of(cls, words: Sequence[str]) -> _Row:
        """The row of a sentence."""
        labels, families = [shortened(word) for word in words], families_for(words)
        widths = [max(width_of(label, TEXT, families), PADDING) + 2 * PADDING for label in labels]
        return cls(labels, families, np.array(widths, dtype=np.float64), runs_right_to_left(words))

    @property
    def width(self) -> float:
        """The smallest width of the whole row."""
        return float(self.widths.sum()) + SPACE * max(len(self.words) - 1, 0)

    def starts(self, width: float) -> NDArray[np.float64]:
        """Where the words start, from the left, if the row is spread to `width` as far as that looks good."""
        spaces = len(self.words) - 1
        space = min(SPACE + (width - self.width) / spaces, WIDEST_SPACE) if spaces > 0 else SPACE
        widths = self.widths[::-1] if self.to_left else self.widths
        starts = np.concatenate([[0.0], np.cumsum(widths + space)[:-1]]) if len(widths) else np.zeros(0)
        starts += (width - (widths.sum() + space * max(spaces, 0))) / 2
        return starts[::-1] if self.to_left else starts


def _draw_rows(
    figure: Figure, source: Sequence[str], target: Sequence[str], alignment: Alignment, *, through_cepts: bool
) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Curve

    rows = _Row.of(source), _Row.of(target)
    inner = max(rows[0].width, rows[1].width)
    height = 2 * (PILL + EDGE) + BETWEEN * (1.6 if through_cepts else 1)

    def size(scale: Scale) -> tuple[float, float]:
        share = scale.font / FONT
        return share * (inner + 2 * EDGE), share * height

    what = f"{len(source):,} + {len(target):,} words in two rows"
    share = fitting(size, what, thin=False, hint="draw the pair with `form=matrix`, or a shorter pair").font / FONT
    figure.set_size_inches(share * (inner + 2 * EDGE), share * height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.set_xlim(-EDGE, inner + EDGE)
    axes.set_ylim(0, height)
    groups = _groups(alignment, (len(source), len(target)))
    starts = [row.starts(inner) for row in rows]
    middles = [start + row.widths / 2 for start, row in zip(starts, rows, strict=True)]
    top, bottom = height - EDGE - PILL, EDGE + PILL

    def draw_curve(start: Point, end: Point, group: int, strength: float, sure: bool) -> None:
        half = (start[1] + end[1]) / 2
        points = [start, (start[0], half), (end[0], half), end]
        axes.add_patch(
            PathPatch(
                Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3]),
                facecolor="none",
                edgecolor=between(colour_of(group)),
                alpha=0.5 + 0.5 * strength,
                linewidth=share * (2.0 if sure else 1.6),
                linestyle="-" if sure else (0, (3, 2)),
                zorder=1,
            )
        )

    if through_cepts:
        nodes, level = _nodes(groups, middles, inner), (top + bottom) / 2
        for side, edge in ((0, top), (1, bottom)):
            for place, group in zip(middles[side], groups[side].tolist(), strict=True):
                if group >= 0:
                    draw_curve((place, edge), (nodes[group], level), group, 1.0, True)
        for group, place in enumerate(nodes):
            colour = between(colour_of(group))
            axes.plot(place, level, "o", ms=share * 15, mfc="white", mec=colour, mew=share * 1.6, zorder=2)
            name = str(group + 1)
            axes.text(place, level, name, fontsize=share * 8, color=INK, ha="center", va="center_baseline", zorder=3)
    else:
        columns = alignment.source, alignment.target, alignment.confidence, alignment.sure
        for i, j, strength, sure in zip(*(column.tolist() for column in columns), strict=True):
            draw_curve((middles[0][i], top), (middles[1][j], bottom), int(groups[0][i]), strength, sure)
    for row, start, group, base in zip(rows, starts, groups, (top, EDGE), strict=True):
        for word, left, width, number in zip(row.words, start, row.widths, group.tolist(), strict=True):
            colour = GREY if number < 0 else between(colour_of(number))
            axes.add_patch(
                FancyBboxPatch(
                    (left, base),
                    width,
                    PILL,
                    boxstyle="round,pad=0,rounding_size=0.08",
                    facecolor=UNLINKED if number < 0 else mixed(colour_of(number), 1.0, PALENESS),
                    edgecolor=colour,
                    linewidth=share,
                    zorder=2,
                )
            )
            axes.text(
                left + width / 2,
                base + 0.45 * PILL,
                word,
                fontsize=share * TEXT,
                fontfamily=row.families,
                color=UNLINKED_INK if number < 0 else INK,
                ha="center",
                va="center_baseline",
                zorder=3,
            )


def _nodes(
    groups: tuple[NDArray[np.int64], NDArray[np.int64]], middles: Sequence[NDArray[np.float64]], width: float
) -> list[float]:
    """Where the circles of the groups are, from the left: between their words, and `NODE` apart from each other."""
    count = int(max(groups[0].max(initial=-1), groups[1].max(initial=-1))) + 1
    wanted = np.array(
        [np.mean(np.concatenate([middles[side][groups[side] == group] for side in (0, 1)])) for group in range(count)]
    )
    order = np.argsort(wanted, kind="stable")
    places = wanted[order]
    apart = min(NODE, width / max(count, 1))
    for n in range(1, count):
        places[n] = max(places[n], places[n - 1] + apart)
    for n in range(count - 1, -1, -1):  # back, where they ran over the edge
        places[n] = min(places[n], width - (count - 1 - n) * apart)
    nodes = np.empty(count)
    nodes[order] = places
    return nodes.tolist()


def mixed(colour: str, other: float, share: float) -> str:
    """A colour with a share of it replaced by the grey `other`, from 0 (black) to 1 (white)."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 * share * other + (1 - share) * part):02x}" for part in parts)


def luminance(colour: str) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def between(colour: str) -> str:
    """A colour made lighter or darker until it has a contrast of 3 with white pages and with dark ones."""
    low, high = LUMINANCES
    other = float(luminance(colour) < low)
    mixes = (mixed(colour, other, share / 100) for share in range(101))
    return next(mix for mix in mixes if low <= luminance(mix) <= high)


# -- matrix ------------------------------------------------------------------------------------------------------------


def _draw_matrix(figure: Figure, source: Sequence[str], target: Sequence[str], alignment: Alignment) -> None:
    from matplotlib.collections import PolyCollection

    words = [shortened(word) for word in source], [shortened(word) for word in target]
    rooms = room_for(words[0]), room_for(words[1])
    rows, columns = max(len(source), 1), max(len(target), 1)
    noted = not (alignment.sure.all() and (alignment.confidence >= 1).all())
    legend = width_of(NOTES, 8, families_for([NOTES])) if noted else 0.0

    def places(scale: Scale) -> tuple[float, float, float]:
        """The room left of the cells, above and below them, in inches."""
        side, above = (max(scale.cell, room * scale.font / FONT) + 0.1 + MARGIN for room in rooms)
        return side, above, MARGIN + (NOTE if noted else 0.0)

    def size(scale: Scale) -> tuple[float, float]:
        side, above, below = places(scale)
        width = max(side + scale.cell * columns + MARGIN, legend + 2 * MARGIN)
        return width, above + scale.cell * rows + below

    scale = fitting(size, f"{len(source):,} x {len(target):,} words")
    (width, height), (side, _, below) = size(scale), places(scale)
    figure.set_size_inches(width, height)
    cell = scale.cell
    axes = figure.add_axes((side / width, below / height, cell * columns / width, cell * rows / height))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    if runs_right_to_left(target):
        axes.invert_xaxis()
    draw_grid(axes, rows, columns)
    label_cells(axes, scale, *words, count=len(target), above=True)
    group = _groups(alignment, (len(source), len(target)))[0][alignment.source]
    colours = [colour_of(number) for number in group.tolist()]
    halves = 0.44 * np.sqrt(np.clip(alignment.confidence.astype(np.float64), 0.04, 1.0))
    centres = np.stack([alignment.target, alignment.source], axis=1).astype(np.float64)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    if len(alignment):
        axes.add_collection(
            PolyCollection(
                list(centres[:, None] + halves[:, None, None] * corners),
                facecolors=[c if sure else "white" for c, sure in zip(colours, alignment.sure.tolist(), strict=True)],
                edgecolors=colours,
                linewidths=min(1.2, 5 * cell),
                zorder=2,
            )
        )
    frames = [
        [(c - 0.5, a - 0.5), (d - 0.5, a - 0.5), (d - 0.5, b - 0.5), (c - 0.5, b - 0.5)]
        for (a, b), (c, d), _ in alignment.segments or ()
        if (b - a) * (d - c) > 1
    ]
    if frames:
        axes.add_collection(PolyCollection(frames, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=3))
    if noted:
        figure.text(MARGIN / width, MARGIN / height, NOTES, fontsize=8, color=GREY, va="bottom")
