"""`cepts spaces score sts`: cosines of sentences against people's judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cepts.cli.console import ProgressBars
from cepts.cli.spaces.common import OpenSpace, say_notes, vectors_option
from cepts.cli.spaces.score.report import json_option, report_similarity
from cepts.cli.spaces.score.similarity import language_option

__all__ = ["command"]


@click.command(
    "sts",
    epilog="""\b
Example:
  cepts spaces score sts en-fr STS2016/*.tsv --counts enwiki_vocab_min200.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@click.option(
    "--counts",
    required=True,
    metavar="FILE",
    help="How often words are used in a large text: a word and a number a line.",
)
@language_option
@json_option
@vectors_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no notes.")
def command(directory: str, tasks: tuple[str, ...], counts: str, **options: Any) -> None:
    """Sentence similarity against people's judgements.

    TASKS are files with a score and two sentences of one language a line, with tabs between them (STS). Sentences are
    cut into words here; their vectors are means of the words' vectors, weighted by smooth inverse frequency, without
    what all sentences of a task share (SIF). Printed is Spearman's correlation with the vectors alone and in the space.
    """
    from cepts.io import read_counts, read_sentence_similarities
    from cepts.pipeline.spaces import score_sentence_similarity

    notices: list[str] = []
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        view = 0 if options["language"] is None else opened.space.view(options["language"])
        read = [read_sentence_similarities(task, notices=notices) for task in tasks]
        scores = score_sentence_similarity(opened.space, opened.view(view), view, read, read_counts(counts))
    say_notes(notices, quiet=options["quiet"])
    about = {"sentences": "sif", "counts": Path(counts).name, "language": opened.space.languages[view], **opened.facts}
    report_similarity(scores, about, as_json=options["as_json"])
