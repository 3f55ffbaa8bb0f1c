"""What the commands on language models share: options, reading texts as a model wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.choices import DOCUMENT_FORMATS
from cepts.cli.console import ProgressBars
from cepts.cli.spaces.common import say_notes

if TYPE_CHECKING:
    from cepts.data import Documents, NGrams
    from cepts.lm import AdaptedModel

__all__ = [
    "counted",
    "documents_option",
    "entry_counts",
    "errors_option",
    "json_option",
    "percent_less",
    "quiet_option",
    "read_for",
    "say_notes",
    "shown_perplexity",
    "threads_option",
]

documents_option = click.option(
    "--documents",
    "format_",
    type=click.Choice(DOCUMENT_FORMATS),
    default="auto",
    show_default=True,
    help="What a document is: a file, what stands between blank lines, or a JSON object a line. auto goes by the name, "
    "then by whether there are blank lines.",
)
errors_option = click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="What to do about invalid UTF-8 in texts.",
)
threads_option = click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all]")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress bars and no talk.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def read_for(
    model: AdaptedModel,
    paths: Sequence[str],
    options: dict[str, Any],
    bars: ProgressBars,
    notices: list[str],
    *,
    one_will_do: bool = True,
) -> Documents:
    """Documents, in lower case if the model's were; that there is only one is no news where `one_will_do`."""
    from cepts.io import read_documents

    lowercase = bool(model.facts.get("lowercase"))
    own: list[str] = []
    found = read_documents(
        paths, format=options["format_"], lowercase=lowercase, errors=options["errors"], notices=own, progress=bars
    )
    notices += own[:-1] if one_will_do and len(found) == 1 else own
    return found


def counted(number: int, name: str) -> str:
    """A number of things: `1 document`, `2,429 documents`."""
    return f"{number:,} {name}{'s' * (number != 1)}"


def entry_counts(ngrams: NGrams) -> list[int]:
    """How many n-grams of each order there are."""
    counts: list[int] = (ngrams.levels[1:] - ngrams.levels[:-1]).tolist()
    return counts


def shown_perplexity(value: float) -> str:
    """A perplexity for people."""
    return f"{value:,.1f}"


def percent_less(value: float, before: float) -> str:
    """How much less than `before` it is, in %, where that can be said."""
    change = 100 * (value / before - 1) if 0 < before < float("inf") else float("nan")
    return f"{change:+.1f}" if abs(change) < float("inf") else ""
