"""`cepts phrases apply`: whole sentence pairs judged by their alignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.cells import RANGE, bounds, percent, percent_range
from cepts.cli.checks import check_apart, refuse_stdin_twice
from cepts.cli.console import ProgressBars, print_json, print_table
from cepts.cli.phrases.common import input_options, model_option
from cepts.names import JUDGEMENT_SCORES, JUDGEMENT_TASKS, QUESTIONS

if TYPE_CHECKING:
    from cepts.pipeline.judgements import JudgementReport

NAMES = {
    "accuracy": "accuracy, %",
    "precision": "P, %",
    "recall": "R, %",
    "f1": "F1, %",
    "map": "MAP, %",
    "mrr": "MRR, %",
}


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

    check_apart({"--predictions": options["predictions"], "the scores": "-"})
    refuse_stdin_twice(test, *options["training"])
    judging = JudgementOptions(
        task=task,
        format=options["input_format"],
        samples=options["intervals"],
        **option.given(options, JudgementOptions),
    )
    chosen = {name: options[name] for name in ("predictions", "max_length", "threads")}
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = judge_file(options["model"], test, judging, **chosen, progress=bars)
    (_print_as_json if options["as_json"] else _print)(task, report)


def _print_as_json(task: str, report: JudgementReport) -> None:
    print_json(
        {
            "task": task,
            **report.metrics,
            **({} if report.threshold is None else {"threshold": report.threshold}),
            **({"intervals": bounds(report.intervals)} if report.intervals else {}),
            "signature": report.signature,
        }
    )


def _print(task: str, report: JudgementReport) -> None:
    facts = report.facts
    counted = f"{facts['questions']:,} questions, {facts['answers']:,}" if task == "qa" else f"{report.pairs:,}"
    what = "answers" if task == "qa" else "sentence pairs"
    click.echo(f"{counted} {what}" + ("" if report.threshold is None else f", yes from {report.threshold:.4g}"))
    columns, row = [""], [task]
    for name, value in report.metrics.items():
        columns.append(NAMES[name])
        row.append(percent(value))
        if report.intervals:
            columns.append(RANGE)
            row.append(percent_range(report.intervals[name]))
    print_table(columns, [row])
    click.echo(f"\nsignature  {report.signature}")
