"""`cepts phrases apply`: whole sentence pairs judged by their alignments."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option, training_options
from cepts.cli.console import ProgressBars, show
from cepts.cli.groups import Command
from cepts.cli.phrases import columns_option, input_options, model_option, tokenise_option
from cepts.names import JUDGEMENT_SCORES, JUDGEMENT_TASKS, QUESTIONS


@click.command(
    "apply",
    cls=Command,
    epilog="""\b
Examples:
  cepts phrases apply rte test.jsonl --train train.jsonl
  cepts phrases apply paraphrase test.jsonl --train a.jsonl --train b.jsonl
  cepts phrases apply qa answers.jsonl --predictions ranked.jsonl""",
)
@click.argument("task", type=click.Choice(JUDGEMENT_TASKS))
@click.argument("test")
@input_options
@option.section("Input", tokenise_option, columns_option)
@option.section(
    "Model",
    model_option,
    option.text(
        "--train",
        "FILE",
        option.again("Judged pairs from which rte and paraphrase learn the threshold."),
        dest="training",
        multiple=True,
    ),
    option.real("--threshold", "Lowest score of a pair that is judged yes, instead of --train."),
    option.choice(
        "--score",
        JUDGEMENT_SCORES,
        "Score of a pair: decoding is the normalised score of the best alignment, as in Yao et al. (2013), over both "
        "directions, forward and reverse that of one; target is how much of the target sentence is linked; both is "
        "the product for both sentences.  [default: target; both for paraphrase]",
    ),
    option.choice(
        "--questions",
        QUESTIONS,
        "Questions that count in qa: those with right and wrong answers, those with right answers, or all.  "
        "[default: mixed]",
    ),
    option.text(
        "--judgements",
        "FILE",
        "For qa: judgements in the format of trec_eval. Their questions count, and right answers that TEST lacks are "
        "missed.",
    ),
    option.text(
        "--checkpoint",
        "DIR",
        "Keep what is found in each part of the pairs in this directory. What DIR already has is not made again.",
    ),
    training_options.engine_for("aligning"),
    training_options.begin,
)
@option.section("Scores", option.intervals)
@option.section(
    "Output",
    option.text("--predictions", "FILE", "Also write the score and the judgement of each pair, as JSON lines."),
    option.json,
    option.whole_signature,
)
def command(task: str, test: str, **options: Any) -> None:
    """Judge entailment, paraphrases and answers from alignments.

    TEST has sentence pairs with labels, 1 for yes and 0 for no. In rte (the source entails the target) and paraphrase,
    a pair is judged yes if its score reaches a threshold, the one with the best accuracy on the training pairs. In qa,
    the answers (source) to each question (target), which share a qid, are ranked by score.
    """
    from cepts.pipeline.judgements import JudgementOptions, judge_file

    option.check_apart({"--predictions": options["predictions"], "the scores": "-"})
    judging = JudgementOptions(task=task, format=options["input_format"], **option.given(options, JudgementOptions))
    with training_options.resumable(options), ProgressBars(quiet=options["quiet"]) as bars:
        report = judge_file(
            test=test, options=judging, notices=bars.notices, progress=bars, **option.given(options, judge_file)
        )
    show(report, as_json=options["as_json"], signature=options["signature"])
