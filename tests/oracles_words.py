"""Slow, plain twins of `cepts.words`: sums over all alignments, all state paths, all word pairs, in float64.

Matrices are I x J (a row a source word). The reverse direction is the forward one of the transposed pair, so every
oracle here explains the target by the source only.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Sentence = Sequence[str]
SentencePair = tuple[Sentence, Sentence]
NULL = None


@dataclass
class Found:
    """What summing over everything gives for one sentence pair in one direction."""

    likelihood: float
    posterior: NDArray  # I x J
    null: NDArray  # J
    moves: NDArray | None = None  # I x I: expected jumps from i' to i
    start: NDArray | None = None  # I: posterior of the first position, null or not
    alignments: dict[tuple[int, ...], float] = field(default_factory=dict)  # P(target, alignment), -1 for null
    best: tuple[int, ...] = ()  # the most probable alignment
    margin: float = 0.0  # how much more probable it is than the next one, as a ratio minus 1


# -- Models 1 and 2 ------------------------------------------------------------------------------------------------


def mixture(lexicon: NDArray, null: NDArray, prior: NDArray, null_prior: NDArray) -> Found:
    """Eqs. (1a)-(1c) of ibm12 word for word: the sum over all (I + 1)^J alignments."""
    size, length = lexicon.shape
    found = Found(0.0, np.zeros((size, length)), np.zeros(length))
    probabilities = {}
    for alignment in itertools.product(range(-1, size), repeat=length):
        probability = 1.0
        for j, i in enumerate(alignment):
            probability *= null_prior[j] * null[j] if i < 0 else prior[i, j] * lexicon[i, j]
        probabilities[alignment] = probability
        for j, i in enumerate(alignment):
            if i < 0:
                found.null[j] += probability
            else:
                found.posterior[i, j] += probability
    return _normalised(found, probabilities)


def uniform_prior(size: int, length: int, null_prob: float | None = None) -> tuple[NDArray, NDArray]:
    """Model 1: null is one position among I + 1, or has a probability of its own."""
    null = 1 / (size + 1) if null_prob is None else null_prob
    return np.full((size, length), (1 - null) / size), np.full(length, null)


def diagonal_prior(size: int, length: int, tension: float, null_prob: float) -> tuple[NDArray, NDArray]:
    """Dyer, Chahuneau and Smith (2013), positions from 1."""
    gap = np.abs(np.arange(1, size + 1)[:, None] / size - np.arange(1, length + 1)[None, :] / length)
    weight = np.exp(-tension * gap)
    return (1 - null_prob) * weight / weight.sum(axis=0), np.full(length, null_prob)


class MixtureEM:
    """EM of Models 1 and 2 on words, eq. (25) of ibm12, each expectation a sum over all alignments."""

    def __init__(self, pairs: Sequence[SentencePair], null_prob: float | None = None) -> None:
        self.pairs = [(source, target) for source, target in pairs if source and target]
        words = {word for _, target in self.pairs for word in target}
        self.null_prob = null_prob
        self.lexicon: dict[tuple[str | None, str], float] = defaultdict(lambda: 1 / len(words))
        self.tables: dict[tuple[int, int], tuple[NDArray, NDArray]] = {}

    def prior(self, size: int, length: int) -> tuple[NDArray, NDArray]:
        """Learnt table of the shape, or the uniform one."""
        return self.tables.get((size, length)) or uniform_prior(size, length, self.null_prob)

    def expect(self) -> list[Found]:
        """All alignments of all pairs under the present parameters."""
        return [
            mixture(
                np.array([[self.lexicon[e, f] for f in target] for e in source]),
                np.array([self.lexicon[NULL, f] for f in target]),
                *self.prior(len(source), len(target)),
            )
            for source, target in self.pairs
        ]

    def step(
        self,
        *,
        learn_positions: bool,
        earlier: Mapping[tuple[str | None, str], float] | None = None,
    ) -> float:
        """One iteration, which adds `earlier` counts to the expected ones; returns the log-likelihood before it."""
        found = self.expect()
        counts: dict[tuple[str | None, str], float] = defaultdict(float, earlier or {})
        tables: dict[tuple[int, int], list[NDArray]] = {}
        for (source, target), pair in zip(self.pairs, found, strict=True):
            for j, f in enumerate(target):
                counts[NULL, f] += pair.null[j]
                for i, e in enumerate(source):
                    counts[e, f] += pair.posterior[i, j]
            table = tables.setdefault(pair.posterior.shape, [0.0 * pair.posterior, 0.0 * pair.null])
            table[0] += pair.posterior
            table[1] += pair.null
        totals: dict[str | None, float] = defaultdict(float)
        for (e, _), count in counts.items():
            totals[e] += count
        self.lexicon = defaultdict(float, {(e, f): count / totals[e] for (e, f), count in counts.items()})
        if learn_positions:
            for shape, (table, null) in tables.items():
                total = table.sum(axis=0) + null
                self.tables[shape] = table / total, null / total
        return float(sum(np.log(pair.likelihood) for pair in found))


# -- the HMM -------------------------------------------------------------------------------------------------------


@dataclass
class JumpWeights:
    """P(i | i', I) is proportional to `jump(i - i')`, the first position to `start(i)`; null stays where it is."""

    jump: Callable[[int], float]
    start: Callable[[int], float]
    null_prob: float

    def matrix(self, size: int) -> NDArray:
        """P(i | i', I), a row for each i'."""
        weights = np.array([[self.jump(i - last) for i in range(size)] for last in range(size)], dtype=float)
        return weights / weights.sum(axis=1, keepdims=True)

    def first(self, size: int) -> NDArray:
        """P(i) of the first position."""
        weights = np.array([self.start(i) for i in range(size)], dtype=float)
        return weights / weights.sum()


def hmm(lexicon: NDArray, null: NDArray, weights: JumpWeights) -> Found:
    """The sum over all paths of states (position, linked or null)."""
    size, length = lexicon.shape
    jumps, start = weights.matrix(size), weights.first(size)
    found = Found(0.0, np.zeros((size, length)), np.zeros(length), np.zeros((size, size)), np.zeros(size))
    by_path: dict[tuple[tuple[int, bool], ...], float] = {}

    def emission(i: int, linked: bool, j: int) -> float:
        return (1 - weights.null_prob) * lexicon[i, j] if linked else weights.null_prob * null[j]

    def extend(path: tuple[tuple[int, bool], ...], probability: float) -> None:
        j = len(path)
        if j == length:
            by_path[path] = probability
            return
        for i in range(size):
            for linked in (True, False):
                if j == 0:
                    move = start[i]
                elif linked:
                    move = jumps[path[-1][0], i]
                else:
                    move = 1.0 if i == path[-1][0] else 0.0
                if move:
                    extend((*path, (i, linked)), probability * move * emission(i, linked, j))

    extend((), 1.0)
    for path, probability in by_path.items():
        found.start[path[0][0]] += probability
        for j, (i, linked) in enumerate(path):
            if linked:
                found.posterior[i, j] += probability
                if j:
                    found.moves[path[j - 1][0], i] += probability
            else:
                found.null[j] += probability
    return _normalised(found, by_path, lambda path: tuple(i if linked else -1 for i, linked in path))


def hmm_forward_backward(lexicon: NDArray, null: NDArray, weights: JumpWeights) -> Found:
    """The same sums by forward-backward over 2 I explicit states in log space, for sentences of any length."""
    size, length = lexicon.shape
    with np.errstate(divide="ignore"):
        jumps, start = np.log(weights.matrix(size)), np.log(weights.first(size))
        linked = np.log1p(-weights.null_prob) + np.log(lexicon.astype(float))
        free = np.log(weights.null_prob) + np.log(null.astype(float))
    ahead, behind = np.empty((length, 2, size)), np.zeros((length, 2, size))
    for j in range(length):
        if j == 0:
            into, stay = start, start
        else:
            stay = np.logaddexp(ahead[j - 1, 0], ahead[j - 1, 1])
            into = _log_sum(stay[:, None] + jumps, axis=0)
        ahead[j] = into + linked[:, j], stay + free[j]
    for j in range(length - 1, 0, -1):
        out = _log_sum(jumps + (linked[:, j] + behind[j, 0])[None, :], axis=1)
        behind[j - 1] = np.logaddexp(out, free[j] + behind[j, 1])
    log_likelihood = _log_sum(ahead[-1].ravel(), axis=0)
    posterior = np.exp(ahead + behind - log_likelihood)
    moves = np.zeros((size, size))
    for j in range(1, length):
        last = np.logaddexp(ahead[j - 1, 0], ahead[j - 1, 1])
        moves += np.exp(last[:, None] + jumps + (linked[:, j] + behind[j, 0])[None, :] - log_likelihood)
    start = posterior[0].sum(axis=0)
    return Found(float(log_likelihood), posterior[:, 0].T, posterior[:, 1].sum(axis=1), moves, start)


def hmm_nbest(lexicon: NDArray, null: NDArray, weights: JumpWeights, count: int) -> list[float]:
    """The highest P(target, alignment), by keeping the best `count` beginnings for each last position."""
    size, length = lexicon.shape
    jumps, start = weights.matrix(size), weights.first(size)
    kept: dict[int | None, list[float]] = {None: [1.0]}
    for j in range(length):
        found: dict[int | None, list[float]] = defaultdict(list)
        for last, probabilities in kept.items():
            first = start if j == 0 else start @ jumps
            moves = first if last is None else jumps[last]
            for probability in probabilities:
                found[last].append(probability * weights.null_prob * null[j])
                for i in range(size):
                    found[i].append(probability * moves[i] * (1 - weights.null_prob) * lexicon[i, j])
        kept = {last: sorted(probabilities)[-count:] for last, probabilities in found.items()}
    return sorted(itertools.chain(*kept.values()))[: -count - 1 : -1]


def expected_jump_likelihood(weights: JumpWeights, moves: Sequence[NDArray], starts: Sequence[NDArray]) -> float:
    """What the M-step of jumps and starts has to raise: expected log-probability of all moves."""
    total = 0.0
    for moved, started in zip(moves, starts, strict=True):
        size = len(started)
        total += float((moved * np.log(weights.matrix(size))).sum() + (started * np.log(weights.first(size))).sum())
    return total


def _log_sum(values: NDArray, axis: int) -> NDArray:
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis)


def _normalised(found: Found, probabilities: dict, links: Callable = tuple) -> Found:
    """The sums made posteriors, and paths that differ only in what they hide made one alignment."""
    for path, probability in probabilities.items():
        alignment = links(path)
        found.alignments[alignment] = found.alignments.get(alignment, 0.0) + probability
    found.likelihood = sum(probabilities.values())
    for array in (found.posterior, found.null, found.moves, found.start):
        if array is not None:
            array /= found.likelihood
    ranked = sorted(found.alignments.items(), key=lambda item: -item[1])
    found.best = ranked[0][0]
    found.margin = ranked[0][1] / ranked[1][1] - 1 if len(ranked) > 1 else np.inf
    return found


# -- the index and the lexicons ------------------------------------------------------------------------------------


def cells(pairs: Sequence[SentencePair]) -> set[tuple[str, str]]:
    """All word pairs that stand together in some sentence pair."""
    return {(e, f) for source, target in pairs for e in source for f in target}


def token_pairs(pairs: Sequence[SentencePair]) -> Iterator[tuple[str, str]]:
    """The word pair of every token pair, in the order of the cells."""
    for source, target in pairs:
        yield from itertools.product(source, target)


Counts = dict[tuple[str, str], float]


@dataclass
class BackOffOracle:
    """t(f | e) = (c(e, f) + s t'(f' | e') P(f | f')) / (c(e) + s), down from stems to forms, by word strings.

    `frequencies` are those of target forms, `stems` the letters of each coarser level.
    """

    counts: Counts
    frequencies: dict[str, int]
    stems: Sequence[int]
    strengths: Sequence[float]
    floor: float

    def name(self, word: str, level: int) -> str:
        """The word at a level: 0 is the form."""
        for letters in self.stems[:level]:
            word = word[:letters]
        return word

    def count(self, e: str, f: str, level: int) -> float:
        """Count of a pair of (coarser) words."""
        return sum(
            count for (a, b), count in self.counts.items() if self.name(a, level) == e and self.name(b, level) == f
        )

    def total(self, e: str, level: int) -> float:
        """Count of a (coarser) source word."""
        return sum(count for (a, _), count in self.counts.items() if self.name(a, level) == e)

    def frequency(self, f: str, level: int) -> int:
        """Occurrences of a (coarser) target word."""
        return sum(n for word, n in self.frequencies.items() if self.name(word, level) == f)

    def share(self, f: str, level: int) -> float:
        """P(f | its coarser word); at the coarsest level its share of the text.

        A new word counts as one occurrence more; nothing is lost on one whose coarser word is new as well.
        """
        own = self.frequency(f, level)
        if level == len(self.stems):
            total = sum(self.frequencies.values())
        else:
            total = self.frequency(f[: self.stems[level]], level + 1)
        if own:
            return own / total
        return 1.0 if not total and level < len(self.stems) else 1 / (total + 1)

    def probability(self, e: str, f: str, *, taken: float = 0.0) -> float:
        """t(f | e) of two forms, where so much of their count is `taken` away (leave one out)."""
        probability = 1.0
        for level in range(len(self.stems), -1, -1):
            a, b = self.name(e, level), self.name(f, level)
            prior = self.share(b, level) * probability
            count, total = self.count(a, b, level) - taken, self.total(a, level) - taken
            probability = (count + self.strengths[level] * prior) / (total + self.strengths[level])
            probability = max(probability, self.floor)
        return probability

    def leave_one_out(self) -> float:
        """Log-likelihood of the counts when each is predicted from all others; counts that hardly are left out."""
        return sum(
            count * np.log(self.probability(e, f, taken=min(count, 1.0)))
            for (e, f), count in self.counts.items()
            if count > 0.05
        )


def likeness(a: str, b: str, least: float) -> float:
    """Common prefix of two words (bytes of UTF-8) over the longer; 0 under `least` or four bytes, 1 for equals."""
    x, y = a.encode(), b.encode()
    if x == y:
        return 1.0
    common = 0
    while common < min(len(x), len(y)) and x[common] == y[common]:
        common += 1
    longest = max(len(x), len(y))
    return common / longest if common >= 4 and common >= least * longest else 0.0


# -- confidences ---------------------------------------------------------------------------------------------------


def in_sample_confidence(posterior: NDArray, rarer: NDArray) -> NDArray:
    """A mean of the posterior and of what it would be without the pair: half its log-odds, less for rare words."""

    def of(p: float, n: int) -> float:
        if p == 0.0:
            return 0.0
        odds = min(p / (1.0 - p), 999.0) if p < 1.0 else 999.0
        held_out = odds**0.48 * math.exp(0.43 - 2.35 / n**0.5)
        return 0.368 * p + 0.632 * held_out / (1.0 + held_out)

    flat = [of(p, n) for p, n in zip(posterior.ravel().tolist(), rarer.ravel().tolist(), strict=True)]
    return np.array(flat).reshape(posterior.shape)
