"""Options and number formats that the commands on language models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import moderate
from cepts.cli.console import say_notes
from cepts.names import DECODING_ERRORS, DOCUMENT_FORMATS

if TYPE_CHECKING:
    from cepts.pipeline.lm import TextReading

__all__ = [
    "counted",
    "fields_of",
    "joined_counts",
    "json_option",
    "number_option",
    "percent_less",
    "quiet_option",
    "reading_of",
    "reading_options",
    "say_notes",
    "shown_perplexity",
    "threads_option",
]

_documents_option = click.option(
    "--documents",
    "format_",
    type=click.Choice(DOCUMENT_FORMATS),
    default="auto",
    show_default=True,
    help="What a document is: a file, the text between blank lines, or a JSON object a line. auto goes by the name, "
    "then by whether there are blank lines.",
)
_errors_option = click.option(
    "--errors",
    type=click.Choice(DECODING_ERRORS),
    default="strict",
    help="What to do about invalid UTF-8 in texts.",
)
threads_option = click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all]")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress bars and no log output.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def reading_options(function: Any) -> Any:
    """Add the options that say how texts are read."""
    return _documents_option(_errors_option(function))


def reading_of(options: dict[str, Any]) -> TextReading:
    """How texts are read, by these options."""
    from cepts.pipeline.lm import TextReading

    return TextReading(format=options["format_"], errors=options["errors"])


def number_option(
    *names: str, help: str, default: float | None = None, type: Any = int, metavar: str = "N"
) -> Callable[[Any], Any]:
    """An option for a number; whether it makes sense is checked where it is used."""
    return click.option(
        *names,
        type=type,
        metavar=metavar,
        default=default,
        show_default=default is not None,
        callback=moderate if type is int else None,
        help=help,
    )


def fields_of(record: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are fields of a dataclass, by name."""
    return {field.name: options[field.name] for field in fields(record) if field.name in options}


def counted(number: int, name: str) -> str:
    """A number of things: `1 document`, `2,429 documents`, `40 hypotheses`."""
    plural = name.removesuffix("is") + "es" if name.endswith("is") else f"{name}s"
    return f"{number:,} {name if number == 1 else plural}"


def joined_counts(numbers: list[int]) -> str:
    """The numbers of n-grams of each order."""
    return " + ".join(f"{number:,}" for number in numbers)


def shown_perplexity(value: float | None) -> str:
    """A perplexity for people; empty where there is none."""
    return "" if value is None else f"{value:,.1f}"


def percent_less(value: float, before: float) -> str:
    """How much less than `before` it is, in %, where that can be said."""
    change = 100 * (value / before - 1) if 0 < before < float("inf") else float("nan")
    return f"{change:+.1f}" if abs(change) < float("inf") else ""
