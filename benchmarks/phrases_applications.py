"""The tables of `phrases.py` on whole pairs: entailment, paraphrases, answers (semicrf, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

import report
from cepts.data import SentencePair
from cepts.evaluate import binary_judgement, choose_threshold, ranking
from cepts.names import PHRASE_MODELS
from cepts.phrases import PhraseAligner
from cepts.pipeline.judged_pairs import judge_pairs
from cepts.pipeline.judgements import JUDGEMENT_SCORE_OF, JUDGEMENT_SCORES, scored
from phrases_data import PhrasesData
from phrases_systems import System, trained
from report import Table

__all__ = ["applications", "judged", "judgements"]

# Task -> folder, files on which a threshold is chosen, test file.
TASKS = {
    "rte": ("rte", ("train_rte1_rte2", "dev_rte3dev"), "test_rte3test"),
    "paraphrase": ("msrp", ("train_a", "train_b"), "test"),
    "qa": ("trecqa", ("dev",), "test"),
}
# Of the paper's token and phrase aligner in its Table 5: accuracy, P, R; or MAP, MRR.
PUBLISHED = {
    "rte": {"token": "59.1 / 61.2 / 55.4", "phrase": "57.6 / 57.2 / 68.8"},
    "paraphrase": {"token": "70.0 / 72.6 / 88.1", "phrase": "68.1 / 68.6 / 95.8"},
    "qa": {"token": "0.5982 / 0.6582", "phrase": "0.6165 / 0.7333"},
}
# The models of Table 5 are trained on both corpora.
TOGETHER = {"token": "msr06+edinburghpp", "phrase": "msr06_phrasal+edinburghpp_phrasal"}
FOLDS = 5
QUICK_PAIRS = 120


@cache
def _pairs(data: PhrasesData, folder: str, parts: tuple[str, ...], quick: bool) -> list[SentencePair]:
    """The pairs of some files; in a quick run, the first ones of each."""
    return [pair for part in parts for pair in data.labelled(folder, part)[: QUICK_PAIRS if quick else None]]


def _labels(pairs: Sequence[SentencePair]) -> list[float]:
    return [pair.label or 0.0 for pair in pairs]


@cache
def _values(
    data: PhrasesData, model: str, system: System | None, folder: str, parts: tuple[str, ...], quick: bool
) -> dict[str, NDArray[np.float64]]:
    """Every score of the pairs of some files, by an English model of the package or by a system."""
    aligner = PhraseAligner.load(model) if system is None else trained(data, system)
    found = judge_pairs(aligner, _pairs(data, folder, parts, quick))
    return {score: scored(found, score) for score in JUDGEMENT_SCORES}


def _row(
    data: PhrasesData, task: str, model: str, system: System | None, score: str, quick: bool
) -> tuple[str, list[float]]:
    """What a model gets on the test pairs of a task by a score, for people and as numbers."""
    folder, training, test = TASKS[task]
    pairs = _pairs(data, folder, (test,), quick)
    values = _values(data, model, system, folder, (test,), quick)[score]
    if task == "qa":
        ranked = ranking(values, _labels(pairs), [pair.group for pair in pairs], judged=data.answer_judgements())
        numbers = [ranked.mean_average_precision, ranked.mean_reciprocal_rank]
        return " / ".join(f"{number:.4f}" for number in numbers), numbers
    known = _labels(_pairs(data, folder, training, quick))
    threshold = choose_threshold(_values(data, model, system, folder, training, quick)[score], known)
    found = binary_judgement(values, _labels(pairs), threshold)
    numbers = [found.accuracy, found.precision, found.recall]
    return " / ".join(f"{100 * number:.1f}" for number in numbers), numbers


def judged(data: PhrasesData, *, quick: bool = False, paper: bool = False) -> Table:
    """Table 5 of the paper, with the English models of the package; with `paper`, also trained as in the paper."""
    rows, records = [], []
    for task in TASKS:
        rows += [
            [task, f"the paper's {name} aligner", "decoding", figures] for name, figures in PUBLISHED[task].items()
        ]
        systems: dict[str, tuple[str, System | None]] = {}
        for kind, corpora in TOGETHER.items() if paper else ():
            systems[f"cepts --paper, {kind}"] = kind, System(corpora, kind, paper=True, quick=quick)
        systems |= {f"cepts, {model}": (model, None) for model in PHRASE_MODELS}
        for name, (model, system) in systems.items():
            scores = ["decoding", "forward"] + ([] if system else [JUDGEMENT_SCORE_OF[task]])
            for score in dict.fromkeys(scores):
                report.say(f"{task}: {name}, {score}")
                shown, numbers = _row(data, task, model, system, score, quick)
                rows.append([task, name, score, shown])
                records.append({"task": task, "model": name, "score": score, "figures": numbers})
    columns = ["task", "aligner", "score", "accuracy / P / R; for qa MAP / MRR"]
    return Table(report.markdown(columns, rows, text_columns=3), records)


def applications(data: PhrasesData) -> Table:
    """Entailment, paraphrases and answers, judged by the English models of the package."""
    return judged(data)


def judgements(data: PhrasesData) -> Table:
    """The scores compared on training pairs: the evidence for `JUDGEMENT_SCORE_OF`."""
    rows, records = [], []
    for task, (folder, training, _) in TASKS.items():
        pairs = _pairs(data, folder, training, False)
        labels = np.array(_labels(pairs))
        fold = np.arange(len(pairs)) % FOLDS
        for model in PHRASE_MODELS:
            cells = []
            for score in JUDGEMENT_SCORES:
                report.say(f"{task}: {model}, {score}")
                values = _values(data, model, None, folder, training, False)[score]
                if task == "qa":
                    ranked = ranking(values, labels, [pair.group for pair in pairs])
                    numbers = [ranked.mean_average_precision, ranked.mean_reciprocal_rank]
                    cells.append(" / ".join(f"{number:.4f}" for number in numbers))
                else:
                    right = 0
                    for number in range(FOLDS):
                        threshold = choose_threshold(values[fold != number], labels[fold != number])
                        right += int(((values >= threshold) == (labels > 0))[fold == number].sum())
                    numbers = [right / len(pairs)]
                    cells.append(f"{100 * numbers[0]:.1f}")
                records.append({"task": task, "model": model, "score": score, "figures": numbers})
            rows.append([task, model, *cells])
    return Table(report.markdown(["task", "model", *JUDGEMENT_SCORES], rows, text_columns=2), records)
