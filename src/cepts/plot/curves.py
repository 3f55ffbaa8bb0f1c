"""Figures with curves: how the number of cepts was chosen, fitted spaces, hidden documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.io.files import PathLike
from cepts.plot.figure import INK, PALE, Drawn, colour_of, drawing, dress
from cepts.plot.fonts import shaped

if TYPE_CHECKING:
    from cepts.spaces import Space


def plot_criterion(
    path: PathLike,
    cepts: Sequence[int] | NDArray[np.integer],
    criteria: Mapping[str, Sequence[float] | NDArray[np.floating]],
    *,
    chosen: Mapping[str, int] | None = None,
    title: str = "",
) -> Drawn:
    """Draw criteria such as the log-likelihood, AIC and BIC against the number of cepts.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    cepts
        The numbers of cepts that were tried.
    criteria
        From the name of a criterion to its values for these numbers, in nats; NaN if it has no value.
    chosen
        From the name of a criterion to the number of cepts that it chose, which is marked.
    title
        Title of the figure.
    """
    numbers = np.asarray(cepts, dtype=np.int64)
    curves = {name: np.asarray(values, dtype=np.float64) for name, values in criteria.items()}
    for name, values in curves.items():
        if values.shape != numbers.shape:
            raise ValueError(f"{name} must have a value for each of {len(numbers)} numbers. Got {len(values)} instead.")
    marks = dict(chosen or {})
    for name, number in marks.items():
        if name not in curves or number not in numbers:
            raise ValueError(f"`chosen` must be among the criteria and `cepts`. Got {name!r}: {number} instead.")
    with drawing(path, 5.2, 3.4, texts=[*curves, title]) as figure:
        axes = figure.add_axes((0.18, 0.15, 0.57, 0.72))
        ends = []
        for place, (name, values) in enumerate(curves.items()):
            colour = colour_of(place)
            axes.plot(numbers, values, "-o", color=colour, linewidth=1.4, markersize=3.5)
            if name in marks:
                at = int(np.flatnonzero(numbers == marks[name])[0])
                axes.plot(numbers[at], values[at], "o", markersize=10, color=colour, fillstyle="none")
            known = np.flatnonzero(np.isfinite(values))
            if len(known):
                ends.append((values[known[-1]], numbers[known[-1]], name, colour))
        dress(axes, "cepts", "nats", ticks=10, title=title)
        # Names are at the ends of the curves, pushed apart if they would overlap.
        low, high = axes.get_ylim()
        height, last = 0.06 * (high - low), -np.inf
        for value, _, name, colour in sorted(ends):
            last = max(value, last + height)
            axes.annotate(
                shaped(name) + (f" ({marks[name]})" if name in marks else ""),
                (1.02, last),
                xycoords=("axes fraction", "data"),
                color=colour,
                va="center",
            )
    return Drawn(Path(path))


LEAST = 1e-8  # the lower end of the probability axis


def plot_hidden_documents(
    path: PathLike,
    columns: Mapping[str, NDArray[np.floating]],
    priors: NDArray[np.floating],
    *,
    estimated: NDArray[np.floating] | None = None,
    title: str = "",
) -> Drawn:
    """Draw hidden documents as in Figures 2 and 3 of Novak and Mammone (2001).

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    columns
        From the name of a hidden document d to its P(word | d), drawn on the left with the words in descending order.
    priors
        P(d) of all hidden documents, drawn on the right with the highest first.
    estimated
        Estimates of P(d) from a text (Novak and Mammone, 2001, eq. 18), in the order of `priors`.
    title
        Title of the figure.
    """
    known = np.asarray(priors, dtype=np.float64)
    if estimated is not None and len(estimated) != len(known):
        raise ValueError(f"`estimated` must have one for each of {len(known)} priors. Got {len(estimated)} instead.")
    with drawing(path, 8.4, 3.4, texts=[*columns, title]) as figure:
        bottom, height = 0.15, 0.72 if title else 0.76
        left = figure.add_axes((0.09, bottom, 0.39, height))
        for place, (name, column) in enumerate(columns.items()):
            values = np.sort(np.asarray(column, dtype=np.float64))[::-1]
            values = values[values >= LEAST]
            left.plot(np.arange(1, len(values) + 1), values, color=colour_of(place), linewidth=1.3, label=shaped(name))
        left.set_xscale("log")
        left.set_yscale("log")
        # Plain numbers, because powers of ten need formulae, which are off because a dollar sign may be a word.
        left.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
        left.yaxis.set_major_formatter(lambda value, place: f"{value:g}")
        left.set_ylim(bottom=LEAST)
        left.set_title("P(word | d) of some hidden documents", loc="left", fontsize=9)
        dress(left, "words, the most probable first")
        if columns:
            left.legend(frameon=False, fontsize=7.5, loc="lower left", handlelength=1.2)
        right = figure.add_axes((0.58, bottom, 0.39, height))
        order = np.argsort(-known, kind="stable")
        places = np.arange(1, len(known) + 1)
        if estimated is not None:
            shown = np.asarray(estimated, dtype=np.float64)[order]
            right.plot(places, shown, ".", color=colour_of(1), markersize=3, label="mean of P(d | h) over a text")
        right.plot(places, known[order], color=INK, linewidth=1.3, label="from the factorisation")
        right.set_ylim(bottom=0)
        right.set_title("P(d) of all hidden documents", loc="left", fontsize=9)
        dress(right, "hidden documents, the most probable first")
        if estimated is not None:
            right.legend(frameon=False, fontsize=7.5, loc="upper right")
        if title:
            figure.suptitle(title, x=0.09, ha="left", fontweight="bold", fontsize=10)
    return Drawn(Path(path))


LATE = 100  # iterations after which the second panel begins, if there are many more


def plot_space(path: PathLike, space: Space) -> Drawn:
    """Draw the likelihood over the iterations of a fit or, for methods without any, the correlations of the dimensions.

    `plot_likelihood` and `plot_correlations` say what the figures show.
    """
    title = f"{'-'.join(space.languages)}, {space.method}"
    if space.objectives:
        return plot_likelihood(path, space.objectives, title=title)
    if space.correlations is not None:
        return plot_correlations(path, space.correlations, title=title)
    raise UsageError(f"{space.method} has neither iterations nor correlations to draw.")


def plot_likelihood(path: PathLike, objectives: Sequence[float] | NDArray[np.floating], *, title: str = "") -> Drawn:
    """Draw the likelihood before each iteration of EM, as in Figure 4 of Vargas et al. (2019).

    The left panel has all iterations. The right one has those after the hundredth, or after the first tenth if there
    are fewer than a thousand, because the steep beginning would hide them.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    objectives
        The mean log-likelihood of an entry before each iteration, in nats, such as `Space.objectives`.
    title
        Title of the figure.
    """
    values = np.asarray(objectives, dtype=np.float64)
    if not len(values):
        raise UsageError("`objectives` must have at least one value. Got none instead.")
    late = min(LATE, max(1, len(values) // 10), len(values) - 1)
    with drawing(path, 7.2, 3.0, texts=[title]) as figure:
        for number, (start, name) in enumerate(((0, "all iterations"), (late, f"from iteration {late + 1}"))):
            axes = figure.add_axes((0.13 + 0.49 * number, 0.17, 0.36, 0.66))
            numbers = np.arange(start, len(values)) + 1
            mark = "o" if len(numbers) == 1 else ""
            axes.plot(numbers, values[start:], "-", marker=mark, color=colour_of(0), linewidth=1.4)
            axes.set_title(name, loc="left", fontsize=9)
            dress(axes, "iteration", "log-likelihood, nats per entry" if not number else "", ticks=5)
            # Full values at the ticks, instead of a few digits and an offset above the axis.
            axes.ticklabel_format(axis="y", useOffset=False)
        if title:
            figure.suptitle(title, x=0.13, ha="left", fontweight="bold", fontsize=10)
    return Drawn(Path(path))


def plot_correlations(path: PathLike, correlations: NDArray[np.floating], *, title: str = "") -> Drawn:
    """Draw the correlation of the languages in each dimension of a space.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    correlations
        The correlations, in descending order, such as `Space.correlations`.
    title
        Title of the figure.
    """
    values = np.asarray(correlations, dtype=np.float64)
    with drawing(path, 5.2, 3.4, texts=[title]) as figure:
        axes = figure.add_axes((0.12, 0.15, 0.82, 0.72))
        axes.fill_between(np.arange(1, len(values) + 1), values, color=PALE, linewidth=0)
        axes.plot(np.arange(1, len(values) + 1), values, color=colour_of(0), linewidth=1.4)
        axes.set_ylim(0, 1)
        axes.set_xlim(1, max(2, len(values)))
        dress(axes, "dimension of the space", "correlation of the languages", ticks=5, title=title)
    return Drawn(Path(path))
