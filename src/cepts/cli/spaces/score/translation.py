"""`cepts spaces score translation`: precision against a test dictionary."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.spaces.common import direction_options, measure_option, opening, sources_option, vectors_option
from cepts.cli.spaces.score.report import at_option, report_precision


@click.command(
    "translation",
    epilog="""\b
Examples:
  cepts spaces score translation en-fr en-fr.test.txt
  cepts spaces score translation en-fr en-fr.test.txt --both --measure cosine --measure csls --intervals 1000""",
)
@click.argument("directory")
@click.argument("dictionary")
@direction_options
@option.flag("--both", "Also score the other direction, with the same dictionary.")
@measure_option(multiple=True)
@at_option
@sources_option
@option.intervals
@option.json
@vectors_option
@option.threads
@option.quiet
def command(directory: str, dictionary: str, **options: Any) -> None:
    """Word translation against a test dictionary.

    DICTIONARY has words of the language to translate from in its first column, unless its first line names the
    languages. A word with several translations is one question, and each of them is a right answer (the protocol of
    MUSE). Words without a vector are left out of the precision, so the share that is covered is shown beside it.
    """
    from cepts.pipeline.space_scores import score_translation_file

    chosen = {name: options[name] for name in ("source", "target", "both", "at", "sources")}
    with opening(directory, options) as files:
        scores = score_translation_file(files, dictionary, measures=options["measure"], **chosen)
    report_precision(
        scores, unit="words", samples=options["intervals"], seed=options["seed"], as_json=options["as_json"]
    )
