"""The link model: which cells are links, learnt from gold links on top of what scorers say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Directions
from cepts.tuning.calibration import IDENTITY, Calibration
from cepts.tuning.cells import Column, logistic, logit
from cepts.tuning.context import CONTEXT, context_of
from cepts.tuning.features import Evidence, Opinion, features_of, token_words
from cepts.tuning.lexical import Lexical
from cepts.tuning.log_linear import Cases, Scale, Weights, fit, score
from cepts.tuning.texts import TextFacts

# What cross-validation chooses from: how strongly the weights are drawn to those before tuning.
STRENGTHS = (300.0, 100.0, 30.0, 10.0)
# The weights of words are drawn to 0 by this share of the strength.
LEXICAL_SHARE = 0.1
# The same for the second pass; infinity has none.
CONTEXT_STRENGTHS = (30.0, 100.0, 300.0, np.inf)
# Labels of cells. Possible links are neither right nor wrong to the learner.
LINK, POSSIBLE, NONE = 1.0, 0.5, 0.0
THRESHOLD_STEPS, LEAST_THRESHOLD = 10, 0.05
# The threshold of the general model counts as much as that of so many gold pairs: ten pairs may all be odd ones.
PAIRS_OF_THRESHOLD = 10
# Tuning is used if it lowers the log-loss of held-out pairs at this level of confidence. The error rate says less: over
# ten pairs, it may be lower or higher by luck. So many pairs count as a degree of freedom, because a model that learns
# from few pairs may fit odd ones: with ten, more than a one-sided t-test of their gains is needed to do no harm.
CONFIDENCE, PAIRS_OF_DEGREE = 0.95, 5


class ScoredRun:
    """A run of pairs with the cells that may become links and their features.

    Parameters
    ----------
    parts
        What each scorer says of the run.
    first
        Index of its first pair in `text`.
    text
        The text.
    """

    def __init__(self, parts: Sequence[Opinion], first: int, text: TextFacts) -> None:
        self.evidence, self.text = Evidence.of(parts, first), text
        self.cells = self.evidence.cells()
        self.features = features_of(self.evidence, self.cells, text)
        self.source_words, self.target_words = token_words(self.evidence, self.cells, text)

    @property
    def mean(self) -> Directions:
        """The mixture of the scorers."""
        return self.evidence.mean

    @property
    def shape(self) -> Association:
        """The sizes of the matrices."""
        return self.evidence.mean.forward

    @property
    def pair(self) -> NDArray[np.int64]:
        """Index of the pair of each cell in the text."""
        return self.evidence.mean.first + self.cells.pair

    @cached_property
    def offset(self) -> Column:
        """Log-odds of the cells without tuning."""
        return logit(np.asarray(self.mean.agreement.values)[self.cells.place])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The features, with a row for each cell."""
        return self.features.matrix()

    def labels(self, gold: Alignments) -> Column:
        """Whether each cell is a sure link, a possible link or none in the gold alignments of the text."""
        labels = np.zeros(int(self.shape.offsets[-1]))
        first, stop = self.mean.first, self.mean.first + len(self.shape)
        links = gold.part(first, stop)
        place = self.shape.offsets[links.pair] + links.source * self.shape.target_lengths[links.pair] + links.target
        there = np.diff(self.shape.offsets)[links.pair] > 0
        labels[place[there]] = np.where(links.sure, LINK, POSSIBLE)[there]
        return labels[self.cells.place]


@dataclass(frozen=True, slots=True, eq=False)
class LinkModel:
    """A log-linear model of links in two passes, with calibrated probabilities.

    The first pass scores each cell by itself: the log-odds of the aligner without tuning, plus features x weights, plus
    the weights of its words. The second pass adds weights of what the first pass makes of the cells around it.

    Attributes
    ----------
    names
        The features.
    scale, weights
        Their scale and the weights of the first pass.
    lexical
        The words that have weights.
    context_scale, context_weights
        Those of the second pass; None has no second pass.
    calibration
        From log-odds to confidences.
    threshold
        The least confidence of a link.
    """

    names: tuple[str, ...]
    scale: Scale
    weights: Weights
    lexical: Lexical
    context_scale: Scale | None = None
    context_weights: Weights | None = None
    calibration: Calibration = IDENTITY
    threshold: float = 0.5

    @classmethod
    def untrained(cls, names: Sequence[str], threshold: float) -> LinkModel:
        """A model that gives every cell the probability that it has without tuning."""
        scale = Scale(np.zeros(len(names)), np.ones(len(names)))
        return cls(tuple(names), scale, Weights.zero(len(names)), Lexical.of([], []), threshold=threshold)

    def scores(self, run: ScoredRun, places: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Column:
        """Log-odds of the cells of a run; `places` are those of the words of its text in `lexical`."""
        categories = self.lexical.categories(places[0][run.source_words], places[1][run.target_words], run.offset)
        found = score(self.scale(run.values), categories, run.offset, self.weights)
        if self.context_scale is None or self.context_weights is None:
            return found
        values = self.context_scale(context_of(run.cells, run.shape, found))
        return score(values, np.empty((len(values), 0), dtype=np.int64), found, self.context_weights)

    def probabilities(self, run: ScoredRun, places: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Association:
        """P(link) of all cells of a run; P(null) of a word is the product of 1 - P(link) over its cells."""
        found = np.zeros(int(run.shape.offsets[-1]), dtype=np.float32)
        found[run.cells.place] = self.calibration(self.scores(run, places))
        matrix = replace(run.shape, values=found, source_null=None, target_null=None)
        nulls = []
        for tokens, count in (
            (run.cells.source_token, run.shape.source_lengths),
            (run.cells.target_token, run.shape.target_lengths),
        ):
            missed = np.log1p(-np.minimum(found[run.cells.place].astype(np.float64), 1.0 - 1e-7))
            nulls.append(np.exp(np.bincount(tokens, missed, minlength=int(count.sum()))).astype(np.float32))
        return replace(matrix, source_null=nulls[0], target_null=nulls[1])

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Settings and arrays, for saving."""
        arrays = {
            "scale.mean": self.scale.mean,
            "scale.deviation": self.scale.deviation,
            "weights.values": self.weights.values,
            "weights.words": self.weights.categories,
            **{f"lexical.{name}": array for name, array in self.lexical.arrays().items()},
        }
        if self.context_scale is not None and self.context_weights is not None:
            arrays |= {
                "context.mean": self.context_scale.mean,
                "context.deviation": self.context_scale.deviation,
                "context.weights": self.context_weights.values,
            }
        settings = {
            "features": list(self.names),
            "calibration": list(self.calibration),
            "threshold": self.threshold,
        }
        return settings, arrays

    @classmethod
    def from_parts(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LinkModel:
        """What `parts` returned."""
        lexical = {
            name.removeprefix("lexical."): array for name, array in arrays.items() if name.startswith("lexical.")
        }
        context: tuple[Scale | None, Weights | None] = None, None
        if "context.mean" in arrays:
            context = (
                Scale(arrays["context.mean"], arrays["context.deviation"]),
                Weights(arrays["context.weights"], np.zeros(1)),
            )
        return cls(
            tuple(settings["features"]),
            Scale(arrays["scale.mean"], arrays["scale.deviation"]),
            Weights(arrays["weights.values"], arrays["weights.words"]),
            Lexical.from_arrays(lexical),
            *context,
            Calibration(*settings["calibration"]),
            settings["threshold"],
        )


class Prior(NamedTuple):
    """What is known before tuning: scale and weights of the features, and the least probability of a link, if known."""

    scale: Scale
    weights: Weights
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Tuning:
    """What tuning found by cross-validation over the gold pairs.

    Attributes
    ----------
    pairs, sure, possible
        Number of gold pairs, sure links and other possible links.
    strength
        How strongly the weights were drawn to those before tuning; None if tuning did not help and was not used.
    aer_before, aer_after
        AER on the gold pairs without tuning, and with a model that was tuned on other gold pairs.
    """

    pairs: int
    sure: int
    possible: int
    strength: float | None
    aer_before: float
    aer_after: float

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        return asdict(self)


class _GoldCells:
    """The cells of all gold pairs, with their labels and folds."""

    def __init__(self, runs: Sequence[ScoredRun], gold: Alignments, folds: int) -> None:
        self.runs = runs
        self.labels = np.concatenate([run.labels(gold) for run in runs])
        self.offset = np.concatenate([run.offset for run in runs])
        self.values = np.concatenate([run.values for run in runs])
        # Neighbouring pairs may be of one document, so that a fold takes every n-th pair rather than a block: with a
        # few gold pairs, each model should see all documents.
        self.pair = np.concatenate([run.pair for run in runs])
        self.fold = self.pair % folds
        self.folds = folds
        self.threshold = float(np.mean([run.mean.threshold for run in runs]))
        self.sure = int(np.count_nonzero(gold.sure))
        self.known = self.labels != POSSIBLE

    def lexical(self, rows: NDArray[np.bool_]) -> Lexical:
        """The words of some cells."""
        sides = []
        for side in ("source", "target"):
            lowered = getattr(self.runs[0].text, side).lowered
            words = np.concatenate([getattr(run, f"{side}_words") for run in self.runs])[rows]
            sides.append([lowered[word] for word in words.tolist()])
        return Lexical.of(*sides)

    def categories(self, lexical: Lexical) -> NDArray[np.int64]:
        """The weights of the words of all cells."""
        source, target = lexical.places(self.runs[0].text)
        return np.concatenate(
            [lexical.categories(source[r.source_words], target[r.target_words], r.offset) for r in self.runs]
        )

    def context(self, scores: Column) -> NDArray[np.float64]:
        """Features of the second pass, given the scores of the first."""
        bounds = np.cumsum([len(run.cells) for run in self.runs])[:-1]
        parts = zip(self.runs, np.split(scores, bounds), strict=True)
        return np.concatenate([context_of(run.cells, run.shape, own) for run, own in parts])

    def splits(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """For each fold, which cells to learn from and which to score."""
        for fold in range(self.folds):
            yield self.known & (self.fold != fold), self.fold == fold

    def loss(self, scores: Column) -> float:
        """Log-loss of the cells that are surely links or surely none."""
        return float(self.losses(scores).sum())

    def losses(self, scores: Column) -> Column:
        """The same, pair by pair."""
        own, labels = scores[self.known], self.labels[self.known]
        found: Column = np.bincount(self.pair[self.known], np.logaddexp(0.0, own) - labels * own).astype(np.float64)
        return found

    def aer(self, links: NDArray[np.bool_]) -> float:
        """Alignment error rate of some cells against the gold links."""
        right = np.count_nonzero(links & (self.labels == LINK)) + np.count_nonzero(links & (self.labels > NONE))
        total = np.count_nonzero(links) + self.sure
        return float(1.0 - right / total) if total else 0.0


def tune(
    runs: Sequence[ScoredRun],
    gold: Alignments,
    *,
    prior: Prior | None = None,
    strength: float | None = None,
    folds: int = 5,
) -> tuple[LinkModel, Tuning]:
    """Learn a link model from gold pairs.

    Parameters
    ----------
    runs
        The scored gold pairs, all of one text.
    gold
        Their gold alignments; all pairs have some.
    prior
        What is known before tuning; None starts from the aligner without tuning.
    strength
        How strongly weights are drawn to those before tuning; None chooses it by cross-validation.
    folds
        Number of parts for cross-validation, of which each is scored by a model that is learnt from the others.
    """
    names = tuple(runs[0].features)
    cells = _GoldCells(runs, gold, min(folds, len(gold)))
    scale, start, usual = prior or Prior(Scale.of(cells.values[cells.known]), Weights.zero(len(names)))
    learner = _Learner(cells, scale(cells.values), start)
    strengths = STRENGTHS if strength is None else (strength,)
    held_out = {each: learner.held_out(each) for each in strengths}
    chosen = min(strengths, key=lambda each: cells.loss(held_out[each]))
    first = held_out[chosen]
    context = cells.context(first)
    context_scale = Scale.of(context[cells.known])
    values = context_scale(context)
    seconds = {each: _held_out_context(cells, values, first, each) for each in CONTEXT_STRENGTHS}
    pull = min(CONTEXT_STRENGTHS, key=lambda each: cells.loss(seconds[each]))
    second = seconds[pull]
    model, found = _untuned(cells, gold)
    if found.aer_before == 0.0 or not surely_lower(cells.losses(second), cells.losses(_held_out_calibration(cells))):
        return model, found
    share = PAIRS_OF_THRESHOLD / (len(gold) + PAIRS_OF_THRESHOLD)
    after, threshold = best_threshold(cells.aer, second, usual, share)
    lexical, weights = learner.on_all(chosen)
    model = LinkModel(names, scale, weights, lexical)
    if np.isfinite(pull):
        context_weights = _fit_context(cells, values, first, cells.known, pull)
        model = replace(model, context_scale=context_scale, context_weights=context_weights)
    return _calibrated(model, cells, second, threshold), replace(found, strength=chosen, aer_after=after)


def calibrate(runs: Sequence[ScoredRun], gold: Alignments) -> tuple[LinkModel, Tuning]:
    """A link model that leaves the links as they are, and learns the confidences from gold pairs; see `tune`."""
    return _untuned(_GoldCells(runs, gold, 1), gold)


def _untuned(cells: _GoldCells, gold: Alignments) -> tuple[LinkModel, Tuning]:
    aer = cells.aer(cells.offset >= logit(np.array(cells.threshold)))
    model = LinkModel.untrained(tuple(cells.runs[0].features), cells.threshold)
    found = Tuning(len(gold), cells.sure, len(gold.sure) - cells.sure, None, aer, aer)
    return _calibrated(model, cells, cells.offset, cells.threshold), found


class _Learner:
    """Learns the first pass from some cells."""

    def __init__(self, cells: _GoldCells, values: NDArray[np.float64], prior: Weights) -> None:
        self.cells, self.values, self.prior = cells, values, prior
        # The weights of each fold that were found last, from which the search for those of another strength starts.
        self.found: dict[int, Weights] = {}
        self.parts = [(rows, wanted, *self._words(rows)) for rows, wanted in cells.splits()]

    def _words(self, rows: NDArray[np.bool_]) -> tuple[Lexical, NDArray[np.int64]]:
        lexical = self.cells.lexical(rows)
        return lexical, self.cells.categories(lexical)

    def held_out(self, strength: float) -> Column:
        """Scores of all cells, each by a model that has not seen its pair."""
        found = np.empty(len(self.values))
        for fold, (rows, wanted, lexical, categories) in enumerate(self.parts):
            weights = self._fitted(rows, lexical, categories, strength, self.found.get(fold))
            self.found[fold] = weights
            found[wanted] = score(self.values[wanted], categories[wanted], self.cells.offset[wanted], weights)
        return found

    def on_all(self, strength: float) -> tuple[Lexical, Weights]:
        """The words and weights that are learnt from all gold pairs."""
        lexical, categories = self._words(self.cells.known)
        return lexical, self._fitted(self.cells.known, lexical, categories, strength, None)

    def _fitted(
        self,
        rows: NDArray[np.bool_],
        lexical: Lexical,
        categories: NDArray[np.int64],
        strength: float,
        start: Weights | None,
    ) -> Weights:
        cells = self.cells
        cases = Cases(self.values[rows], categories[rows], cells.offset[rows], cells.labels[rows])
        prior = Weights(self.prior.values, np.zeros(len(lexical) + 1))
        return fit(cases, prior, strength, LEXICAL_SHARE * strength, start)


def _fit_context(
    cells: _GoldCells, values: NDArray[np.float64], first: Column, rows: NDArray[np.bool_], strength: float
) -> Weights:
    none = np.empty((len(values), 0), dtype=np.int64)
    cases = Cases(values, none, first, cells.labels).take(rows)
    return fit(cases, Weights.zero(len(CONTEXT)), strength, 1.0)


def _held_out_context(cells: _GoldCells, values: NDArray[np.float64], first: Column, strength: float) -> Column:
    """Scores of the second pass, each by weights that were learnt from other folds."""
    none = np.empty((len(values), 0), dtype=np.int64)
    found = np.empty(len(values))
    for rows, wanted in cells.splits():
        weights = _fit_context(cells, values, first, rows, strength)
        found[wanted] = score(values[wanted], none[wanted], first[wanted], weights)
    return found


def _held_out_calibration(cells: _GoldCells) -> Column:
    """Scores without tuning, each calibrated on other folds: what tuning has to do better than."""
    found = np.empty(len(cells.offset))
    for rows, wanted in cells.splits():
        calibration = Calibration.of(cells.offset[rows], cells.labels[rows] == LINK)
        found[wanted] = logit(calibration(cells.offset[wanted]), 1e-9)
    return found


def surely_lower(losses: Column, others: Column) -> bool:
    """Whether `losses` of some pairs are lower than `others`, by a strict one-sided t-test of their differences."""
    from scipy.special import stdtrit

    gains = others - losses
    least = stdtrit(len(gains) / PAIRS_OF_DEGREE, CONFIDENCE)
    return bool(gains.sum() > least * np.sqrt(len(gains)) * gains.std(ddof=1))


def best_threshold(
    error: Callable[[NDArray[np.bool_]], float], scores: Column, usual: float | None = None, share: float = 0.0
) -> tuple[float, float]:
    """The error of the links above the best threshold for probabilities, and that threshold.

    To maximise the expected F of links whose probabilities are known, one takes those above F / 2, where F is the
    highest expected F (Lipton, Elkan and Narayanaswamy, 2014); 1 - AER is such an F. The threshold is drawn to a
    `usual` one by this share of their distance.
    """
    probabilities, threshold = logistic(scores), 0.5
    for _ in range(THRESHOLD_STEPS):
        own = 0.5 * (1.0 - error(probabilities >= threshold))
        threshold = max(own if usual is None else own + share * (usual - own), LEAST_THRESHOLD)
    # Of the last threshold, which need not be that of the step before.
    return error(probabilities >= threshold), threshold


def _calibrated(model: LinkModel, cells: _GoldCells, scores: Column, threshold: float) -> LinkModel:
    """The model with confidences that are shares of right links (sure or possible) among held-out cells."""
    likely = logistic(scores) >= 0.5 * threshold
    calibration = Calibration.of(scores[likely], cells.labels[likely] > NONE)
    least = float(calibration(logit(np.array([threshold]), 1e-9))[0])
    return replace(model, calibration=calibration, threshold=least)
