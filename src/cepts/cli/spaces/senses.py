"""`cepts spaces senses`: the senses of a word, and translations of each."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.console import print_json, print_table, say
from cepts.cli.spaces.common import direction_options, opening, threads_option, vectors_option

__all__ = ["command"]


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
@click.option(
    "--senses",
    "most",
    type=click.IntRange(1),
    metavar="N",
    default=4,
    show_default=True,
    callback=moderate,
    help="Largest number of senses of a word.",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=5,
    show_default=True,
    callback=moderate,
    help="How many translations and neighbours of a sense.",
)
@click.option(
    "--least",
    type=float,
    metavar="X",
    callback=finite,
    help="How near the first translation of a further sense must be; lower finds more senses, and more spurious ones.  "
    "[default: 0.25]",
)
@click.option(
    "--components",
    metavar="N",
    default="64",
    show_default=True,
    callback=_components,
    help="Fields of the mixture of factor analysers, or auto: that number of 16 to 128 under which held-out dictionary "
    "entries are most likely.",
)
@click.option(
    "--dictionary",
    "dictionaries",
    multiple=True,
    metavar="[LANGUAGES:]FILE",
    help="Entries for the mixture in place of those that the space was fitted on; may be given again.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    callback=moderate,
    help="Seed for the start of the mixture.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars, and no message about unknown words.")
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Show the senses of words, and translations of each.

    DIRECTORY is what 'cepts spaces fit --save' wrote, by ibfa or mbfa. The vector of a word is a sum of its senses: the
    share of each is its weight. The neighbours are words of the same language that have the sense.
    """
    from cepts.pipeline.saved_spaces import senses_of_words

    chosen = {name: options[name] for name in ("source", "target", "most", "count", "dictionaries", "seed")}
    if options["least"] is not None:
        chosen["least"] = options["least"]
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
