"""`cepts spaces senses`: the senses of a word, and translations of each."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import print_json, print_table, say
from cepts.cli.spaces.common import direction_options, opening, vectors_option


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
    from cepts.pipeline.saved_spaces import senses_of_words

    names = ("source", "target", "most", "count", "least", "dictionaries", "seed")
    chosen = option.given(options, names)
    with opening(directory, options) as files:
        found = senses_of_words(files, words, components=options["components"], **chosen)
    if found.unknown:
        say(f"cepts: {found.languages[0]} has no vector for {found.unknown}.", quiet=options["quiet"])
    if options["as_json"]:
        print_json(
            [
                {
                    "word": word,
                    "senses": [
                        {
                            "weight": round(sense.weight, 4),
                            "nearness": round(sense.nearness, 4),
                            "translations": list(sense.translations),
                            "neighbours": list(sense.neighbours),
                        }
                        for sense in senses
                    ],
                }
                for word, senses in zip(found.words, found.answers, strict=True)
            ]
        )
        return
    table = [
        (
            word if not place else "",
            f"{sense.weight:.2f}",
            " ".join(sense.translations),
            " ".join(sense.neighbours),
        )
        for word, senses in zip(found.words, found.answers, strict=True)
        for place, sense in enumerate(senses)
    ]
    print_table((found.languages[0], "weight", found.languages[1], "neighbours"), table, left=4)
