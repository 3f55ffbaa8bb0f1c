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
    from matplotlib.figure import Figure

__all__ = ["FIGURE_SUFFIXES", "GREY", "INK", "PALE", "colour_of", "drawing", "new_figure", "save", "suffix_of"]

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
    """The suffix of a figure's file, which gives its format; check it before any work."""
    suffix = Path(path).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise UsageError(f"a figure is a file that ends in .svg, .pdf or .png. Got {str(path)!r} instead.")
    check_output(path)
    return suffix


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib with our settings; the caller's settings have no effect and are not changed."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise UsageError("figures need matplotlib; install it with: pip install 'cepts[plot]'") from error

    with mpl.rc_context(), warnings.catch_warnings():
        # Letters that the font lacks are drawn as boxes.
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """A white figure, sizes in inches, without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white")


def save(figure: Figure, path: PathLike, suffix: str) -> None:
    """Write `figure` in the format of `suffix`, completely or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix])
    with open_output(path) as file:
        file.write(buffer.getvalue())
