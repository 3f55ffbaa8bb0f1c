"""Judging whole sentence pairs by their alignments: entailment, paraphrase, answers (semicrf, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import SentencePair
from cepts.errors import DataError, UsageError, check_choice
from cepts.evaluate import (
    BinaryJudgement,
    Ranking,
    binary_judgement,
    choose_threshold,
    ranking,
    resample,
)
from cepts.io import check_output, open_output, read_answer_judgements, read_sentence_pairs
from cepts.io.files import check_stdin, name_of
from cepts.io.lines import json_line
from cepts.names import COLUMN_SOURCES, JUDGEMENT_TASKS
from cepts.phrases.aligner import PhraseAligner
from cepts.pipeline.inputs import check_input, load_phrase_aligner, tokenise_pairs, without_columns
from cepts.pipeline.judged_pairs import Judged, begin_judging, judge_pairs, judged_on
from cepts.pipeline.piece_jobs import begun, check_begin, workplace_on
from cepts.pipeline.reports import RANGE, Report, Table, bounds, filled, percent, percent_range
from cepts.progress import Progress, Stopwatch
from cepts.signature import signature

METRICS = {
    "accuracy": "accuracy, %",
    "precision": "P, %",
    "recall": "R, %",
    "f1": "F1, %",
    "map": "MAP, %",
    "mrr": "MRR, %",
}


# Name -> how that becomes one number, higher for yes: `forward` and `reverse` are the decoding score of one direction,
# `target` is the share of the target sentence (the hypothesis, the
# question) that the source says, `both` the product of both shares.
JUDGEMENT_SCORES: dict[str, Callable[[Judged], float]] = {
    "decoding": lambda judged: judged.decoding,
    "forward": lambda judged: judged.forward,
    "reverse": lambda judged: judged.reverse,
    "target": lambda judged: judged.target,
    "both": lambda judged: judged.source * judged.target,
}
# Task -> the score that tells its training pairs apart best (benchmarks/phrases.py, table `judgements`).
JUDGEMENT_SCORE_OF = {"rte": "target", "paraphrase": "both", "qa": "target"}


def pair_scores(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], score: str = "decoding", *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """The score of each pair by a function of `JUDGEMENT_SCORES`; a pair that cannot be aligned has the lowest."""
    check_choice("score", score, JUDGEMENT_SCORES)
    return scored(judge_pairs(aligner, pairs, progress=progress), score)


def scored(judged: Sequence[Judged | None], score: str) -> NDArray[np.float64]:
    """One number for each pair by a function of `JUDGEMENT_SCORES`; a pair that cannot be aligned has the lowest."""
    judge = JUDGEMENT_SCORES[score]
    values = np.array([np.nan if one is None else judge(one) for one in judged])
    missing = np.isnan(values)
    values[missing] = 0.0 if missing.all() else values[~missing].min()
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementOptions:
    """How the pairs of a file are judged.

    Attributes
    ----------
    task
        ``rte`` and ``paraphrase`` judge each pair yes or no, ``qa`` ranks the answers of each question.
    training, threshold
        Files of judged pairs on which the least score of a yes is chosen; or that score. One of them, but not for
        ``qa``.
    score
        A name of `JUDGEMENT_SCORES`; None is the best for the task.
    questions
        For ``qa``: which questions count, as in `cepts.evaluate.ranking`.
    judgements
        For ``qa``: a file of trec_eval's judgements (`cepts.io.read_answer_judgements`), whose questions count.
    columns
        ``input`` uses the tags, chunks and lemmas of the input, where it has some; ``model`` lets the model fill in
        all of them.
    format, tokenise
        The format of all files, and whether their text is tokenised, as in `tokenise_pairs`.
    samples, seed
        Samples for intervals, and their seed; 0 samples make none.
    """

    task: str
    training: Sequence[str] = ()
    threshold: float | None = None
    score: str | None = None
    questions: str | None = None
    judgements: str | None = None
    columns: str = "input"
    format: str = "auto"
    tokenise: str = "auto"
    samples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("task", self.task, JUDGEMENT_TASKS)
        check_choice("columns", self.columns, COLUMN_SOURCES)
        if self.task == "qa":
            if self.questions is not None and self.judgements is not None:
                raise UsageError("`judgements` says which questions count; leave out `questions`.")
            for name, given in (("training", bool(self.training)), ("threshold", self.threshold is not None)):
                if given:
                    raise UsageError(f"`{name}` goes with rte and paraphrase; answers are ranked without a threshold.")
            return
        for name in ("questions", "judgements"):
            if getattr(self, name) is not None:
                raise UsageError(f"`{name}` goes with qa, not with {self.task}.")
        if bool(self.training) == (self.threshold is not None):
            raise UsageError(
                f"{self.task} needs a threshold; give either judged pairs (`training`) or a number (`threshold`)."
            )


def judge_file(
    model: str,
    test: str,
    options: JudgementOptions,
    *,
    predictions: str | None = None,
    max_length: int | None = None,
    threads: int | None = None,
    engine: str = "local",
    checkpoint: str | Path | None = None,
    begin: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Judge the sentence pairs of a file by their alignments, and score the judgements by the file's labels.

    Parameters
    ----------
    model, max_length, threads
        As in `load_phrase_aligner`.
    test
        The pairs, with labels.
    options
        The task, and how it is done.
    predictions
        A file for the score and the judgement of each pair, as JSON lines.
    engine
        Who aligns the shards of pairs, if there is a checkpoint: ``local``, ``dask`` or ``dask:ADDRESS``.
    checkpoint
        Directory that keeps what is found in each shard, so that the same call continues after an interruption.
    begin
        Only put the pairs into the checkpoint, where others can align them (see `cepts.pipeline.jobs.train`), and
        return a report of what is next.
    notices
        Gets a line where text was tokenised.
    """
    stopwatch = Stopwatch()
    if predictions is not None:
        check_output(predictions)
    check_stdin(test, *options.training, options.judgements)
    judged = {path: _labelled_pairs(path, options) for path in (test, *options.training)}
    answers = None if options.judgements is None else _answer_judgements(options.judgements, judged[test], test)
    aligner = load_phrase_aligner(model, threads=threads, max_length=max_length)
    for path, of_path in judged.items():
        check_input(aligner, aligner.columns_, of_path, path)
        judged[path] = tokenise_pairs(aligner, of_path, path, tokenise=options.tokenise, notices=notices)
    pairs, training = judged[test], [pair for path in options.training for pair in judged[path]]
    score = options.score or JUDGEMENT_SCORE_OF[options.task]
    with workplace_on(checkpoint, "phrases apply", engine, threads) as workplace:
        if begin:
            check_begin(workplace)
            with workplace.shelf() as shelf:
                begin_judging(shelf, model, max_length, [*training, *pairs])
            return begun(workplace, stopwatch)
        if checkpoint is None:
            found_of = judge_pairs(aligner, [*training, *pairs], progress=progress)
        else:
            found_of = judged_on(workplace, model, max_length, [*training, *pairs], progress)
    values = scored(found_of, score)
    known, scores = values[: len(training)], values[len(training) :]
    facts: dict[str, object] = {"task": options.task, "model": Path(model).name or model, "score": score}
    threshold = options.threshold
    found: BinaryJudgement | Ranking
    if options.task == "qa":
        found = _ranked(scores, pairs, options, answers, test)
    else:
        if threshold is None:
            threshold = choose_threshold(known, _labels(training))
            facts["train"] = len(training)
        found = binary_judgement(scores, _labels(pairs), threshold)
    resampled = resample([found], samples=options.samples, seed=options.seed)
    if predictions is not None:
        _write_predictions(predictions, pairs, scores, threshold)
    ranges = resampled.intervals[0] if resampled.intervals else {}
    facts |= {**found.facts, **resampled.facts}
    what = f"{len(pairs):,} sentence pairs"
    if options.task == "qa":
        what = f"{facts['questions']:,} questions, {facts['answers']:,} answers"
    cells = [(percent(value), percent_range(ranges.get(name))) for name, value in found.metrics.items()]
    columns = chain.from_iterable((METRICS[name], RANGE) for name in found.metrics)
    return Report(
        values={
            "task": options.task,
            **found.metrics,
            **filled(threshold=threshold, intervals=bounds(ranges)),
            "signature": signature(facts),
        },
        shown=[
            what + ("" if threshold is None else f"; yes if the score is {threshold:.4g} or more"),
            Table(["", *columns], [[options.task, *chain.from_iterable(cells)]]),
        ],
        signature=signature(facts),
    )


def _labelled_pairs(path: str, options: JudgementOptions) -> list[SentencePair]:
    """The pairs of a file, each of which must be judged and, for answers, have a question."""
    pairs = read_sentence_pairs(path, format=options.format)
    if options.columns == "model":
        pairs = [without_columns(pair) for pair in pairs]
    for number, pair in enumerate(pairs, start=1):
        where = f"{name_of(path)}, pair {number:,}"
        if pair.label is None:
            raise DataError(f"{where}: found no `label`, wanted 1 for yes or 0 for no, in JSON lines.")
        if options.task == "qa" and not pair.group:
            raise DataError(f"{where}: found no `qid`, wanted the name of the question.")
    return pairs


def _labels(pairs: Sequence[SentencePair]) -> list[float]:
    return [pair.label or 0.0 for pair in pairs]


def _answer_judgements(path: str, pairs: Sequence[SentencePair], test: str) -> dict[Hashable, int]:
    """The right answers of each question in a file of judgements, which must have questions of the test pairs."""
    judged = read_answer_judgements(path)
    if not set(judged) & {pair.group for pair in pairs}:
        raise DataError(f"{name_of(path)}: found no question of {name_of(test)}, wanted its qids in the first column.")
    return judged


def _ranked(
    scores: NDArray[np.float64],
    pairs: Sequence[SentencePair],
    options: JudgementOptions,
    answers: Mapping[Hashable, int] | None,
    test: str,
) -> Ranking:
    keep: Any = options.questions or "mixed"
    groups = [pair.group for pair in pairs]
    if answers is not None:
        return ranking(scores, _labels(pairs), groups, judged=answers)
    found = ranking(scores, _labels(pairs), groups, keep=keep)
    if not found.facts["questions"]:
        wanted = "right and wrong answers" if keep == "mixed" else "right answers"
        raise DataError(
            f"{name_of(test)}: found no question with {wanted}, wanted one; `questions` all counts the others too."
        )
    return found


def _write_predictions(
    path: str, pairs: Sequence[SentencePair], scores: NDArray[np.float64], threshold: float | None
) -> None:
    with open_output(path) as file:
        for pair, score in zip(pairs, scores.tolist(), strict=True):
            record: dict[str, object] = {"id": pair.id} if pair.id else {}
            if pair.group:
                record["qid"] = pair.group
            record |= {"score": round(score, 6), "label": int((pair.label or 0) > 0)}
            if threshold is not None:
                record["judged"] = int(score >= threshold)
            file.write(json_line(record))
