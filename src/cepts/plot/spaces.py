"""Figures of a fitted space: the likelihood during EM, and the correlations of the languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.io.files import PathLike
from cepts.plot.figure import PALE, colour_of, drawing, dress

if TYPE_CHECKING:
    from cepts.spaces import Space

LATE = 100  # iterations after which the second panel begins, where there are many more


def plot_space(path: PathLike, space: Space) -> None:
    """Draw the likelihood of a fit's iterations, or the correlations of its dimensions."""
    title = f"{'-'.join(space.languages)}, {space.method}"
    if space.objectives:
        plot_likelihood(path, space.objectives, title=title)
    elif space.correlations is not None:
        plot_correlations(path, space.correlations, title=title)
    else:
        raise UsageError(f"{space.method} has neither iterations nor correlations to draw.")


def plot_likelihood(path: PathLike, objectives: Sequence[float] | NDArray[np.floating], *, title: str = "") -> None:
    """Draw the likelihood before each iteration of EM, to .svg, .pdf or .png (Figure 4 of mfa.txt).

    On the left all iterations; on the right those after the hundredth (after the first tenth where there are fewer
    than a thousand), which the steep beginning would hide.
    """
    values = np.asarray(objectives, dtype=np.float64)
    if not len(values):
        raise UsageError("`objectives` must be at least one. Got none instead.")
    late = min(LATE, max(1, len(values) // 10), len(values) - 1)
    with drawing(path, 7.2, 3.0) as figure:
        from matplotlib.ticker import MaxNLocator

        for number, (start, name) in enumerate(((0, "all iterations"), (late, f"from iteration {late + 1}"))):
            axes = figure.add_axes((0.13 + 0.49 * number, 0.17, 0.36, 0.66))
            numbers = np.arange(start, len(values)) + 1
            mark = "o" if len(numbers) == 1 else ""
            axes.plot(numbers, values[start:], "-", marker=mark, color=colour_of(0), linewidth=1.4)
            axes.set_title(name, loc="left", fontsize=9)
            dress(axes, "iteration", "log-likelihood, nats an entry" if not number else "")
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, min_n_ticks=1))
            # Full values, not an offset above the axis and a few digits at the ticks.
            axes.ticklabel_format(axis="y", useOffset=False)
        if title:
            figure.suptitle(title, x=0.13, ha="left", fontweight="bold", fontsize=10)


def plot_correlations(path: PathLike, correlations: NDArray[np.floating], *, title: str = "") -> None:
    """Draw the correlation of the languages in each dimension of the space, to .svg, .pdf or .png."""
    values = np.asarray(correlations, dtype=np.float64)
    with drawing(path, 5.2, 3.4) as figure:
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_axes((0.12, 0.15, 0.82, 0.72))
        axes.fill_between(np.arange(1, len(values) + 1), values, color=PALE, linewidth=0)
        axes.plot(np.arange(1, len(values) + 1), values, color=colour_of(0), linewidth=1.4)
        axes.set_ylim(0, 1)
        axes.set_xlim(1, max(2, len(values)))
        dress(axes, "dimension of the space", "correlation of the languages")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, min_n_ticks=1))
        if title:
            axes.set_title(title, loc="left", fontweight="bold", fontsize=10)
