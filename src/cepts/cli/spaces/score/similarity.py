"""`cepts spaces score similarity`: cosines of words against human judgements."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.spaces.common import opening, vectors_option
from cepts.cli.spaces.score.report import report_similarity

language_option = option.text("--language", "LANGUAGE", "Language of the words.  [default: the first]")


@click.command(
    "similarity",
    epilog="""\b
Example:
  cepts spaces score similarity en-fr EN-WS-353.txt EN-SIMLEX-999.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@language_option
@option.json
@vectors_option
@option.quiet
def command(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Word similarity against human judgements.

    TASKS are files with two words of one language and a score per line. The table shows Spearman's correlation of the
    scores with the cosines of the vectors alone, and with the cosines in the space, which knows the other languages.
    """
    from cepts.pipeline.space_scores import score_similarity_files

    with opening(directory, options) as files:
        scores = score_similarity_files(files, tasks, language=options["language"])
    report_similarity(scores, as_json=options["as_json"])
