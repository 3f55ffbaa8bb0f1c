"""`cepts spaces translate`: words of one language in, words of another out."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.cli.spaces import direction_options, measure_option, opening, sources_option, vectors_option
from cepts.errors import UsageError
from cepts.names import TRANSLATION_FORMATS


@click.command(
    "translate",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces translate en-fr house river
  cepts spaces translate en-fr maison --from fr
  cepts spaces translate en-fr --input words.txt -o found.tsv
  cepts spaces translate en-fr --all --mutual -o dictionary.tsv""",
)
@click.argument("directory")
@click.argument("words", nargs=-1)
@option.section(
    "Input",
    direction_options,
    option.text("--input", "FILE", "Translate the words of a file, one per line; - is stdin."),
    option.flag("--all", "Translate every word of the language, and write a dictionary."),
    vectors_option,
)
@option.section(
    "Translations",
    option.whole("--count", "Number of translations of each word.  [default: 5]"),
    option.flag("--mutual", "With --all: only words that are each other's best translation."),
    measure_option(),
    sources_option,
)
@option.section(
    "Output",
    option.output("File for the translations."),
    option.choice(
        "--format",
        TRANSLATION_FORMATS,
        "Write one line per word instead of a table: tsv has tabs between translations and scores, jsonl is JSON "
        "lines.  [default: tsv with -o]",
    ),
    option.json,
)
@option.running
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Translate words by their vectors in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. A word without a vector is also looked up in lower case. Words
    that still have none are named on stderr; tsv and jsonl have a line without translations for them, so that there are
    as many lines as words.
    """
    _check(words, options)
    from cepts.pipeline.spaces import WordLookup, translate_all, translate_words

    lookup = WordLookup(**option.given(options, WordLookup))
    with opening(directory, options) as space:
        if options["all"]:
            report = translate_all(space, lookup, options["output"], mutual=options["mutual"])
        else:
            format_ = options["format"] or (None if options["output"] == "-" else "tsv")
            report = translate_words(
                space, lookup, words, path=options["input"], output=options["output"], format=format_
            )
    show(report, as_json=options["as_json"], quiet=options["quiet"])


def _check(words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    ways = {"WORDS": bool(words), "--input": options["input"] is not None, "--all": options["all"]}
    given = [way for way, there in ways.items() if there]
    if len(given) != 1:
        raise UsageError(
            f"found {' and '.join(given) or 'nothing'} to translate, wanted one of WORDS, --input FILE and --all."
        )
    if options["mutual"] and not options["all"]:
        raise UsageError("--mutual goes with --all, which is missing.")
    for name in ("count", "format", "as_json"):
        if options["all"] and options[name]:
            raise UsageError(f"`{name}` does not go with --all, which writes a dictionary; omit it.")
    if options["as_json"] and (options["format"] is not None or options["output"] != "-"):
        raise UsageError("--json prints to stdout instead of a table; for a file choose --format jsonl.")
