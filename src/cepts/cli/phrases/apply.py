"""`cepts phrases apply`: whole sentence pairs judged by their alignments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import check_apart, finite
from cepts.cli.choices import JUDGEMENT_SCORES, QUESTIONS
from cepts.cli.console import ProgressBars, print_json, print_table
from cepts.cli.lengths import refuse_stdin_twice
from cepts.cli.phrases.common import (
    check_input,
    input_format_option,
    load_aligner,
    max_length_option,
    model_option,
    name_of,
    quiet_option,
    threads_option,
)
from cepts.cli.score import LEVEL
from cepts.cli.spaces.score.report import interval_options, json_option
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cepts.data import SentencePair
    from cepts.evaluate import BinaryJudgement, Interval, Ranking

__all__ = ["command"]

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
@click.argument("task", type=click.Choice(["rte", "paraphrase", "qa"]))
@click.argument("test")
@click.option(
    "--train",
    "training",
    metavar="FILE",
    multiple=True,
    help="For rte and paraphrase: judged pairs on which the threshold is chosen; may be given again.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="X",
    callback=finite,
    help="Instead of --train: the least score of a yes.",
)
@click.option(
    "--score",
    type=click.Choice(JUDGEMENT_SCORES),
    show_default="target; both for paraphrase",
    help="What is compared: the best paths' score a state, as in the paper; how much of the target sentence the source "
    "says; that of both sentences, multiplied.",
)
@click.option(
    "--questions",
    type=click.Choice(QUESTIONS),
    help="For qa: which count: those with right and wrong answers, with right ones, or all.  [default: mixed]",
)
@model_option
@click.option("--predictions", metavar="FILE", help="Also write each pair's score and judgement, as JSON lines.")
@interval_options
@json_option
@max_length_option
@threads_option
@input_format_option
@quiet_option
def command(task: str, test: str, **options: Any) -> None:
    """Judge entailment, paraphrases and answers by alignments.

    TEST has sentence pairs with labels, 1 for yes and 0 for no. For rte (the source entails the target) and paraphrase,
    pairs are judged yes whose score reaches the threshold of best accuracy on the training pairs. For qa, the answers
    (source) of each question (target) with one qid are ranked by score.
    """
    _check(task, options)
    check_apart({"--predictions": options["predictions"], "the scores": "-"})
    refuse_stdin_twice(test, *options["training"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        _apply(task, test, options, bars)


def _check(task: str, options: dict[str, Any]) -> None:
    if task == "qa":
        for name, value in (("train", options["training"]), ("threshold", options["threshold"])):
            if value not in (None, ()):
                raise UsageError(f"--{name} goes with rte and paraphrase; answers are ranked without a threshold.")
        return
    if options["questions"] is not None:
        raise UsageError(f"--questions goes with qa, not with {task}.")
    if bool(options["training"]) == (options["threshold"] is not None):
        raise UsageError(f"{task} needs a threshold; give judged pairs by --train FILE, or a number by --threshold X.")


def _apply(task: str, test: str, options: dict[str, Any], bars: ProgressBars) -> None:
    from cepts.evaluate import binary_judgement, choose_threshold, intervals, ranking
    from cepts.io import check_output
    from cepts.pipeline.judgements import JUDGEMENT_SCORE_OF, pair_scores
    from cepts.signature import signature

    if options["predictions"] is not None:
        check_output(options["predictions"])
    judged = {path: _judged(path, options["input_format"], task) for path in (test, *options["training"])}
    pairs, training = judged[test], [pair for path in options["training"] for pair in judged[path]]
    aligner = load_aligner(options)
    for path, of_path in judged.items():
        check_input(aligner, aligner.columns_, of_path, path)
    score = options["score"] or JUDGEMENT_SCORE_OF[task]
    values = pair_scores(aligner, [*training, *pairs], score, progress=bars)
    bars.close()
    known, scores = values[: len(training)], values[len(training) :]
    labels = _labels(pairs)
    found: BinaryJudgement | Ranking
    facts: dict[str, object] = {"task": task, "model": _model_name(options["model"]), "score": score}
    threshold: float | None = None
    if task == "qa":
        keep: Any = options["questions"] or "mixed"
        found = ranking(scores, labels, [pair.group for pair in pairs], keep=keep)
        if not found.facts["questions"]:
            wanted = "right and wrong answers" if keep == "mixed" else "right answers"
            raise DataError(
                f"{name_of(test)}: found no question with {wanted}, wanted one; --questions all counts others too."
            )
    else:
        threshold = options["threshold"]
        if threshold is None:
            threshold = choose_threshold(known, _labels(training))
            facts["train"] = len(training)
        found = binary_judgement(scores, labels, threshold)
    ranges: dict[str, Interval] = {}
    facts |= found.facts
    if options["intervals"]:
        ranges = intervals(found, samples=options["intervals"], seed=options["seed"], level=LEVEL)
        facts |= {"bootstrap": options["intervals"], "seed": options["seed"], "level": f"{LEVEL:g}"}
    if options["predictions"] is not None:
        _write(options["predictions"], pairs, scores, threshold)
    metrics = dict(zip(found.metric_names, found.metrics_of(found.unit_counts().sum(axis=0)).tolist(), strict=True))
    line = signature(facts)
    if options["as_json"]:
        print_json(
            {
                "task": task,
                **metrics,
                **({} if threshold is None else {"threshold": threshold}),
                **({"intervals": {name: [r.low, r.high] for name, r in ranges.items()}} if ranges else {}),
                "signature": line,
            }
        )
        return
    _print(task, found, metrics, ranges, len(pairs), threshold)
    click.echo(f"\nsignature  {line}")


def _judged(path: str, format_: str, task: str) -> list[SentencePair]:
    """The pairs of a file, each of which must be judged and, for answers, have a question."""
    from cepts.io import read_sentence_pairs

    pairs = read_sentence_pairs(path, format=format_)
    for number, pair in enumerate(pairs, start=1):
        if pair.label is None:
            raise DataError(
                f"{name_of(path)}, pair {number:,}: found no `label`, wanted 1 for yes or 0 for no, in JSON lines."
            )
        if task == "qa" and not pair.group:
            raise DataError(f"{name_of(path)}, pair {number:,}: found no `qid`, wanted the name of the question.")
    return pairs


def _labels(pairs: Sequence[SentencePair]) -> list[float]:
    return [pair.label or 0.0 for pair in pairs]


def _model_name(model: str) -> str:
    return Path(model).name or model


def _write(path: str, pairs: Sequence[SentencePair], scores: NDArray[np.float64], threshold: float | None) -> None:
    from cepts.io import open_output

    with open_output(path) as file:
        for pair, score in zip(pairs, scores.tolist(), strict=True):
            record: dict[str, object] = {"id": pair.id} if pair.id else {}
            if pair.group:
                record["qid"] = pair.group
            record |= {"score": round(score, 6), "label": int((pair.label or 0) > 0)}
            if threshold is not None:
                record["judged"] = int(score >= threshold)
            file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


def _print(
    task: str,
    found: BinaryJudgement | Ranking,
    metrics: dict[str, float],
    ranges: dict[str, Interval],
    pairs: int,
    threshold: float | None,
) -> None:
    counted = f"{found.facts['questions']:,} questions, {found.facts['answers']:,}" if task == "qa" else f"{pairs:,}"
    what = "answers" if task == "qa" else "sentence pairs"
    click.echo(f"{counted} {what}" + ("" if threshold is None else f", yes from {threshold:.4g}"))
    columns, row = [""], [task]
    for name, value in metrics.items():
        columns.append(NAMES[name])
        row.append(f"{100 * value:.2f}")
        if ranges:
            columns.append("95 % interval")
            row.append(f"{100 * ranges[name].low:.2f} to {100 * ranges[name].high:.2f}")
    print_table(columns, [row])
