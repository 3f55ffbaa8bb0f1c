"""The tables of `phrases.py` on whole pairs: entailment, paraphrases, answers (semicrf, section 5)."""

from __future__ import annotations

import numpy as np

import report
from cepts.data import SentencePair
from cepts.evaluate import binary_judgement, choose_threshold, ranking
from cepts.names import PHRASE_MODELS
from cepts.phrases import PhraseAligner
from cepts.pipeline.judgements import JUDGEMENT_SCORE_OF, JUDGEMENT_SCORES, pair_scores
from phrases_data import PhrasesData
from report import Table

__all__ = ["applications", "judgements"]

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
FOLDS = 5


def _pairs(data: PhrasesData, folder: str, *parts: str) -> list[SentencePair]:
    return [pair for part in parts for pair in data.labelled(folder, part)]


def _labels(pairs: list[SentencePair]) -> list[float]:
    return [pair.label or 0.0 for pair in pairs]


def applications(data: PhrasesData) -> Table:
    """Table 5 of the paper, with the English models of the package; thresholds of training pairs."""
    rows, records = [], []
    for task, (folder, training, test) in TASKS.items():
        known, pairs = _pairs(data, folder, *training), _pairs(data, folder, test)
        rows += [
            [task, f"the paper's {name} aligner", "decoding", figures] for name, figures in PUBLISHED[task].items()
        ]
        for model in PHRASE_MODELS:
            aligner = PhraseAligner.load(model)
            for score in dict.fromkeys(("decoding", JUDGEMENT_SCORE_OF[task])):
                report.say(f"{task}: {model}, {score}")
                values = pair_scores(aligner, pairs, score)
                if task == "qa":
                    ranked = ranking(values, _labels(pairs), [pair.group for pair in pairs])
                    numbers = [float(np.mean(ranked.average_precisions)), float(np.mean(ranked.reciprocal_ranks))]
                    shown = " / ".join(f"{number:.4f}" for number in numbers)
                else:
                    threshold = choose_threshold(pair_scores(aligner, known, score), _labels(known))
                    found = binary_judgement(values, _labels(pairs), threshold)
                    numbers = [found.accuracy, found.precision, found.recall]
                    shown = " / ".join(f"{100 * number:.1f}" for number in numbers)
                rows.append([task, f"cepts, {model}", score, shown])
                records.append({"task": task, "model": model, "score": score, "figures": numbers})
    columns = ["task", "aligner", "score", "accuracy / P / R; for qa MAP / MRR"]
    return Table(report.markdown(columns, rows, text_columns=3), records)


def judgements(data: PhrasesData) -> Table:
    """The scores compared on training pairs: the evidence for `JUDGEMENT_SCORE_OF`."""
    rows, records = [], []
    for task, (folder, training, _) in TASKS.items():
        pairs = _pairs(data, folder, *training)
        labels = np.array(_labels(pairs))
        fold = np.arange(len(pairs)) % FOLDS
        for model in PHRASE_MODELS:
            aligner = PhraseAligner.load(model)
            cells = []
            for score in JUDGEMENT_SCORES:
                report.say(f"{task}: {model}, {score}")
                values = pair_scores(aligner, pairs, score)
                if task == "qa":
                    ranked = ranking(values, labels, [pair.group for pair in pairs])
                    numbers = [float(np.mean(ranked.average_precisions)), float(np.mean(ranked.reciprocal_ranks))]
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
