"""What all figures share: one look, and files that are the same bytes whenever they show the same."""

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
# Told apart also by colour-blind readers while there are few: after Okabe and Ito, then after Tol.
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
# No date, no version of a program, no random names: the bytes depend on what is shown.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}
SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # which comes with the library, so that it is the same everywhere
    "font.size": 9.0,
    "text.parse_math": False,  # a dollar sign is a word like others
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
    """The suffix of a figure's file, which says what is drawn; to be asked before any work."""
    suffix = Path(path).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise UsageError(f"a figure is a file that ends in .svg, .pdf or .png. Got {str(path)!r} instead.")
    check_output(path)
    return suffix


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib with the look of this house; nothing of the caller's settings shows through, nor is changed."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise UsageError("figures need matplotlib; install it with: pip install 'cepts[plot]'") from error

    with mpl.rc_context(), warnings.catch_warnings():
        # Where the font lacks a script, boxes stand for its letters.
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """A white figure of so many inches, that no window knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white")


def save(figure: Figure, path: PathLike, suffix: str) -> None:
    """Write `figure` as its `suffix` says, whole or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix])
    with open_output(path) as file:
        file.write(buffer.getvalue())
