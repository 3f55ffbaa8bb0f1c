"""`cepts spaces senses`: the senses of a word, and translations of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.console import ProgressBars, print_json, print_table, say
from cepts.cli.spaces.common import (
    OpenSpace,
    direction_of,
    direction_options,
    say_notes,
    split_named,
    threads_option,
    vectors_option,
)
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cepts.data import Vectors
    from cepts.spaces.senses import Sense

__all__ = ["command"]


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
    help="The most senses that a word may have.",
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
    help="How near the first translation of a further sense must be; lower finds more senses, and more that are none.  "
    "[default: 0.25]",
)
@click.option(
    "--components",
    metavar="N",
    default="64",
    show_default=True,
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
@click.option("--seed", type=click.IntRange(0), metavar="N", default=0, callback=moderate, help="Seed of its start.")
@click.option("--json", "as_json", is_flag=True, help="JSON in place of a table.")
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars, and no word on unknown words.")
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Show the senses of words, and translations of each.

    DIRECTORY is what 'cepts spaces fit --save' wrote, by ibfa or mbfa. The vector of a word is a sum of its senses: the
    share of each is its weight. The neighbours are words of the same language that have the sense.
    """
    components = _components(options["components"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        if opened.space.model is None:
            raise UsageError(
                f"{directory} was fitted by {opened.space.method}, which has no factors; fit it by ibfa or mbfa."
            )
        languages = direction_of(opened.space, options["source"], options["target"])
        views = [opened.view(number) for number in languages]
        rows = views[0].vocabulary.find(words)
        unknown = list(dict.fromkeys(word for word, row in zip(words, rows, strict=True) if row < 0))
        if (rows < 0).all():
            raise DataError(
                f"{views[0].name} has no vector for {', '.join(unknown)} among its {len(views[0]):,} words; check the "
                f"spelling, or choose the language of the words by --from."
            )
        found = _find(opened, views, languages, rows[rows >= 0], components, options, bars)
    if unknown:
        say(f"cepts: {views[0].name} has no vector for {', '.join(unknown)}.", quiet=options["quiet"])
    senses = iter(found)
    _show([(word, next(senses) if row >= 0 else []) for word, row in zip(words, rows, strict=True)], views, options)


def _components(value: str) -> int | None:
    if value == "auto":
        return None
    if value.isdecimal() and 0 < int(value) < 10_000:
        return int(value)
    raise click.BadParameter(f"wants auto or a number from 1 to 9,999. Got {value!r}.", param_hint="--components")


def _find(
    opened: OpenSpace,
    views: list[Vectors],
    languages: tuple[int, int],
    rows: NDArray[np.integer],
    components: int | None,
    options: dict[str, Any],
    bars: ProgressBars,
) -> list[list[Sense]]:
    from cepts.spaces.mixture import fit_mixture
    from cepts.spaces.senses import LEAST_NEARNESS, find_senses

    mixture = fit_mixture(
        opened.space,
        opened.views,
        _entries(opened, options["dictionaries"]),
        components=components,
        seed=options["seed"],
        progress=bars,
    )
    return find_senses(
        mixture,
        views,
        rows,
        languages=languages,
        most=options["most"],
        count=options["count"],
        least=LEAST_NEARNESS if options["least"] is None else options["least"],
        threads=options["threads"],
        progress=bars,
    )


def _entries(opened: OpenSpace, given: tuple[str, ...]) -> NDArray[np.int64]:
    """The entries on which the mixture is fitted: those that are given, else those that were kept with the space."""
    from cepts.io import read_dictionary
    from cepts.spaces import find_entries

    if not given:
        if opened.entries is None:
            raise UsageError(
                f"{opened.directory} holds no dictionary entries, on which the mixture is fitted; give some by "
                f"--dictionary FILE."
            )
        return opened.entries
    names = opened.space.languages
    notices: list[str] = []
    asked = [split_named("--dictionary", value, names) for value in given]
    found = [read_dictionary(path, languages=languages or None, notices=notices) for languages, path in asked]
    say_notes(notices)
    return find_entries(found, opened.views).rows


def _show(senses: list[tuple[str, list[Sense]]], views: list[Vectors], options: dict[str, Any]) -> None:
    source, target = views
    if options["as_json"]:
        print_json(
            [
                {
                    "word": word,
                    "senses": [
                        {
                            "weight": round(sense.weight, 4),
                            "nearness": round(sense.nearness, 4),
                            "translations": [target.words[row] for row in sense.translations],
                            "neighbours": [source.words[row] for row in sense.neighbours],
                        }
                        for sense in found
                    ],
                }
                for word, found in senses
            ]
        )
        return
    table = [
        (
            word if not place else "",
            f"{sense.weight:.2f}",
            " ".join(target.words[row] for row in sense.translations),
            " ".join(source.words[row] for row in sense.neighbours),
        )
        for word, found in senses
        for place, sense in enumerate(found)
    ]
    print_table((source.name, "weight", target.name, "neighbours"), table, left=4)
