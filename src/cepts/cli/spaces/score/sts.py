"""`cepts spaces score sts`: cosines of sentences against human judgements."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.spaces.common import opening, vectors_option
from cepts.cli.spaces.score.report import report_similarity
from cepts.cli.spaces.score.similarity import language_option


@click.command(
    "sts",
    epilog="""\b
Example:
  cepts spaces score sts en-fr STS2016/*.tsv --counts enwiki_vocab_min200.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@option.text("--counts", "FILE", "Word counts of a large text: a word and a number per line.", required=True)
@language_option
@option.json
@vectors_option
@option.quiet
def command(directory: str, tasks: tuple[str, ...], counts: str, **options: Any) -> None:
    """Sentence similarity against human judgements.

    TASKS are files with a score and two sentences of one language per line, with tabs between them (STS). Sentences are
    tokenised here; their vectors are means of the words' vectors, weighted by smooth inverse frequency, without what
    all sentences of a task share (SIF). The table shows Spearman's correlation with the vectors alone and in the space.
    """
    from cepts.pipeline.space_scores import score_sts_files

    with opening(directory, options) as files:
        scores = score_sts_files(files, tasks, counts, language=options["language"])
    report_similarity(scores, as_json=options["as_json"])
