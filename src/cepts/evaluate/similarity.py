"""Spearman's correlation between cosines of vectors and human judgements, for words and for sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.data import Vectors
from cepts.errors import DataError, UsageError
from cepts.signature import Signed

UNNAMED = "the pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityScore(Signed):
    """Agreement of cosines with human scores.

    Attributes
    ----------
    name
        Name of the task.
    spearman
        Spearman's correlation in %, over the covered pairs.
    pairs, covered
        Number of all pairs, and of those that have a non-zero vector on both sides.
    """

    name: str
    spearman: float
    pairs: int
    covered: int

    @property
    def coverage(self) -> float:
        """Share of the pairs that are covered, in %."""
        return 100 * self.covered / self.pairs

    @property
    def facts(self) -> Mapping[str, object]:  # type: ignore[override]
        """What the signature says."""
        return {"task": self.name or "-", "correlation": "spearman", "pairs": self.pairs, "covered": self.covered}

    def as_dict(self) -> dict[str, str | int | float]:
        """All values by name, for JSON."""
        return {**asdict(self), "coverage": self.coverage}


def word_similarity(
    pairs: Sequence[tuple[str, str]],
    scores: ArrayLike,
    vectors: Vectors,
    *,
    other: Vectors | None = None,
    name: str = "",
) -> SimilarityScore:
    """Correlate the cosine of each pair of words with its human score.

    Parameters
    ----------
    pairs, scores
        Pairs of words, and how similar people find them. A word is looked up as it is, and then in lower case.
    vectors, other
        Vectors of the first words, and of the second words; if `other` is None, they are the same.
    name
        What messages and tables call the task.

    Raises
    ------
    DataError
        If fewer than two pairs have vectors, or all pairs have the same score or cosine.
    """
    other = vectors if other is None else other
    first = vectors.vocabulary.find([word for word, _ in pairs])
    second = other.vocabulary.find([word for _, word in pairs])
    known = (first >= 0) & (second >= 0)
    human = _human_scores(scores, len(pairs), name)
    return _correlate(vectors.matrix[first[known]], other.matrix[second[known]], human[known], len(pairs), name)


def sentence_similarity(
    first: NDArray[np.floating], second: NDArray[np.floating], scores: ArrayLike, *, name: str = ""
) -> SimilarityScore:
    """Correlate the cosine of each pair of sentence vectors with its human score.

    Parameters
    ----------
    first, second
        Sentence vectors; row `n` of both is pair `n`. A row of zeros is a sentence without any word that has a vector.
    scores
        How similar people find the sentences of each pair.
    name
        What messages and tables call the task.

    Raises
    ------
    DataError
        If fewer than two pairs have vectors, or all pairs have the same score or cosine.
    """
    if first.shape != second.shape:
        raise UsageError(
            f"`first` and `second` must have the same shape. Got {first.shape} and {second.shape} instead."
        )
    return _correlate(first, second, _human_scores(scores, len(first), name), len(first), name)


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rank correlation, from -1 to 1; equal values share the mean of their ranks.

    It is NaN if all values of one side are equal.
    """
    centred = []
    for values in (first, second):
        place, times = np.unique(np.asarray(values), return_inverse=True, return_counts=True)[1:]
        ranks = (np.cumsum(times) - (times - 1) / 2)[place.reshape(-1)]
        centred.append(ranks - ranks.mean())
    one, two = centred
    spread = np.sqrt((one @ one) * (two @ two))
    return float(one @ two / spread) if spread > 0 else float("nan")


def _human_scores(scores: ArrayLike, pairs: int, name: str) -> NDArray[np.float64]:
    human = np.asarray(scores, dtype=np.float64)
    if human.shape != (pairs,):
        raise UsageError(f"`scores` must be {pairs} numbers. Got an array of shape {human.shape} instead.")
    if not np.isfinite(human).all():
        wrong = int(np.argmin(np.isfinite(human)))
        raise DataError(f"{name or UNNAMED}: the score of pair {wrong + 1:,} is {human[wrong]}; remove such pairs.")
    return human


def _correlate(
    first: NDArray[np.floating], second: NDArray[np.floating], human: NDArray[np.float64], pairs: int, name: str
) -> SimilarityScore:
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    known = lengths > 0
    cosines = np.einsum("nd,nd->n", one[known], two[known]) / lengths[known]
    human = human[known]
    if len(human) < 2:
        raise DataError(
            f"{name or UNNAMED}: {len(human):,} of {pairs:,} pairs have vectors on both sides, but a correlation needs "
            f"at least two; use vectors of the language of the task, and for more words."
        )
    for what, values in (("human scores", human), ("cosines", cosines)):
        if np.ptp(values) == 0:
            raise DataError(
                f"{name or UNNAMED}: the {what} of all {len(human):,} pairs that have vectors are {values[0]:g}; "
                f"a correlation needs different values, so check the file and the vectors."
            )
    return SimilarityScore(name=name, spearman=100 * spearman(cosines, human), pairs=pairs, covered=len(human))
