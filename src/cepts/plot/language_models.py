"""Figures of language models: hidden documents, and perplexity against an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.io.files import PathLike
from cepts.plot.figure import INK, Drawn, colour_of, drawing, dress
from cepts.plot.fonts import shaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 1e-8  # the lower end of the probability axis


def plot_hidden_documents(
    path: PathLike,
    columns: Mapping[str, NDArray[np.floating]],
    priors: NDArray[np.floating] | None = None,
    *,
    estimated: NDArray[np.floating] | None = None,
    title: str = "",
) -> Drawn:
    """Draw hidden documents as in Figures 2 and 3 of Novak and Mammone (2001), or as in one of them.

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    columns
        From the name of a hidden document d to its P(word | d), drawn on the left with the words in descending order.
        If there are none, only the right side is drawn.
    priors
        P(d) of all hidden documents, drawn on the right with the highest first; None draws only the left side.
    estimated
        Estimates of P(d) from a text (Novak and Mammone, 2001, eq. 18), in the order of `priors`.
    title
        Title of the figure.
    """
    panels = bool(columns) + (priors is not None)
    if not panels:
        raise ValueError("`columns` or `priors` must be given. Got neither.")
    if priors is not None and estimated is not None and len(estimated) != len(priors):
        raise ValueError(f"`estimated` must have one for each of {len(priors)} priors. Got {len(estimated)} instead.")
    with drawing(path, 4.2 * panels, 3.4, texts=[*columns, title]) as figure:
        left, width = 0.18 / panels, 0.78 / panels
        sides = [(left + place / panels, 0.15, width, 0.72 if title else 0.76) for place in range(panels)]
        if columns:
            _draw_words(figure.add_axes(sides[0]), columns)
        if priors is not None:
            _draw_priors(figure.add_axes(sides[-1]), priors, estimated)
        if title:
            figure.suptitle(title, x=left, ha="left", fontweight="bold", fontsize=10)
    return Drawn(Path(path))


def _draw_words(axes: Axes, columns: Mapping[str, NDArray[np.floating]]) -> None:
    for place, (name, column) in enumerate(columns.items()):
        values = np.sort(np.asarray(column, dtype=np.float64))[::-1]
        values = values[values >= LEAST]
        axes.plot(np.arange(1, len(values) + 1), values, color=colour_of(place), linewidth=1.3, label=shaped(name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    # Plain numbers, because powers of ten need formulae, which are off because a dollar sign may be a word.
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axes.set_ylim(bottom=LEAST)
    axes.set_title("P(word | d) of some hidden documents", loc="left", fontsize=9)
    dress(axes, "words, the most probable first")
    axes.legend(frameon=False, fontsize=7.5, loc="lower left", handlelength=1.2)


def _draw_priors(axes: Axes, priors: NDArray[np.floating], estimated: NDArray[np.floating] | None) -> None:
    known = np.asarray(priors, dtype=np.float64)
    order = np.argsort(-known, kind="stable")
    places = np.arange(1, len(known) + 1)
    if estimated is not None:
        shown = np.asarray(estimated, dtype=np.float64)[order]
        axes.plot(places, shown, ".", color=colour_of(1), markersize=3, label="mean of P(d | h) over a text")
    axes.plot(places, known[order], color=INK, linewidth=1.3, label="from the factorisation")
    axes.set_ylim(bottom=0)
    axes.set_title("P(d) of all hidden documents", loc="left", fontsize=9)
    dress(axes, "hidden documents, the most probable first")
    if estimated is not None:
        axes.legend(frameon=False, fontsize=7.5, loc="upper right")


def plot_perplexities(
    path: PathLike, option: str, values: Sequence[float], panels: Mapping[str, Mapping[str, Sequence[float]]]
) -> Drawn:
    """Draw perplexity against an option, as in Figures 1 and 4 of Novak and Mammone (2001).

    Parameters
    ----------
    path
        The file; its suffix (.svg, .pdf or .png) is the format.
    option
        What is varied, the name of the x axis, which is logarithmic.
    values
        Its values, in ascending order.
    panels
        From the name of a text to its curves, and from the name of a model to its perplexity at each value.
    """
    for name, curves in panels.items():
        for model, curve in curves.items():
            if len(curve) != len(values):
                raise ValueError(
                    f"{model} must have a perplexity of {name} for each of {len(values)} values. Got {len(curve)} "
                    f"instead."
                )
    ticks = values[:: max(len(values) // 5, 1)]
    with drawing(path, 3.8 * len(panels), 3.0, texts=[*panels, option]) as figure:
        for place, (name, curves) in enumerate(panels.items()):
            width = 1 / len(panels)
            axes = figure.add_axes(((place + 0.18) * width, 0.17, 0.78 * width, 0.7))
            for number, (model, curve) in enumerate(curves.items()):
                axes.semilogx(
                    values, curve, "o-", color=colour_of(number), linewidth=1.4, markersize=3.5, label=shaped(model)
                )
            axes.minorticks_off()
            axes.set_xticks(ticks)
            axes.set_xticklabels([f"{value:,g}" for value in ticks])
            axes.set_title(shaped(name), loc="left", fontsize=9)
            dress(axes, option, "perplexity" if not place else "")
            if len(curves) > 1:
                axes.legend(frameon=False, fontsize=7.5)
    return Drawn(Path(path))
