"""What all figures share: one style, a maximum size, and files whose bytes depend only on what they show."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepts.data import runs_right_to_left
from cepts.errors import FigureWarning, UsageError
from cepts.io.files import PathLike, check_output, open_output
from cepts.plot import fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")
INK, GREY, PALE = "#1f2933", "#8a94a0", "#e4e8ec"
# Colour-blind readers can tell the first ones apart: they are from Okabe and Ito, the others from Tol.
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
LARGEST = 24.0  # inches: the maximum width and height of a figure, 3,840 dots
# No date, program version or random names, so that the bytes depend only on what is shown.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}
SETTINGS: dict[Any, Any] = {
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
    """The suffix of a figure's file, which is its format; raises an error, before any work, if it cannot be drawn."""
    suffix = Path(path).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise UsageError(f"the name of a figure must end in .svg, .pdf or .png. Got {str(path)!r} instead.")
    check_output(path)
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise UsageError("figures need matplotlib; install it with: pip install matplotlib") from error
    return suffix


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that was written to `path`; a notebook shows it if it is the value of a cell."""

    path: Path

    def _repr_svg_(self) -> str | None:
        return self.path.read_text(encoding="utf-8") if self.path.suffix.lower() == ".svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.path.read_bytes() if self.path.suffix.lower() == ".png" else None


@contextmanager
def drawing(
    path: PathLike,
    width: float = 1.0,
    height: float = 1.0,
    *,
    texts: Sequence[str] = (),
    ground: str = "white",
) -> Iterator[Figure]:
    """A figure without a window, which is written to `path` at the end, completely or not at all; sizes are in inches.

    Meanwhile matplotlib has our settings; the caller's settings have no effect and are not changed. `texts` are all
    texts of the figure that can be in any script: its fonts are chosen for them, and a `FigureWarning` names letters
    that no font has.
    """
    suffix = suffix_of(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings(), fonts.hushed():
        # Letters that no font has are drawn as boxes; `_warn` reports them once.
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update({**SETTINGS, "font.family": fonts.families_for(texts)})
        figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor=ground)
        yield figure
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix])
    with open_output(path) as file:
        file.write(buffer.getvalue())
    _warn(path, texts)


def _warn(path: PathLike, texts: Sequence[str]) -> None:
    """Warn about letters that are not drawn as they should be."""
    missing = fonts.lacking(texts)
    if missing:
        warnings.warn(f"figure {path}: {fonts.advice(missing)}", FigureWarning, stacklevel=4)
    if not fonts.can_shape() and any(runs_right_to_left([text]) for text in texts):
        warnings.warn(
            f"figure {path}: this version of matplotlib does not join the letters of right-to-left scripts; version "
            f"3.11 does.",
            FigureWarning,
            stacklevel=4,
        )


def dress(axes: Axes, x: str, y: str = "", *, ticks: int = 0, title: str = "") -> None:
    """Give a plot of curves its grid, axis labels, at most `ticks` whole numbers on the x axis, and a title."""
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
