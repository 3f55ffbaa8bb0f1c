"""Figures of hidden documents: the word distributions of some, and the priors of all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cepts.io.files import PathLike
from cepts.plot.figure import INK, colour_of, drawing, dress

LEAST = 1e-8  # the lower end of the probability axis


def plot_hidden_documents(
    path: PathLike,
    columns: Mapping[str, NDArray[np.floating]],
    priors: NDArray[np.floating],
    *,
    estimated: NDArray[np.floating] | None = None,
    title: str = "",
) -> None:
    """Draw hidden documents to .svg, .pdf or .png, as Figures 2 and 3 of nmf_lm.txt.

    Parameters
    ----------
    path
        The file; its suffix gives the format.
    columns
        Name -> P(word | d) of a hidden document, drawn on the left with the words sorted.
    priors
        P(d) of all hidden documents, drawn on the right, the highest first.
    estimated
        Estimates of P(d) from a text, eq. (18) of nmf_lm, in the order of `priors`.
    title
        Title of the figure.
    """
    known = np.asarray(priors, dtype=np.float64)
    if estimated is not None and len(estimated) != len(known):
        raise ValueError(f"`estimated` must be one for each of {len(known)} priors. Got {len(estimated)} instead.")
    with drawing(path, 8.4, 3.4) as figure:
        bottom, height = 0.15, 0.72 if title else 0.76
        left = figure.add_axes((0.09, bottom, 0.39, height))
        for place, (name, column) in enumerate(columns.items()):
            values = np.sort(np.asarray(column, dtype=np.float64))[::-1]
            values = values[values >= LEAST]
            left.plot(np.arange(1, len(values) + 1), values, color=colour_of(place), linewidth=1.3, label=name)
        left.set_xscale("log")
        left.set_yscale("log")
        # Plain numbers: powers of ten would need formulae, which are off because a dollar sign may be a word.
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
        right.plot(places, known[order], color=INK, linewidth=1.3, label="of the factorisation")
        right.set_ylim(bottom=0)
        right.set_title("P(d) of all hidden documents", loc="left", fontsize=9)
        dress(right, "hidden documents, the most probable first")
        if estimated is not None:
            right.legend(frameon=False, fontsize=7.5, loc="upper right")
        if title:
            figure.suptitle(title, x=0.09, ha="left", fontweight="bold", fontsize=10)
