"""Options and number formats that the commands on language models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepts.cli import option
from cepts.names import DOCUMENT_FORMATS

if TYPE_CHECKING:
    from cepts.pipeline.lm import TextReading

reading_options = option.stacked(
    option.choice(
        "--documents",
        DOCUMENT_FORMATS,
        "What a document is: a file, the text between blank lines, or a JSON object a line. auto goes by the name, "
        "then by whether there are blank lines.",
        default="auto",
    ),
    option.errors,
)


def reading_of(options: dict[str, Any]) -> TextReading:
    """How texts are read, by these options."""
    from cepts.pipeline.lm import TextReading

    return TextReading(format=options["documents"], errors=options["errors"])


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
