"""Options that the commands on spaces share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars
from cepts.names import TRANSLATION_MEASURES

if TYPE_CHECKING:
    from cepts.pipeline.saved_spaces import SavedSpaceFiles

vectors_option = option.text(
    "--vectors",
    "LANGUAGE:FILE",
    "Vectors of a language, for a space that was saved without; may be given again.",
    multiple=True,
)
sources_option = option.whole(
    "--sources",
    "For csls and inverted-softmax: how many source words, the most frequent, show which targets are hubs, near to "
    "everything.",
    default=20_000,
)
direction_options = option.stacked(
    option.text("--from", "LANGUAGE", "Language to translate from.  [default: the first]", dest="source"),
    option.text("--to", "LANGUAGE", "Language to translate into.  [default: the other one]", dest="target"),
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


@contextmanager
def opening(directory: str, options: dict[str, Any]) -> Iterator[SavedSpaceFiles]:
    """A saved space and its options, with progress bars while it is asked, and notes at the end."""
    from cepts.pipeline.saved_spaces import SavedSpaceFiles

    with ProgressBars(quiet=options["quiet"]) as bars:
        yield SavedSpaceFiles(
            directory=directory,
            vectors=options["vectors"],
            threads=options.get("threads"),
            notices=bars.notices,
            progress=bars,
        )
