"""`cepts lexicon`: the word translations that a trained model has learnt."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.names import DIRECTIONS, LEXICON_FORMATS, LINK_COUNT_FORMATS


@click.command(
    "lexicon",
    cls=Command,
    epilog="""\b
Examples:
  cepts lexicon model --word file --word table
  cepts lexicon model --direction reverse --top 3 --least 0.05 -o fr-en.tsv.gz
  cepts lexicon model --format priors -o en-fr.priors""",
)
@click.argument("model")
@option.choice(
    "--direction",
    DIRECTIONS,
    "forward lists translations of source words, reverse those of target words.",
    default="forward",
)
@option.text("--word", "WORD", option.again("List only this word."), dest="words", multiple=True)
@option.whole("--top", "Number of translations of each word.", default=10)
@option.real("--least", "Lowest probability to list.", least=0, most=1, metavar="P", default=0.01)
@option.choice(
    "--format",
    LEXICON_FORMATS,
    "A table of translations, or the counts of links, jumps and fertilities as eflomal reads them (priors).",
    default="table",
)
@option.output("File for the translations.")
@option.flag("--json", "Print JSON instead of lines.", dest="as_json")
def command(model: str, **options: Any) -> None:
    """List the word translations that a model has learnt.

    MODEL is a directory that 'cepts align --save' wrote. Each line has five columns, separated by tabs: a word, its
    translation, P(translation | word), P(word | translation), and the expected number of links between them in the
    training text. With --format priors, the file can be given to 'eflomal-align --priors' and to 'cepts align
    --priors'.
    """
    from cepts.pipeline.lexicon import list_translations
    from cepts.pipeline.priors import write_model_priors

    as_json, output = options["as_json"], options.pop("output")
    if options["format"] in LINK_COUNT_FORMATS:
        if wrong := [name for name in option.chosen(options) if name not in ("model", "format", "output", "least")]:
            raise UsageError(f"`{wrong[0]}` does not go with `format` priors, which has all words, in one direction.")
        write_model_priors(model, output, least=options["least"])
        return
    if as_json and output != "-":
        raise UsageError("--json prints to stdout; omit --output, or redirect stdout.")
    chosen = option.given(options, list_translations)
    show(list_translations(model, None if as_json else output, **chosen), as_json=as_json)
