"""`cepts spaces score retrieval`: finding the translations of sentences."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.spaces.common import direction_options, opening, vectors_option
from cepts.cli.spaces.score.report import at_option, report_precision
from cepts.names import SIMILARITY_MEASURES


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
@option.whole("--queries", "How many sentences are looked up, drawn at random.", default=2000)
@option.flag(
    "--tokenized", "The sentences are tokenised, with blanks between tokens; otherwise they are tokenised here."
)
@option.choice(
    "--measure",
    SIMILARITY_MEASURES,
    "How near sentences are. May be given again.  [default: csls]",
    default=("csls",),
    show_default=False,
    multiple=True,
)
@at_option
@option.intervals
@option.json
@vectors_option
@option.threads
@option.quiet
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
