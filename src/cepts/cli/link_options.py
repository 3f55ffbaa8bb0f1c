"""The options and checks that all commands which make links share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from cepts.cli.checks import finite
from cepts.cli.choices import METHODS
from cepts.errors import UsageError

__all__ = [
    "COMBINATIONS",
    "base_option",
    "check_combination",
    "check_matrices",
    "combine_option",
    "links_option",
    "matrices_option",
    "threshold_option",
]

COMBINATIONS = ("agreement", "onmf", *METHODS)

links_option = click.option(
    "-o", "--output", default="-", metavar="FILE", help="Where the links go.  [default: stdout]"
)
combine_option = click.option(
    "--combine",
    type=click.Choice(COMBINATIONS),
    default="agreement",
    show_default=True,
    help="How the two directions make one alignment.",
)
matrices_option = click.option(
    "--matrices", metavar="FILE", help="For onmf: also write the matrices, as JSON lines or .npz."
)
base_option = click.option(
    "--base", type=click.Choice(["0", "1"]), default="0", help="Number of the first word in Pharaoh links."
)


def threshold_option(default: str = "") -> Callable[[Any], Any]:
    """The option --threshold; `default` is what the help tells of it."""
    return click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        metavar="P",
        callback=finite,
        help=f"For agreement: the least confidence of a link; lower gives more links.{default}",
    )


def check_combination(options: dict[str, Any], factoring: Sequence[str]) -> None:
    """Refuse what does not go with --combine; `factoring` names the options that go with onmf."""
    combine = options["combine"]
    if options["threshold"] is not None and combine != "agreement":
        raise UsageError(f"--threshold goes with --combine agreement, not with {combine}.")
    given = [f"--{name}" for name in (*factoring, "matrices") if options[name] is not None]
    if combine != "onmf" and given:
        goes = "goes" if len(given) == 1 else "go"
        raise UsageError(f"{', '.join(given)} {goes} with --combine onmf, not with {combine}.")


def check_matrices(path: str | None) -> None:
    """Refuse a file for matrices that can hold one only."""
    if path is not None and Path(path).suffix.lower() == ".npy":
        raise UsageError(f"--matrices {path}: a .npy file holds a single matrix; name it .npz or .jsonl.")
