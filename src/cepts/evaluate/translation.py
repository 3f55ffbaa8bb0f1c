"""Precision at k and mean reciprocal rank of word and sentence translation.

The protocol is that of MUSE (Conneau et al., 2018): a source word with several translations is one question, and any of
them among the k best is right. A question counts if the source has the word and the target has at least one of its
translations. Vocabularies differ, so a precision says little without the share of questions that counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Dictionary, Vectors, offsets_of
from cepts.errors import DataError, UsageError
from cepts.evaluate.resampling import Countable, Metric

AT = (1, 5, 10)


@dataclass(frozen=True, slots=True, eq=False)
class GoldTranslations:
    """The source words of a dictionary that have vectors, and their right translations.

    Attributes
    ----------
    source
        Rows of the distinct source words, in the order of the dictionary.
    target, offsets
        The rows `target[offsets[n]:offsets[n + 1]]` are right translations of source word `n`.
    asked
        Number of distinct source words in the dictionary, whether or not they have vectors.
    name
        Name of the dictionary.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    offsets: NDArray[np.int64]
    asked: int
    name: str = ""

    def __len__(self) -> int:
        return len(self.source)


def gold_translations(dictionary: Dictionary, source: Vectors, target: Vectors) -> GoldTranslations:
    """Find the words of a test `dictionary` in the vectors; its first language is the source.

    Raises `DataError` if no entry has both its words in the vocabularies.
    """
    rows = dictionary.rows([source, target])
    right: dict[str, dict[int, None]] = {}  # dicts of None are sets that keep their order
    row_of: dict[str, int] = {}
    for (word, translation), (row, target_row) in zip(dictionary, rows.tolist(), strict=True):
        if word is None or translation is None:
            continue
        row_of[word] = row
        translations = right.setdefault(word, {})
        if row >= 0 and target_row >= 0:
            translations[target_row] = None
    covered = [word for word, translations in right.items() if translations]
    if not covered:
        known = [len(np.unique(column[column >= 0])) for column in rows.T]
        raise DataError(
            f"{dictionary.name or 'the dictionary'}: none of the {len(right):,} source words is in the vocabularies "
            f"together with a translation ({source.name or 'source'}, {len(source):,} words, has {known[0]:,} of the "
            f"dictionary; {target.name or 'target'}, {len(target):,} words, has {known[1]:,}); check the order of the "
            f"languages, and the case of the words."
        )
    return GoldTranslations(
        np.array([row_of[word] for word in covered], dtype=np.int64),
        np.array([row for word in covered for row in right[word]], dtype=np.int64),
        offsets_of([len(right[word]) for word in covered]),
        len(right),
        dictionary.name,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TranslationScore(Countable):
    """Precision at k and mean reciprocal rank of translations, in %.

    A source word or sentence is a question, and its translations are the right answers.

    Attributes
    ----------
    ranks
        Rank, from 1, of the first right answer among those found for each question; 0 if there is none.
    depth
        Number of answers that were found for each question.
    asked, covered
        Number of questions, and of those that the vocabularies can answer.
    at
        The values of k for which there is a precision at k.
    facts
        What the signature says.
    """

    ranks: NDArray[np.int64]
    depth: int
    asked: int
    covered: int
    at: tuple[int, ...] = AT
    facts: Mapping[str, object] = field(default_factory=dict)

    unit: ClassVar = "questions"
    mean_reciprocal_rank = Metric("mean_reciprocal_rank")

    @property
    def precision(self) -> dict[int, float]:
        """Share of the questions with a right answer among the k best, in %, for each k of `at`."""
        return dict(zip(self.at, self.metrics.values(), strict=False))

    @property
    def coverage(self) -> float:
        """Share of the questions that the vocabularies can answer, in %."""
        return 100 * self.covered / self.asked

    def as_dict(self) -> dict[str, int | float]:
        """The numbers of questions and the scores by name, for JSON."""
        return {"asked": self.asked, "covered": self.covered, "coverage": self.coverage, **self.metrics}

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The scores that have intervals."""
        return (*(f"precision_at_{k}" for k in self.at), "mean_reciprocal_rank")

    def unit_counts(self) -> NDArray[np.float64]:
        """A row for each question, with a 1 in the column of its rank."""
        counts = np.zeros((len(self.ranks), self.depth + 1))
        counts[np.arange(len(self.ranks)), self.ranks] = 1
        return counts

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores, given the number of questions with each rank."""
        questions = sums.sum(axis=-1)
        hits = np.cumsum(sums[..., 1:], axis=-1)
        reciprocal = (sums[..., 1:] / np.arange(1, self.depth + 1)).sum(axis=-1)
        return 100 * np.stack([*(hits[..., k - 1] for k in self.at), reciprocal], axis=-1) / questions[..., None]


def first_hits(
    found: NDArray[np.integer], right: NDArray[np.integer], offsets: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Rank, from 1, of the first right answer in each row of `found`, which has the best first; 0 if there is none.

    The answers `right[offsets[n]:offsets[n + 1]]` are right for row `n`; a negative number is not an answer.
    """
    found, right = np.asarray(found, dtype=np.int64), np.asarray(right, dtype=np.int64)
    question = np.arange(len(found))
    width = 1 + max(found.max(initial=-1), right.max(initial=-1))
    known = right >= 0
    wanted = np.repeat(question, np.diff(offsets))[known] * width + right[known]
    hits = np.isin(question[:, None] * width + found, wanted) & (found >= 0)
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)


def translation_precision(
    gold: GoldTranslations, found: NDArray[np.integer], *, at: Sequence[int] = AT
) -> TranslationScore:
    """Score the translations that were found for each source word of `gold`.

    The protocol is that of MUSE (Conneau et al., 2018): a word is translated correctly at k if any of its translations
    in the dictionary is among the k best.

    Parameters
    ----------
    gold
        The source words and their right translations.
    found
        The target rows that were found for each source word, the best first; -1 if there are no more.
    at
        The values of k for precision at k.
    """
    facts = {"task": "word-translation", "dictionary": gold.name or "-"}
    return _score(found, gold.target, gold.offsets, np.ones(len(gold), dtype=np.bool_), gold.asked, at, facts)


def retrieval_precision(
    found: NDArray[np.integer],
    right: NDArray[np.integer],
    *,
    covered: NDArray[np.bool_] | None = None,
    at: Sequence[int] = AT,
    name: str = "",
) -> TranslationScore:
    """Score the target sentences that were found for each source sentence.

    Parameters
    ----------
    found
        The target sentences that were found for each source sentence, the best first; -1 if there are no more.
    right
        The translation of each source sentence.
    covered
        Whether each source sentence has a word with a vector; the others count as wrong. None is all of them.
    at
        The values of k for precision at k.
    name
        Name of the bitext.
    """
    questions = len(right)
    known = np.ones(questions, dtype=np.bool_) if covered is None else covered
    facts = {"task": "sentence-retrieval", "bitext": name or "-"}
    return _score(found, right, np.arange(questions + 1), known, questions, at, facts)


def _score(
    found: NDArray[np.integer],
    right: NDArray[np.integer],
    offsets: NDArray[np.integer],
    covered: NDArray[np.bool_],
    asked: int,
    at: Sequence[int],
    facts: Mapping[str, object],
) -> TranslationScore:
    questions = len(covered)
    if not questions:
        raise DataError("there is nothing to translate, so there is nothing to score; give at least one question.")
    if found.ndim != 2 or len(found) != questions:
        raise UsageError(f"`found` must have a row for each of {questions} questions. Got shape {found.shape} instead.")
    depth = found.shape[1]
    if not at or not all(1 <= k <= depth for k in at):
        raise UsageError(f"`at` must lie between 1 and {depth}, the number of answers found. Got {tuple(at)} instead.")
    ranks = np.where(covered, first_hits(found, right, offsets), 0)
    answerable = int(np.count_nonzero(covered))
    facts = {**facts, "asked": asked, "covered": answerable, "at": "+".join(map(str, at)), "found": depth}
    return TranslationScore(ranks, depth, asked, answerable, tuple(at), facts)
