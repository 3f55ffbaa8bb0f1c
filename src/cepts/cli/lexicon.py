"""`cepts lexicon`: the word translations that a trained model has learnt."""

from __future__ import annotations

import click

from cepts.cli.console import print_json, say
from cepts.errors import UsageError
from cepts.names import DIRECTIONS

__all__ = ["command"]


@click.command(
    "lexicon",
    epilog="""\b
Examples:
  cepts lexicon model --word house --word home
  cepts lexicon model --direction reverse --top 3 --least 0.05 -o fr-en.tsv.gz""",
)
@click.argument("model")
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="forward",
    show_default=True,
    help="forward lists target words for each source word, reverse source words for each target word.",
)
@click.option("--word", "words", multiple=True, metavar="WORD", help="Only this word; may be given again.")
@click.option(
    "--top", type=click.IntRange(1), metavar="N", default=10, show_default=True, help="The best N of each word."
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    metavar="P",
    default=0.01,
    show_default=True,
    help="Leave out lower probabilities.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the table goes.  [default: stdout]")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def command(
    model: str,
    direction: str,
    words: tuple[str, ...],
    top: int,
    least: float,
    output: str,
    as_json: bool,
) -> None:
    """Show the lexicon of a trained model.

    Each line has a word, a word of the other language, P(other | word), P(word | other) and how often the two are
    expected to be linked in the training text, separated by tabs.
    """
    from cepts.pipeline.lexicon import list_translations

    if as_json and output != "-":
        raise UsageError("--json goes to stdout; leave out --output, or redirect.")
    found = list_translations(
        model, None if as_json else output, direction=direction, words=words, top=top, least=least
    )
    if found.missing:
        say(f"cepts: no translation of {', '.join(found.missing)} with a probability of {least} or more.")
    if as_json:
        print_json([entry.as_dict() for entry in found.entries])
