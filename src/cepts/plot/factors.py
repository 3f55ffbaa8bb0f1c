"""A sentence pair drawn as in onmf, figures 3, 5 and 6: its matrix, the two factors, and the resulting alignment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts import factor
from cepts.data import Alignment, runs_right_to_left
from cepts.io import Matrices
from cepts.io.files import PathLike
from cepts.plot.cells import FONT, Scale, draw_grid, draw_squares, fitting, label_cells, room_for, shortened
from cepts.plot.curves import plot_criterion
from cepts.plot.figure import GREY, INK, Drawn, colour_of, drawing
from cepts.plot.fonts import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GAP = 0.3  # inches
MARGIN = 0.2
LINE = 0.19
LEGEND = 3.5  # width of the legend in inches
NULL = "∅"

Labels = tuple[Sequence[str], Sequence[str]]  # of rows and columns
Gold = Sequence[tuple[set[tuple[int, int]], bool]]  # links, and whether they are sure


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
) -> Drawn:
    """Draw how one sentence pair was factorised, as in figures 3, 5 and 6 of Goutte et al. (2004).

    The figure shows, from left to right, the association matrix, the cepts of the source words, and the alignment, with
    the cepts of the target words above it. The area of a square is its value. A cept has the same colour throughout.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    matrix
        The association matrix, (I + 1) x (J + 1), with the row and column of null first.
    source_factor, target_factor
        P(cept | word), (I + 1) x C and (J + 1) x C, with null first. Cepts to which no word is assigned, such as those
        of null, are grey.
    source_words, target_words
        The I source words and the J target words.
    source_assignment, target_assignment
        The cept of each word as a column of the factors; -1 is null.
    cept_names
        The names of the C cepts; by default 1 to C.
    sure, possible
        Gold links (i, j), counted from 0, which are drawn as filled and open circles on the alignment.
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
    with drawing(path, texts=[*source_words, *target_words, *names, title]) as figure:
        _draw(figure, pair, names, gold, title)
    return Drawn(Path(path))


class _Pair:
    """The data of the figure; the constructor checks that the sizes match the words."""

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
                raise ValueError(f"`{name}` must have finite numbers of 0 or more.")
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
        """The cept of each link, with null first; -1 for links to null, -2 if there is no link."""
        links = np.full(self.matrix.shape, -2, dtype=np.int64)
        same = self.source_assignment[:, None] == self.target_assignment[None, :]
        linked = same & (self.source_assignment[:, None] >= 0)
        links[1:, 1:][linked] = np.broadcast_to(self.source_assignment[:, None], same.shape)[linked]
        links[1:, 0][self.source_assignment < 0] = -1
        links[0, 1:][self.target_assignment < 0] = -1
        return links


def _draw(figure: Figure, pair: _Pair, names: list[str], gold: Gold, title: str) -> None:
    source, target = ([NULL, *map(shortened, words)] for words in pair.words)
    names = [shortened(name) for name in names]
    has_gold = any(links for links, _ in gold)
    rooms = room_for(source), room_for(target), room_for(names)
    lines = 1 + 1.4 * bool(title) + has_gold
    words = f"{len(source) - 1:,} x {len(target) - 1:,} words"
    scale = fitting(lambda scale: _places(scale, pair, rooms, lines).size, words)
    cell, places = scale.cell, _places(scale, pair, rooms, lines)
    width, height = places.size
    figure.set_size_inches(width, height)
    # The columns of a right-to-left sentence run from right to left.
    turned = runs_right_to_left(pair.words[1])

    def panel(
        heading: str,
        place: tuple[float, float],
        shares: NDArray[np.float64],
        colours: NDArray[Any],
        labels: Labels,
        *,
        above: bool = False,
        cepts: int | None = None,
        gold: Gold = (),
    ) -> None:
        """Draw a matrix of squares between words; `cepts` is the axis that has cepts: 0 for rows, 1 for columns."""
        rows, columns = shares.shape
        axes = figure.add_axes((place[0] / width, place[1] / height, cell * columns / width, cell * rows / height))
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.5, -0.5)
        if turned and cepts != 1:
            axes.invert_xaxis()
        draw_grid(axes, rows, columns)
        draw_squares(axes, shares, np.broadcast_to(colours, shares.shape))
        # Lines that separate null from the words.
        if cepts != 0:
            axes.axhline(0.5, color=GREY, linewidth=0.8, zorder=1)
        if cepts != 1:
            axes.axvline(0.5, color=GREY, linewidth=0.8, zorder=1)
        label_cells(axes, scale, *labels, count=columns, above=above)
        if cepts is not None:
            ticks = axes.get_xticklabels() if cepts else axes.get_yticklabels()
            for label, colour in zip(ticks, pair.colours[:: scale.every], strict=True):
                label.set_color(colour)
                label.set_fontweight("bold")
        for links, is_sure in gold:
            for i, j in sorted(links):
                axes.plot(
                    j + 1,
                    i + 1,
                    "o",
                    ms=min(5.0, 20 * cell),
                    mfc=INK if is_sure else "white",
                    mec=INK,
                    mew=0.9,
                    zorder=3,
                )
        over = (0, POINTS_PER_INCH * (places.target_room if above else 0.0) + 4)
        near: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        axes.annotate(heading, (0, 1), over, **near, color=GREY, va="bottom")

    colours = np.array(pair.colours, dtype=object)
    ink = np.array(INK, dtype=object)
    panel(
        "association",
        (places.left, places.bottom),
        pair.matrix / (pair.matrix.max() or 1.0),
        ink,
        (source, target),
        above=True,
    )
    panel("source to cept", (places.middle, places.bottom), pair.source_factor, colours, (source, names), cepts=1)
    panel(
        "cept to target",
        (places.right, places.upper),
        pair.target_factor.T,
        colours[:, None],
        (names, target),
        above=True,
        cepts=0,
    )
    links = pair.alignment()
    shown = np.array([*pair.colours, GREY, GREY], dtype=object)
    panel(
        "alignment",
        (places.right, places.bottom),
        np.where(links > -2, 0.8, 0.0),
        shown[links],
        ([], target),
        gold=gold,
    )

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


class _Places(NamedTuple):
    """Where the panels are, in inches: columns `left`, `middle` and `right`, rows `bottom` and `upper`."""

    size: tuple[float, float]
    left: float
    middle: float
    right: float
    bottom: float
    upper: float
    target_room: float


def _places(scale: Scale, pair: _Pair, rooms: tuple[float, float, float], lines: float) -> _Places:
    """The layout at a scale: cells have the same size in all panels, and rows and columns continue across panels.

    `rooms` are the widths of the source words, the target words and the names of cepts; `lines` is the height of the
    legend in lines.
    """
    rows, columns = pair.matrix.shape
    source_room, target_room, name_room = (max(scale.cell, room * scale.font / FONT) + 0.1 for room in rooms)
    wide, high, across = scale.cell * columns, scale.cell * rows, scale.cell * pair.cepts
    left = MARGIN + source_room
    middle = left + wide + GAP + source_room
    right = middle + max(across + name_room, 1.0) + GAP
    bottom = MARGIN + max(name_room, target_room)
    upper = bottom + high + GAP
    width = max(right + max(wide, 1.0) + MARGIN, LEGEND + MARGIN)
    # The legend is in the corner above the matrix if it fits there.
    beside = upper + across + target_room + LINE
    below = (upper + target_room if right - name_room > LEGEND else beside) + LINE
    height = MARGIN + max(beside, below + LINE * lines)
    return _Places((width, height), left, middle, right, bottom, upper, target_room)


def plot_pair_factors(
    matrices: Matrices,
    pair: int,
    *,
    scale: float = 1.0,
    words: tuple[list[str], list[str]] | None = None,
    gold: Alignment | None = None,
    factors: PathLike | None = None,
    criterion: PathLike | None = None,
    orthogonal: bool = False,
    **options: Any,
) -> None:
    """Factorise the matrix of one sentence pair and draw the factors, and how the number of cepts was chosen.

    Parameters
    ----------
    matrices
        The matrices of a file.
    pair
        The number of the pair among them, from 0.
    scale
        Factor by which the values of the matrix are multiplied, for example to turn probabilities into counts.
    words
        The source and the target words; by default those of `matrices`.
    gold
        Gold links to draw on the alignment.
    factors
        The file for the factors; see `plot_factors`. None does not draw them.
    criterion
        The file for the choice of the number of cepts; see `plot_criterion`. None does not draw it.
    orthogonal
        Draw the orthogonal factors, eq. (7) of Goutte et al. (2004), in which each word has one cept, instead of
        P(cept | word).
    options
        Options of `cepts.factor.factorise`. A number of `cepts` that is too large for the pair is reduced.
    """
    association = matrices.association.part(pair, pair + 1)
    size, length = int(association.source_lengths[0]), int(association.target_lengths[0])
    nulls = [
        np.zeros(count, dtype=np.float32) if null is None else null * np.float32(scale)
        for null, count in ((association.source_null, size), (association.target_null, length))
    ]
    matrix = association[0] * np.float32(scale)
    if isinstance(options.get("cepts"), int):
        options["cepts"] = min(options["cepts"], size, length)
    found = factor.factorise(matrix, source_null=nulls[0], target_null=nulls[1], **options)
    if words is None and matrices.source is not None and matrices.target is not None:
        words = matrices.source[pair], matrices.target[pair]
    if words is None:
        words = [str(i + 1) for i in range(size)], [str(j + 1) for j in range(length)]
    count = len(found.factors)
    if factors is not None:
        cepts = found.alignments.cepts
        assert cepts is not None
        whole = np.zeros((size + 1, length + 1))
        whole[1:, 1:] = matrix
        whole[1:, 0], whole[0, 1:] = nulls
        plot_factors(
            factors,
            whole,
            _with_null(_hard(cepts.source, count) if orthogonal else found.factors.source_posterior, last=1),
            _with_null(_hard(cepts.target, count) if orthogonal else found.factors.target_posterior, last=0),
            *words,
            cepts.source,
            cepts.target,
            cept_names=[*(str(cept + 1) for cept in range(count)), "source null", "target null"],
            sure=[] if gold is None else [link for link, sure in zip(gold.links, gold.sure, strict=True) if sure],
            possible=[] if gold is None else gold.links,
            title=f"{count} {'cept' if count == 1 else 'cepts'}, P(noise) = {found.factors.noise:.5f}",
        )
    if criterion is not None:
        numbers = np.arange(1, len(found.aic) + 1)
        curves = {"log-likelihood": found.log_likelihoods, "AIC": found.aic, "BIC": found.bic, "ICL": found.icl}
        known = {name: values for name, values in curves.items() if np.isfinite(values).any()}
        chosen = {
            name: int(numbers[np.nanargmax(values)]) for name, values in known.items() if name != "log-likelihood"
        }
        plot_criterion(criterion, numbers, known, chosen=chosen)


def _hard(cepts: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """1 for the cept of each word, or for null in the first column."""
    return (cepts[:, None] + 1 == np.arange(count + 1)).astype(np.float64)


def _with_null(posterior: np.ndarray, *, last: int) -> np.ndarray:
    """P(cept | word) with the null word as first row; the last columns are the null cepts of source and target."""
    words, columns = posterior.shape
    whole = np.zeros((words + 1, columns + 1))
    whole[1:, : columns - 1] = posterior[:, 1:]
    whole[1:, columns - 1 + last] = posterior[:, 0]
    whole[0, columns - last] = 1.0
    return whole
