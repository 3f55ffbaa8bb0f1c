"""`cepts spaces senses`: the senses of a word, and translations of each."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.cli.spaces import direction_options, opening, vectors_option


def _components(ctx: click.Context, option: click.Parameter, value: str) -> int | None:
    if value == "auto":
        return None
    if value.isdecimal() and 0 < int(value) < 10_000:
        return int(value)
    raise click.BadParameter(f"must be auto or a number from 1 to 9,999. Got {value!r}.")


@click.command(
    "senses",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces senses en-fr spring plant bank
  cepts spaces senses en-fr avocat --from fr
  cepts spaces senses en-fr light --senses 3 --least 0.15 --json""",
)
@click.argument("directory")
@click.argument("words", nargs=-1, required=True)
@option.section("Input", direction_options, vectors_option)
@option.section(
    "Senses",
    option.whole("--senses", "Largest number of senses of a word.", dest="most", default=4),
    option.whole("--count", "Number of translations and of neighbours of each sense.", default=5),
    option.real(
        "--least",
        "Lowest similarity of the first translation of a further sense; a lower value finds more senses, and more "
        "spurious ones.  [default: 0.25]",
    ),
    option.text(
        "--components",
        "N",
        "Number of components of the mixture of factor analysers; auto tries 16 to 128 and takes the number under "
        "which held-out dictionary entries are most likely.",
        default="64",
        callback=_components,
    ),
    option.text(
        "--dictionary",
        "[LANGUAGES:]FILE",
        option.again("Entries for the mixture, instead of those that the space was fitted on."),
        dest="dictionaries",
        multiple=True,
    ),
    option.seed("Seed for the start of the mixture."),
)
@option.section("Output", option.json)
@option.running
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Show the senses of words, with translations of each.

    DIRECTORY is what 'cepts spaces fit --save' wrote, with ibfa or mbfa. The vector of a word is a sum of the vectors
    of its senses; the weight of a sense is its share. Neighbours are words of the same language with that sense.
    """
    from cepts.pipeline.spaces import SenseLookup, senses_of_words

    lookup = SenseLookup(**{"components": None, **option.given(options, SenseLookup)})
    with opening(directory, options) as space:
        report = senses_of_words(space, words, lookup)
    show(report, as_json=options["as_json"], quiet=options["quiet"])
