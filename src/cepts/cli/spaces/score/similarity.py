"""`cepts spaces score similarity`: cosines of words against people's judgements."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.console import ProgressBars
from cepts.cli.spaces.common import OpenSpace, vectors_option
from cepts.cli.spaces.score.report import json_option, report_similarity

__all__ = ["command", "language_option"]

language_option = click.option("--language", metavar="LANGUAGE", help="Of the words.  [default: the first]")


@click.command(
    "similarity",
    epilog="""\b
Example:
  cepts spaces score similarity en-fr EN-WS-353.txt EN-SIMLEX-999.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@language_option
@json_option
@vectors_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars.")
def command(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Word similarity against people's judgements.

    TASKS are files with two words of one language and a score a line. Printed is Spearman's correlation of the scores
    with the cosines of the vectors alone, and with the cosines in the space, which knows the other languages too.
    """
    from cepts.io import read_similarities
    from cepts.pipeline.spaces import score_word_similarity

    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        view = 0 if options["language"] is None else opened.space.view(options["language"])
        read = [read_similarities(task) for task in tasks]
        scores = [score_word_similarity(opened.space, opened.view(view), view, task) for task in read]
    about = {"language": opened.space.languages[view], **opened.facts}
    report_similarity(scores, about, as_json=options["as_json"])
