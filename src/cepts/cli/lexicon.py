"""`cepts lexicon`: the word translations that a trained model has learnt."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.errors import UsageError
from cepts.names import DIRECTIONS


@click.command(
    "lexicon",
    epilog="""\b
Examples:
  cepts lexicon model --word house --word home
  cepts lexicon model --direction reverse --top 3 --least 0.05 -o fr-en.tsv.gz""",
)
@click.argument("model")
@option.choice(
    "--direction",
    DIRECTIONS,
    "forward lists target words for each source word, reverse source words for each target word.",
    default="forward",
)
@option.text("--word", "WORD", "Only this word; may be given again.", dest="words", multiple=True)
@option.whole("--top", "The best N of each word.", default=10)
@option.real("--least", "Leave out lower probabilities.", least=0, most=1, metavar="P", default=0.01)
@option.output("the translations")
@option.json
def command(model: str, **options: Any) -> None:
    """Show the lexicon of a trained model.

    Each line has a word, a word of the other language, P(other | word), P(word | other) and how often the two are
    expected to be linked in the training text, separated by tabs.
    """
    from cepts.pipeline.lexicon import list_translations

    as_json, output = options["as_json"], options.pop("output")
    if as_json and output != "-":
        raise UsageError("--json goes to stdout; leave out --output, or redirect.")
    chosen = option.given(options, list_translations)
    show(list_translations(model, None if as_json else output, **chosen), as_json=as_json)
