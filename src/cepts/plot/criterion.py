"""How the number of cepts was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cepts.io.files import PathLike
from cepts.plot.figure import colour_of, drawing, dress


def plot_criterion(
    path: PathLike,
    cepts: Sequence[int] | NDArray[np.integer],
    criteria: Mapping[str, Sequence[float] | NDArray[np.floating]],
    *,
    chosen: Mapping[str, int] | None = None,
    title: str = "",
) -> None:
    """Draw criteria such as the log-likelihood, AIC and BIC against the number of cepts, to .svg, .pdf or .png.

    Parameters
    ----------
    path
        The file; its suffix is the format.
    cepts
        The numbers of cepts that were tried.
    criteria
        Name -> its value for each of them, in nats; NaN where it has none.
    chosen
        Name -> the number that this criterion chose; it is marked.
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
            raise ValueError(f"`chosen` must be among what was tried. Got {name!r}: {number} instead.")
    with drawing(path, 5.2, 3.4) as figure:
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_axes((0.15, 0.15, 0.6, 0.72))
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
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        dress(axes, "cepts", "nats")
        # Names at the curves' ends, pushed apart where they would overlap.
        low, high = axes.get_ylim()
        height, last = 0.06 * (high - low), -np.inf
        for value, _, name, colour in sorted(ends):
            last = max(value, last + height)
            axes.annotate(
                name + (f" ({marks[name]})" if name in marks else ""),
                (1.02, last),
                xycoords=("axes fraction", "data"),
                color=colour,
                va="center",
            )
        if title:
            axes.set_title(title, loc="left", fontweight="bold", fontsize=10)
