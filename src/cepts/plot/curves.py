"""Figures with curves: how the number of cepts was chosen, fitted spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.io.files import PathLike
from cepts.plot.figure import PALE, Drawn, colour_of, drawing, dress
from cepts.plot.fonts import shaped

if TYPE_CHECKING:
    from cepts.evaluate import Reliability
    from cepts.spaces import Space
    from cepts.words import Aligner


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


def plot_training(path: PathLike, aligner: Aligner, *, title: str = "") -> Drawn:
    """Draw the log-likelihood of a word aligner before each iteration of its training, one curve for each stage.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    aligner
        A trained aligner. Its objective is the sum of both directions' log-likelihoods, which is drawn per word.
    title
        Title of the figure.
    """
    aligner.check_fitted()
    words = float(aligner.source_.frequencies.sum() + aligner.target_.frequencies.sum())
    curves = {stage: np.asarray(values) / max(words, 1.0) for stage, values in aligner.stage_objectives_.items()}
    return plot_iterations(path, curves, "log-likelihood, nats per word", title=title or f"training of {aligner.name}")


def plot_iterations(
    path: PathLike,
    curves: Mapping[str, Sequence[float] | NDArray[np.floating]],
    what: str,
    *,
    starts: Mapping[str, int] | None = None,
    title: str = "",
) -> Drawn:
    """Draw what happens in the iterations of one stage of training after the other.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    curves
        From the name of a stage to its values; a stage starts where the one before it ends.
    what
        What the values are: the label of the vertical axis.
    starts
        The numbers of the first iterations of stages that start elsewhere, so that trainings can be compared.
    title
        Title of the figure.
    """
    with drawing(path, 5.2, 3.4, texts=[*curves, title]) as figure:
        axes = figure.add_axes((0.16, 0.15, 0.79, 0.72))
        start = 1
        for place, (name, values) in enumerate(curves.items()):
            start = (starts or {}).get(name, start)
            numbers = np.arange(start, start + len(values))
            axes.plot(numbers, values, "-o", color=colour_of(place), linewidth=1.4, markersize=3.5, label=shaped(name))
            start += len(values)
        dress(axes, "iteration", what, ticks=10, title=title)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    return Drawn(Path(path))


def plot_reliability(path: PathLike, tables: Mapping[str, Reliability], *, title: str = "") -> Drawn:
    """Draw which share of the links is right against their confidence; calibrated confidences lie on the diagonal.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    tables
        From the name of a system to its `cepts.evaluate.reliability`.
    title
        Title of the figure.
    """
    with drawing(path, 4.4, 4.0, texts=[*tables, title]) as figure:
        axes = figure.add_axes((0.15, 0.13, 0.8, 0.76))
        axes.plot([0, 1], [0, 1], color=PALE, linewidth=1.4)
        for place, (name, table) in enumerate(tables.items()):
            filled = table.counts > 0
            label = f"{shaped(name)} (error {table.error:.3f})"
            values = table.confidence[filled], table.right[filled]
            axes.plot(*values, "-o", color=colour_of(place), linewidth=1.4, markersize=3.5, label=label)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        dress(axes, "confidence", "share of right links", title=title)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
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
