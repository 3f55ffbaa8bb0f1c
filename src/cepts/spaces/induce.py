"""Dictionary induction: words that are each other's nearest neighbours in a fitted space become new entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError, check_least
from cepts.progress import Progress, Step, silent
from cepts.spaces.retrieve import retrieve

Matrix = NDArray[np.float32]
CANDIDATES = 10  # a stochastic round keeps some of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Induction:
    """How a dictionary is grown from a fitted space: words that are each other's nearest neighbours become entries.

    Attributes
    ----------
    rounds
        Maximum number of rounds; each finds entries and fits the space again. Induction ends earlier if the mean
        similarity of the entries no longer grows.
    vocabulary
        How many words of each view, the most frequent ones, may become entries.
    keep
        Probability that a candidate is considered in the first round (Artetxe et al., 2018); it doubles with each
        round, up to 1. A value below 1 helps if the first dictionary is poor.
    measure
        The measure by which words must be each other's nearest neighbours: one of those of `retrieve`.
    """

    rounds: int = 3
    vocabulary: int = 10_000
    keep: float = 1.0
    measure: str = "csls"

    def __post_init__(self) -> None:
        check_least(self, 0, "rounds")
        check_least(self, 1, "vocabulary")
        if not 0.0 < self.keep <= 1.0:
            raise UsageError(f"`keep` must be above 0 and at most 1. Got {self.keep} instead.")


@dataclass(frozen=True, slots=True)
class InductionRound:
    """One round of induction: the number of entries found, and the mean similarity of their words by the measure."""

    entries: int
    similarity: float


def mutual_pairs(
    x: Matrix,
    y: Matrix,
    *,
    measure: str = "csls",
    keep: float = 1.0,
    random: np.random.Generator | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of `x` and of `y` that are each other's nearest neighbours, and their scores.

    If `keep` is below 1, each of a word's ten best candidates is considered only with that probability.
    """

    def nearest(queries: Matrix, targets: Matrix) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        count = 1 if keep >= 1.0 else CANDIDATES
        rows, scores = retrieve(queries, targets, measure=measure, count=count, threads=threads)
        if keep >= 1.0 or random is None:
            return rows[:, 0], scores[:, 0]
        kept = random.random(rows.shape) < keep
        first = np.arange(len(rows)), kept.argmax(axis=1)
        return np.where(kept.any(axis=1), rows[first], -1), scores[first]

    forward, scores = nearest(x, y)
    backward, _ = nearest(y, x)
    at = np.flatnonzero(forward >= 0)
    at = at[backward[forward[at]] == at]
    return np.stack([at, forward[at]], axis=1), scores[at]


def induce(
    fit: Callable[[NDArray[np.int64], NDArray[np.float64]], Sequence[Matrix]],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    settings: Induction,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[InductionRound]]:
    """Entries and weights for the last fit, and what each round found; the first entries are kept.

    `fit` fits a space on entries and their weights, and returns the projected vectors of the words that may become
    entries, which are the first rows of each view.
    """
    report = progress or silent
    random = np.random.default_rng(seed)
    found, masses = rows, weights
    rounds: list[InductionRound] = []
    keep = settings.keep
    for number in range(settings.rounds):
        views = fit(found, masses)
        fresh, scores = [], []
        for i, j in combinations(range(len(views)), 2):
            pairs, similarities = mutual_pairs(
                views[i], views[j], measure=settings.measure, keep=keep, random=random, threads=threads
            )
            lines = np.full((len(pairs), len(views)), -1, dtype=np.int64)
            lines[:, [i, j]] = pairs
            fresh.append(lines)
            scores.append(similarities)
        pairs = np.concatenate(fresh)
        if not len(pairs):
            break
        rounds.append(InductionRound(len(pairs), float(np.concatenate(scores).mean())))
        report(Step(stage="induction", done=number + 1, total=settings.rounds))
        if keep >= 1.0 and len(rounds) > 2 and rounds[-1].similarity <= rounds[-2].similarity:
            break
        keep = min(1.0, 2.0 * keep)
        found = np.concatenate([rows, pairs])
        masses = np.concatenate([weights, np.ones(len(pairs))])
    return found, masses, rounds
