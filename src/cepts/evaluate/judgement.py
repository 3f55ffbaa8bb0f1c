"""Classification and ranking of sentence pairs by their scores (Yao et al., 2013, section 5)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, UsageError, check_choice
from cepts.evaluate.resampling import Countable, Metric
from cepts.names import QUESTIONS

Numbers = NDArray[np.floating] | NDArray[np.integer] | Sequence[float]


def choose_threshold(scores: Numbers, labels: Numbers) -> float:
    """Choose the threshold with the best accuracy, if pairs with at least that score are judged yes.

    It lies in the middle of a gap between two scores. If several gaps have the same accuracy, the widest is chosen, and
    then the lowest. If it is best to judge all pairs yes, the threshold is the lowest score; if it is best to judge all
    pairs no, the threshold is the next number above the highest score.

    Parameters
    ----------
    scores
        Score of each pair.
    labels
        True judgement of each pair: yes if above 0.

    Examples
    --------
    >>> choose_threshold([0.1, 0.4, 0.8], [0, 0, 1])
    0.6000000000000001
    """
    value, truth = _checked(scores, labels)
    order = np.argsort(value, kind="stable")
    value, truth = value[order], truth[order]
    # How many are right when the first n are judged no.
    right = np.concatenate([[0], np.cumsum(~truth)]) + np.concatenate([np.cumsum(truth[::-1])[::-1], [0]])
    gap = np.concatenate([[0.0], np.diff(value), [0.0]])
    possible = np.concatenate([[True], value[1:] > value[:-1], [True]])
    best = int(right[possible].max())
    places = np.flatnonzero(possible & (right == best))
    place = int(places[np.argmax(gap[places])])
    if place == 0:
        return float(value[0])
    if place == len(value):
        return float(np.nextafter(value[-1], np.inf))
    below, above = float(value[place - 1]), float(value[place])
    middle = below + (above - below) / 2
    return middle if below < middle <= above else above


@dataclass(frozen=True, slots=True, eq=False)
class BinaryJudgement(Countable):
    """Judgements of yes or no, compared with the truth: accuracy, precision, recall and F1.

    `counts` has one row for each pair, and columns for right yes, wrong yes, wrong no and right no.
    """

    counts: NDArray[np.int64]
    facts: Mapping[str, object] = field(default_factory=dict)

    metric_names: ClassVar = ("accuracy", "precision", "recall", "f1")
    accuracy, precision, recall, f1 = map(Metric, metric_names)

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracy, precision, recall and F1 of sums of `unit_counts`; 0 / 0 counts as 0."""
        right_yes, wrong_yes, wrong_no, right_no = np.moveaxis(sums, -1, 0)
        ratios = (
            (right_yes + right_no, sums.sum(axis=-1)),
            (right_yes, right_yes + wrong_yes),
            (right_yes, right_yes + wrong_no),
            (2 * right_yes, 2 * right_yes + wrong_yes + wrong_no),
        )
        return np.stack([part / np.maximum(whole, 1) for part, whole in ratios], axis=-1)


def binary_judgement(scores: Numbers, labels: Numbers, threshold: float) -> BinaryJudgement:
    """Judge each pair yes if its score is at least `threshold`, and compare with `labels`, where yes is above 0."""
    value, truth = _checked(scores, labels)
    yes = value >= threshold
    counts = np.stack([yes & truth, yes & ~truth, ~yes & truth, ~yes & ~truth], axis=1).astype(np.int64)
    return BinaryJudgement(counts, {"pairs": len(value), "threshold": f"{threshold:.6g}"})


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Countable):
    """How high the right answers of questions are ranked.

    The scores are the mean average precision (`mean_average_precision`, MAP) and the mean reciprocal rank
    (`mean_reciprocal_rank`, MRR), from 0 to 1. `average_precisions` and `reciprocal_ranks` are those of each question
    in `questions`; the reciprocal rank is 1 over the rank of the first right answer, or 0 if there is none.
    """

    questions: tuple[Hashable, ...]
    average_precisions: NDArray[np.float64]
    reciprocal_ranks: NDArray[np.float64]
    facts: Mapping[str, object] = field(default_factory=dict)

    unit: ClassVar = "questions"
    metric_names: ClassVar = ("map", "mrr")
    mean_average_precision, mean_reciprocal_rank = map(Metric, metric_names)

    def unit_counts(self) -> NDArray[np.float64]:
        """For each question 1, its average precision and its reciprocal rank.

        They are rounded to multiples of 2 to the power of -40, so that sums are exact.
        """
        values = np.stack([self.average_precisions, self.reciprocal_ranks], axis=1)
        return np.concatenate([np.ones((len(values), 1)), np.rint(values * 2.0**40) / 2.0**40], axis=1)

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean average precision and mean reciprocal rank of sums of `unit_counts`."""
        return sums[..., 1:] / np.maximum(sums[..., :1], 1)


def ranking(
    scores: Numbers,
    labels: Numbers,
    groups: Sequence[Hashable],
    *,
    keep: str = "mixed",
    judged: Mapping[Hashable, int] | None = None,
) -> Ranking:
    """Rank the answers of each question by score, and score the ranks as trec_eval does.

    Average precision is the mean, over the right answers, of the share of right answers among those ranked at least as
    high.

    Parameters
    ----------
    scores, labels, groups
        The score of each answer, whether it is right (above 0), and its question. Answers with the same score are
        ranked in the order in which they are given.
    keep
        Which questions count: ``mixed``, those with a right and a wrong answer (only these distinguish rankings);
        ``answered``, those with a right one; ``all``, where a question without a right answer scores 0.
    judged
        The questions of a judgement file, with the number of right answers that each has there, ranked or not; the
        precision of a question is averaged over this number. A question without a ranked answer is skipped, as in
        trec_eval. If given, `keep` is not used.

    Examples
    --------
    >>> found = ranking([0.9, 0.5, 0.1], [0, 1, 1], ["q", "q", "q"])
    >>> round(found.mean_average_precision, 4), found.mean_reciprocal_rank
    (0.5833, 0.5)
    """
    check_choice("keep", keep, QUESTIONS)
    value, truth = _checked(scores, labels)
    if len(groups) != len(value):
        raise UsageError(
            f"`scores` and `groups` must have the same length. Got {len(value)} and {len(groups)} instead."
        )
    answers: dict[Hashable, list[int]] = {}
    for place, question in enumerate(groups):
        answers.setdefault(question, []).append(place)
    questions, average_precisions, reciprocal_ranks = [], [], []
    for question, places in answers.items():
        right = int(truth[places].sum())
        if judged is not None:
            if question not in judged:
                continue
        elif (keep != "all" and not right) or (keep == "mixed" and right == len(places)):
            continue
        ranked = np.array(places)[np.argsort(-value[places], kind="stable")]
        ranks = np.flatnonzero(truth[ranked]) + 1
        wanted = max(right if judged is None else judged[question], 1)
        questions.append(question)
        average_precisions.append(float((np.arange(1, right + 1) / ranks).sum()) / wanted)
        reciprocal_ranks.append(1 / int(ranks[0]) if right else 0.0)
    facts = {
        "questions": len(questions),
        "answers": sum(len(answers[question]) for question in questions),
        "kept": keep if judged is None else "judged",
    }
    return Ranking(tuple(questions), np.array(average_precisions), np.array(reciprocal_ranks), facts)


def _checked(scores: Numbers, labels: Numbers) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    value, label = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if value.ndim != 1 or value.shape != label.shape:
        raise UsageError(
            f"`scores` and `labels` must be of the same length. Got the shapes {value.shape} and {label.shape} instead."
        )
    if not len(value):
        raise DataError("found no sentence pairs to judge, wanted at least one.")
    for name, numbers in (("score", value), ("label", label)):
        if not np.isfinite(numbers).all():
            place = int(np.argmin(np.isfinite(numbers)))
            raise DataError(f"sentence pair {place + 1:,}: found the {name} {numbers[place]}, wanted a finite number.")
    return value, label > 0
