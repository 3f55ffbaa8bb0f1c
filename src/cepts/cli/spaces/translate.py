"""`cepts spaces translate`: words of one language in, words of another out."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.spaces import direction_options, measure_option, opening, sources_option, vectors_option
from cepts.errors import UsageError
from cepts.names import TRANSLATION_FORMATS


@click.command(
    "translate",
    epilog="""\b
Examples:
  cepts spaces translate en-fr house river
  cepts spaces translate en-fr maison --from fr
  cepts spaces translate en-fr --input words.txt --format tsv -o found.tsv
  cepts spaces translate en-fr --all --mutual -o dictionary.tsv""",
)
@click.argument("directory")
@click.argument("words", nargs=-1)
@direction_options
@option.text("--input", "FILE", "Translate the words of a file, one per line; - is stdin.")
@option.flag("--all", "Write a dictionary: the best translation of every word.")
@option.flag("--mutual", "With --all: only words that are each other's best translation.")
@option.whole("--count", "How many translations of each word.  [default: 5]")
@measure_option()
@sources_option
@option.choice(
    "--format",
    TRANSLATION_FORMATS,
    "A table; one line per word with tabs between translations and scores; or JSON, one line per word.  "
    "[default: table]",
)
@option.output("the translations")
@vectors_option
@option.threads
@option.quiet
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Translate words by their places in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. A word without a vector is also looked up in lower case. Words
    without any vector are named on stderr; in tsv and json they have a line without translations, so that there are as
    many lines as words.
    """
    _check(words, options)
    from cepts.pipeline.spaces import WordLookup, translate_all, translate_words

    lookup = WordLookup(**option.given(options, WordLookup))
    with opening(directory, options) as space:
        if options["all"]:
            report = translate_all(space, lookup, options["output"], mutual=options["mutual"])
        else:
            written = option.given(options, ("output", "format"))
            report = translate_words(space, lookup, words, path=options["input"], **written)
    show(report, quiet=options["quiet"])


def _check(words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    ways = {"WORDS": bool(words), "--input": options["input"] is not None, "--all": options["all"]}
    given = [way for way, there in ways.items() if there]
    if len(given) != 1:
        raise UsageError(
            f"found {' and '.join(given) or 'nothing'} to translate, wanted either WORDS, --input FILE or --all."
        )
    if options["mutual"] and not options["all"]:
        raise UsageError("--mutual goes with --all, which is not given.")
    for name, value in (("--count", options["count"]), ("--format", options["format"])):
        if options["all"] and value is not None:
            raise UsageError(f"{name} does not go with --all, which writes a dictionary; leave it out.")
    if options["format"] in (None, "table") and options["output"] != "-" and not options["all"]:
        raise UsageError("a table goes to stdout; choose --format tsv or json for --output.")
