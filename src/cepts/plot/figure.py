"""What all figures share: one style, and files whose bytes depend only on what they show."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepts.errors import UsageError
from cepts.io.files import PathLike, check_output, open_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")
INK, GREY, PALE = "#1f2933", "#8a94a0", "#e4e8ec"
# The first ones can be told apart by colour-blind readers: from Okabe and Ito, then from Tol.
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#56b4e9",
    "#882255",
    "#999933",
    "#332288",
    "#44aa99",
    "#aa4499",
    "#ddaa33",
    "#117733",
    "#bb5566",
)
DOTS_PER_INCH = 160
# No date, program version or random names, so that the bytes depend only on what is shown.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}
SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 9.0,
    "text.parse_math": False,  # a dollar sign is text
    "svg.hashsalt": "cepts",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
}


def colour_of(cept: int) -> str:
    """The colour of a cept, by its number from 0."""
    return COLOURS[cept % len(COLOURS)]


def suffix_of(path: PathLike) -> str:
    """The suffix of a figure's file, which gives its format; refuses, before any work, what cannot be drawn."""
    suffix = Path(path).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise UsageError(f"a figure is a file that ends in .svg, .pdf or .png. Got {str(path)!r} instead.")
    check_output(path)
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise UsageError("figures need matplotlib; install it with: pip install 'cepts[plot]'") from error
    return suffix


@contextmanager
def drawing(path: PathLike, width: float = 1.0, height: float = 1.0) -> Iterator[Figure]:
    """A white figure, sizes in inches, without a window, which is written to `path` at the end, whole or not at all.

    Matplotlib has our settings meanwhile; the caller's settings have no effect and are not changed.
    """
    suffix = suffix_of(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # Letters that the font lacks are drawn as boxes.
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white")
        yield figure
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix])
    with open_output(path) as file:
        file.write(buffer.getvalue())


def dress(axes: Axes, x: str, y: str = "", *, ticks: int = 0, title: str = "") -> None:
    """Give a plot of curves its grid, its two axes and their names, at most `ticks` whole numbers, and a title."""
    if ticks:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True, min_n_ticks=1))
    if title:
        axes.set_title(title, loc="left", fontweight="bold", fontsize=10)
    axes.grid(color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(color=GREY)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
