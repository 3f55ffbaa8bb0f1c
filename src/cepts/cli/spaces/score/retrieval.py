"""`cepts spaces score retrieval`: finding the translations of sentences."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.checks import moderate
from cepts.cli.spaces.common import direction_options, opening, threads_option, vectors_option
from cepts.cli.spaces.score.report import at_option, interval_options, json_option, report_precision
from cepts.names import SIMILARITY_MEASURES

__all__ = ["command"]


@click.command(
    "retrieval",
    epilog="""\b
Example:
  cepts spaces score retrieval en-it europarl.en europarl.it --measure cosine --measure csls""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="TARGET")
@direction_options
@click.option(
    "--queries",
    type=click.IntRange(1),
    metavar="N",
    default=2000,
    show_default=True,
    callback=moderate,
    help="How many sentences are looked up, drawn at random.",
)
@click.option(
    "--tokenized",
    is_flag=True,
    help="The sentences are tokenised, with blanks between tokens; otherwise they are tokenised here.",
)
@click.option(
    "--measure",
    type=click.Choice(SIMILARITY_MEASURES),
    multiple=True,
    default=("csls",),
    help="How near sentences are. May be given again.  [default: csls]",
)
@at_option
@interval_options
@json_option
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars.")
def command(directory: str, source_file: str, target_file: str, **options: Any) -> None:
    """Finding the translations of sentences.

    SOURCE and TARGET have a sentence per line; line n of one is the translation of line n of the other. Each query
    is looked up among all sentences of the other side, in both directions. Sentence vectors are means of the words'
    vectors, weighted by inverse document frequency.
    """
    from cepts.pipeline.space_scores import score_retrieval_files

    chosen = {name: options[name] for name in ("source", "target", "at", "queries", "tokenized", "seed")}
    with opening(directory, options) as files:
        scores = score_retrieval_files(files, (source_file, target_file), measures=options["measure"], **chosen)
    report_precision(
        scores, unit="sentences", samples=options["intervals"], seed=options["seed"], as_json=options["as_json"]
    )
