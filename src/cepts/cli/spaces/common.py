"""Options that the commands on spaces share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.console import ProgressBars, say_notes
from cepts.names import TRANSLATION_MEASURES

if TYPE_CHECKING:
    from cepts.pipeline.saved_spaces import SavedSpaceFiles

__all__ = [
    "direction_options",
    "measure_option",
    "opening",
    "sources_option",
    "threads_option",
    "vectors_option",
]

vectors_option = click.option(
    "--vectors",
    multiple=True,
    metavar="LANGUAGE:FILE",
    help="Vectors of a language, for a space that was saved without; may be given again.",
)
threads_option = click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all]")
sources_option = click.option(
    "--sources",
    type=click.IntRange(1),
    metavar="N",
    default=20_000,
    show_default=True,
    help="For csls and inverted-softmax: how many source words, the most frequent, show which targets are hubs, near "
    "to everything.",
)


def measure_option(*, multiple: bool = False) -> Callable[[Any], Any]:
    """By what words are compared; where there may be several, a tuple."""
    more = " May be given again." if multiple else ""
    return click.option(
        "--measure",
        type=click.Choice(TRANSLATION_MEASURES),
        multiple=multiple,
        default=("csls",) if multiple else "csls",
        help=f"How near words are: cosine, cosine corrected for hubs, or the likelihood of the factor model.{more}  "
        f"[default: csls]",
    )


def direction_options(function: Any) -> Any:
    """Add the options of a direction, `source` and `target`."""
    for names, text in (
        (("--to", "target"), "Language to translate into.  [default: the other one]"),
        (("--from", "source"), "Language to translate from.  [default: the first]"),
    ):
        function = click.option(*names, metavar="LANGUAGE", help=text)(function)
    return function


@contextmanager
def opening(directory: str, options: dict[str, Any]) -> Iterator[SavedSpaceFiles]:
    """A saved space and its options, with progress bars while it is asked, and notes at the end."""
    from cepts.pipeline.saved_spaces import SavedSpaceFiles

    with ProgressBars(quiet=options["quiet"]) as bars:
        files = SavedSpaceFiles(
            directory=directory, vectors=options["vectors"], threads=options.get("threads"), progress=bars
        )
        yield files
    say_notes(files.notices, quiet=options["quiet"])
