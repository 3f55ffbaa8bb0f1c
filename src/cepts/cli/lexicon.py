"""`cepts lexicon`: the word translations that a trained model has learnt."""

from __future__ import annotations

from typing import Literal

import click

from cepts.cli.console import print_json, say

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
    type=click.Choice(["forward", "reverse"]),
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
    direction: Literal["forward", "reverse"],
    words: tuple[str, ...],
    top: int,
    least: float,
    output: str,
    as_json: bool,
) -> None:
    """Show the lexicon of a trained model.

    Each line has a word, a word of the other language, P(other | word), P(word | other) and how often the two are
    expected to be linked in the training text; tabs stand between them.
    """
    from cepts.errors import DataError, UsageError
    from cepts.io import open_output
    from cepts.words import load_aligner

    if as_json and output != "-":
        raise UsageError("--json goes to stdout; leave out --output, or redirect.")
    entries = load_aligner(model).translations(
        direction=direction,
        words=words or None,
        top=top,
        least=least,
    )
    missing = sorted(set(words) - {entry.asked for entry in entries}) if words else []
    if words and len(missing) == len(set(words)):
        raise DataError(f"{model} knows no translation of {', '.join(missing)} with a probability of {least} or more.")
    if missing:
        say(f"cepts: no translation of {', '.join(missing)} with a probability of {least} or more.")
    if as_json:
        print_json([entry.as_dict() for entry in entries])
        return
    with open_output(output) as file:
        for entry in entries:
            file.write(
                f"{entry.word}\t{entry.other}\t{entry.probability:.4f}\t{entry.back:.4f}\t{entry.count:.2f}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
