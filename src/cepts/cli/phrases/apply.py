"""`cepts phrases apply`: whole sentence pairs judged by their alignments."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.phrases import input_options, model_option
from cepts.names import JUDGEMENT_SCORES, JUDGEMENT_TASKS, QUESTIONS


@click.command(
    "apply",
    epilog="""\b
Examples:
  cepts phrases apply rte test.jsonl --train train.jsonl
  cepts phrases apply paraphrase test.jsonl --train a.jsonl --train b.jsonl
  cepts phrases apply qa answers.jsonl --predictions ranked.jsonl""",
)
@click.argument("task", type=click.Choice(JUDGEMENT_TASKS))
@click.argument("test")
@option.text(
    "--train",
    "FILE",
    "For rte and paraphrase: judged pairs on which the threshold is chosen; may be given again.",
    dest="training",
    multiple=True,
)
@option.real("--threshold", "Instead of --train: the least score of a yes.")
@option.choice(
    "--score",
    JUDGEMENT_SCORES,
    "What is compared: the best paths' score a state, as in the paper; how much of the target sentence the source "
    "says; that of both sentences, multiplied.  [default: target; both for paraphrase]",
)
@option.choice(
    "--questions",
    QUESTIONS,
    "For qa: which count: those with right and wrong answers, with right ones, or all.  [default: mixed]",
)
@model_option
@option.text("--predictions", "FILE", "Also write each pair's score and judgement, as JSON lines.")
@option.intervals
@option.json
@input_options
def command(task: str, test: str, **options: Any) -> None:
    """Judge entailment, paraphrases and answers by alignments.

    TEST has sentence pairs with labels, 1 for yes and 0 for no. For rte (the source entails the target) and paraphrase,
    pairs are judged yes whose score reaches the threshold of best accuracy on the training pairs. For qa, the answers
    (source) of each question (target) with one qid are ranked by score.
    """
    from cepts.pipeline.judgements import JudgementOptions, judge_file

    option.check_apart({"--predictions": options["predictions"], "the scores": "-"})
    judging = JudgementOptions(task=task, format=options["input_format"], **option.given(options, JudgementOptions))
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = judge_file(test=test, options=judging, progress=bars, **option.given(options, judge_file))
    show(report, as_json=options["as_json"])
