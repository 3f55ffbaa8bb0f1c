"""Dictionary induction: words that are each other's nearest neighbours in a fitted space become new entries.

Many such words are no translations. So only words without an entry get new ones, each new entry counts as much as it is
likely to be right, and new entries are used only if they help. Both are learnt in a rehearsal: some of the given
entries are held out, and induction from the others shows which new entries are right, and whether held-out words are
translated better with them. Entries of words that are spelt the same are no judges of that, because they are mostly
names and numbers, which need other dimensions than other words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError, check_least
from cepts.progress import Progress, Step, silent
from cepts.spaces.choose import LEAST_HELD_OUT, held_out_words
from cepts.spaces.retrieve import Neighbours, retrieve
from cepts.spaces.sureness import MutualPairs, Sureness

Matrix = NDArray[np.float32]
CANDIDATES = 10  # neighbours of a word that are found; a stochastic round considers some of them

Fit = Callable[[NDArray[np.int64], NDArray[np.float64]], Sequence[Matrix]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Induction:
    """How a dictionary is grown from a fitted space: words that are each other's nearest neighbours become entries.

    Attributes
    ----------
    rounds
        Maximum number of rounds; each finds entries and fits the space again. As many are used as help to translate
        entries that are held out, possibly none.
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
    """One round of induction.

    Attributes
    ----------
    entries
        Number of entries that were found.
    similarity
        Mean similarity of their words, by the measure.
    sure
        The share of these entries that is expected to be right; 1 if there were too few entries to hold some out.
    """

    entries: int
    similarity: float
    sure: float


@dataclass(frozen=True, slots=True)
class InductionReport:
    """What induction did.

    Attributes
    ----------
    rounds
        The rounds that were used.
    held_out
        Mean reciprocal rank (0 to 1, higher is better) of the translations of held-out words, without induction and
        then after each round of the rehearsal; empty if there were too few entries of words that are spelt differently,
        so that all rounds were used.
    """

    rounds: tuple[InductionRound, ...] = ()
    held_out: tuple[float, ...] = ()


def mutual_pairs(
    there: Neighbours, back: Neighbours, *, keep: float = 1.0, random: np.random.Generator | None = None
) -> MutualPairs:
    """Words that are each other's nearest neighbours, given the neighbours of each word on the other side.

    If `keep` is below 1, each neighbour is considered only with that probability.
    """

    def nearest(found: Neighbours) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Of each word the best candidate, its score, and by how much that exceeds the score of any other."""
        rows, scores = found.rows, found.scores.astype(np.float64)
        kept = rows >= 0
        if keep < 1.0 and random is not None:
            kept &= random.random(rows.shape) < keep
        at = kept.argmax(axis=1)
        line = np.arange(len(rows))
        score = scores[line, at]
        second = scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), -np.inf)
        other = np.where(at == 0, second, scores[:, 0])
        with np.errstate(invalid="ignore"):
            return np.where(kept.any(axis=1), rows[line, at], -1), score, score - other

    forward, scores, ahead = nearest(there)
    backward, _, behind = nearest(back)
    at = np.flatnonzero(forward >= 0)
    at = at[backward[forward[at]] == at]
    rows = np.stack([at, forward[at]], axis=1)
    return MutualPairs(rows, scores[at], np.minimum(ahead[at], behind[forward[at]]))


def induce(
    fit: Fit,
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    settings: Induction,
    *,
    alike: NDArray[np.bool_] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64], InductionReport]:
    """Entries and weights for the last fit, and what induction did; the first entries are kept.

    Parameters
    ----------
    fit
        Fits a space on entries and their weights, and returns the projected vectors of the words that may become
        entries, which are the first rows of each view.
    rows, weights
        The given entries, and how much each of them counts.
    settings
        How entries are found.
    alike
        Whether the words of an entry are spelt the same; None if none are.
    seed
        Seed for the entries that are held out, and for stochastic rounds.
    threads, progress
        As for `cepts.spaces.SpaceModel`.
    """
    report = progress or silent
    finder = _Finder(fit, settings, threads)
    held_out = _HeldOut(
        rows, np.zeros(len(rows), dtype=np.bool_) if alike is None else alike, settings.vocabulary, seed
    )
    total = 2 * settings.rounds + 1 if held_out.enough else settings.rounds
    sureness: list[Sureness | None] = [None] * settings.rounds
    scores: list[float] = []
    if held_out.enough:
        rehearsed = []
        for score, learnt in _rehearsal(finder, held_out, weights, seed):
            scores.append(score)
            rehearsed.append(learnt)
            report(Step(stage="induction", done=len(scores), total=total))
        sureness = rehearsed[: int(np.argmax(scores)) if held_out.telling else -1]
    grown = _Grown(rows, weights)
    rounds: list[InductionRound] = []
    random = np.random.default_rng(seed)
    for number, learnt in enumerate(sureness):
        found = grown.extend(finder.pairs(finder.search(grown), number, random), learnt)
        if found is None:
            break
        rounds.append(found)
        report(Step(stage="induction", done=total - len(sureness) + number + 1, total=total))
        stalled = len(rounds) > 2 and rounds[-1].similarity <= rounds[-2].similarity
        if not held_out.telling and finder.keep(number) >= 1.0 and stalled:
            break
    report(Step(stage="induction", done=total, total=total))
    return grown.rows, grown.weights, InductionReport(tuple(rounds), tuple(scores) if held_out.telling else ())


def _rehearsal(
    finder: _Finder, held_out: _HeldOut, weights: NDArray[np.float64], seed: int
) -> Iterator[tuple[float, Sureness | None]]:
    """Induce entries from those that are not held out.

    Gives the mean reciprocal rank of held-out words, without induction and then after each round, and how sure the
    entries of the next round are; ends early if the rank tells that further rounds do not help.
    """
    grown = _Grown(held_out.rows[held_out.kept], weights[held_out.kept])
    random = np.random.default_rng(seed)
    best = -np.inf
    for number in range(finder.settings.rounds + 1):
        searched = finder.search(grown)
        score = held_out.score(searched, finder.threads)
        worse, best = score <= best, max(score, best)
        if number == finder.settings.rounds or (held_out.telling and worse and finder.keep(number) >= 1.0):
            yield score, None
            return
        pairs = finder.pairs(searched, number, random)
        learnt = held_out.learn(pairs, grown.first)
        yield score, learnt
        if grown.extend(pairs, learnt) is None:
            yield score, None
            return


@dataclass(frozen=True, slots=True, eq=False)
class _Searched:
    """Two views, their vectors, and the neighbours of each word on the other side."""

    views: tuple[int, int]
    vectors: tuple[Matrix, Matrix]
    there: Neighbours
    back: Neighbours


class _Finder:
    """Finds neighbours and mutual pairs in the space of some entries."""

    def __init__(self, fit: Fit, settings: Induction, threads: int | None) -> None:
        self.fit, self.settings, self.threads = fit, settings, threads

    def search(self, grown: _Grown) -> list[_Searched]:
        """The neighbours of all words, for each two views."""
        views = self.fit(grown.rows, grown.weights)
        found = []
        for i, j in combinations(range(len(views)), 2):
            x, y = views[i], views[j]
            found.append(_Searched((i, j), (x, y), self._neighbours(x, y), self._neighbours(y, x)))
        return found

    def _neighbours(self, queries: Matrix, targets: Matrix) -> Neighbours:
        return retrieve(queries, targets, measure=self.settings.measure, count=CANDIDATES, threads=self.threads)

    def keep(self, number: int) -> float:
        """The probability that a candidate is considered in round `number`."""
        return min(1.0, self.settings.keep * 2.0**number)

    def pairs(
        self, searched: Sequence[_Searched], number: int, random: np.random.Generator
    ) -> list[tuple[tuple[int, int], MutualPairs]]:
        """The mutual pairs of each two views in round `number`."""
        keep = self.keep(number)
        return [(found.views, mutual_pairs(found.there, found.back, keep=keep, random=random)) for found in searched]


class _Grown:
    """Entries that are given, and those that were found for words without one."""

    def __init__(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        self.first, self._masses = rows, weights
        self.rows, self.weights = rows, weights

    def extend(
        self, pairs: Sequence[tuple[tuple[int, int], MutualPairs]], sureness: Sureness | None
    ) -> InductionRound | None:
        """Take the new ones of `pairs` instead of those that were found before; None if there are none."""
        lines, scores, masses = [], [], []
        for (i, j), found in pairs:
            new = found.take(_without_entry(found.rows, self.first[:, [i, j]]))
            rows = np.full((len(new.rows), self.first.shape[1]), -1, dtype=np.int64)
            rows[:, [i, j]] = new.rows
            lines.append(rows)
            scores.append(new.scores)
            masses.append(np.ones(len(rows)) if sureness is None else sureness.probability(new))
        fresh, mass = np.concatenate(lines), np.concatenate(masses)
        if not len(fresh):
            return None
        self.rows = np.concatenate([self.first, fresh])
        self.weights = np.concatenate([self._masses, mass])
        return InductionRound(len(fresh), float(np.concatenate(scores).mean()), float(mass.mean()))


class _HeldOut:
    """Entries that are held out: a fifth of the words of the first view, or up to a thousand, with all their entries.

    An entry without a word in the first view belongs to its first word. Entries of words that are spelt the same are
    held out with the others, but are not asked for if there are enough others.
    """

    def __init__(self, rows: NDArray[np.int64], alike: NDArray[np.bool_], vocabulary: int, seed: int) -> None:
        self.rows = rows
        first = (rows >= 0).argmax(axis=1)
        keys = first * (rows.max(initial=0) + 1) + rows[np.arange(len(rows)), first]
        self.kept = ~np.isin(keys, held_out_words(np.unique(keys), seed))
        self.questions = self._questions(~self.kept & ~alike, vocabulary)
        self.telling = self.enough
        if not self.telling:
            self.questions = self._questions(~self.kept, vocabulary)

    def _questions(self, held: NDArray[np.bool_], vocabulary: int) -> dict[tuple[int, int], NDArray[np.int64]]:
        """The held-out entries of each two views, without those that other entries also have."""
        questions = {}
        for i, j in combinations(range(self.rows.shape[1]), 2):
            asked, known = (_pairs_of(self.rows[part], i, j) for part in (held, self.kept))
            asked = asked[~_among(asked, known)]
            questions[i, j] = asked[(asked < vocabulary).all(axis=1)]
        return questions

    @property
    def enough(self) -> bool:
        """Whether there are enough held-out words to learn from."""
        return sum(len(np.unique(asked[:, 0])) for asked in self.questions.values()) >= LEAST_HELD_OUT

    def score(self, searched: Sequence[_Searched], threads: int | None) -> float:
        """Mean reciprocal rank of held-out words in both directions, by the measure of the search and by cosine."""
        ranks = []
        for found in searched:
            asked = self.questions[found.views]
            for queries, (x, y), pairs in (
                (found.there, found.vectors, asked),
                (found.back, found.vectors[::-1], asked[:, ::-1]),
            ):
                words = np.unique(pairs[:, 0])
                near = retrieve(x[words], y, count=CANDIDATES, threads=threads).rows
                ranks.append(_reciprocal_ranks(queries.rows[words], words, pairs))
                ranks.append(_reciprocal_ranks(near, words, pairs))
        return float(np.concatenate(ranks).mean())

    def learn(self, pairs: Sequence[tuple[tuple[int, int], MutualPairs]], given: NDArray[np.int64]) -> Sureness:
        """How sure pairs are, learnt from those of held-out words without an entry in `given`.

        Held-out words of each side are a sample of the words of that side. So a pair of two held-out words counts
        twice; otherwise wrong pairs, which seldom have two, would count too much.
        """
        judged, right = [], []
        for (i, j), found in pairs:
            asked = self.questions[i, j]
            new = found.take(_without_entry(found.rows, given[:, [i, j]]))
            for side in range(2):
                judged.append(new.take(np.isin(new.rows[:, side], asked[:, side])))
                right.append(_among(judged[-1].rows, asked))
        joined = MutualPairs(*(np.concatenate(part) for part in zip(*judged, strict=True)))
        return Sureness.learn(joined, np.concatenate(right))


def _pairs_of(rows: NDArray[np.int64], i: int, j: int) -> NDArray[np.int64]:
    """The words of views i and j, of the entries that have both."""
    pairs = rows[:, [i, j]]
    return pairs[(pairs >= 0).all(axis=1)]


def _without_entry(pairs: NDArray[np.int64], entries: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether neither word of a pair has an entry with a word of the other view; both have a column for each view."""
    both = entries[(entries >= 0).all(axis=1)]
    return ~(np.isin(pairs[:, 0], both[:, 0]) | np.isin(pairs[:, 1], both[:, 1]))


def _among(pairs: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each line of `pairs` is a line of `others`."""
    size = 1 + max(pairs.max(initial=0), others.max(initial=0))
    return np.isin(pairs[:, 0] * size + pairs[:, 1], others[:, 0] * size + others[:, 1])


def _reciprocal_ranks(
    found: NDArray[np.int64], words: NDArray[np.int64], pairs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """1 / the rank of the first right answer of each of `words`, which are those of `pairs`; 0 if none was found."""
    at = np.searchsorted(words, pairs[:, 0])
    hits = found[at] == pairs[:, 1:]
    best = np.zeros(len(words))
    np.maximum.at(best, at, np.where(hits.any(axis=1), 1.0 / (1 + hits.argmax(axis=1)), 0.0))
    return best
