"""`cepts spaces senses`: the senses of a word, and translations of each."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.spaces import direction_options, opening, vectors_option


def _components(ctx: click.Context, option: click.Parameter, value: str) -> int | None:
    if value == "auto":
        return None
    if value.isdecimal() and 0 < int(value) < 10_000:
        return int(value)
    raise click.BadParameter(f"wants auto or a number from 1 to 9,999. Got {value!r}.")


@click.command(
    "senses",
    epilog="""\b
Examples:
  cepts spaces senses en-fr spring plant bank
  cepts spaces senses en-fr avocat --from fr
  cepts spaces senses en-fr light --senses 3 --least 0.15 --json""",
)
@click.argument("directory")
@click.argument("words", nargs=-1, required=True)
@direction_options
@option.whole("--senses", "Largest number of senses of a word.", dest="most", default=4)
@option.whole("--count", "How many translations and neighbours of a sense.", default=5)
@option.real(
    "--least",
    "How near the first translation of a further sense must be; lower finds more senses, and more spurious ones.  "
    "[default: 0.25]",
)
@option.text(
    "--components",
    "N",
    "Fields of the mixture of factor analysers, or auto: that number of 16 to 128 under which held-out dictionary "
    "entries are most likely.",
    default="64",
    callback=_components,
)
@option.text(
    "--dictionary",
    "[LANGUAGES:]FILE",
    "Entries for the mixture in place of those that the space was fitted on; may be given again.",
    dest="dictionaries",
    multiple=True,
)
@option.seed("Seed for the start of the mixture.")
@option.json
@vectors_option
@option.threads
@option.quiet
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Show the senses of words, and translations of each.

    DIRECTORY is what 'cepts spaces fit --save' wrote, by ibfa or mbfa. The vector of a word is a sum of its senses: the
    share of each is its weight. The neighbours are words of the same language that have the sense.
    """
    from cepts.pipeline.spaces import SenseLookup, senses_of_words

    lookup = SenseLookup(**{"components": None, **option.given(options, SenseLookup)})
    with opening(directory, options) as space:
        report = senses_of_words(space, words, lookup)
    show(report, as_json=options["as_json"], quiet=options["quiet"])
