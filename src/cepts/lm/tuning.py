"""Weights of a mixture, estimated by EM on held-out text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN, Text
from cepts.engine import ROUNDING, run_em
from cepts.errors import DataError
from cepts.lm.backoff import renumbered
from cepts.lm.predictor import MOST_EXPONENT, Predictor, Scored

EXPONENTS = (0.3, 0.5, 0.7, 0.9)  # exponents of rescaling from which the search starts
FINER = 0.1
MOST_HELD_OUT = 60_000  # words of held-out text on which exponents are compared
ITERATIONS = 200
TOLERANCE = 6e-6
NO_KNOWN_WORDS = (
    "the held-out text has no content word that the model knows, so weights cannot be set on it; give other "
    "development text (`dev=`)."
)


class _WeightsProblem:
    """An `engine.EMProblem`: the weights of a mixture of given distributions."""

    def __init__(self, probs: NDArray[np.float64]) -> None:
        self.probs = probs
        self.weights = np.full(probs.shape[1], 1 / probs.shape[1])
        self._expected = self.weights
        self.allowed_fall = ROUNDING * len(probs)

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """Compute how many words each component explains; return the log-likelihood."""
        joint = self.probs * self.weights
        total = joint.sum(axis=1, keepdims=True)
        self._expected = (joint / total).sum(axis=0)
        return float(np.log(total).sum())

    def m_step(self) -> None:
        """Set the weights to the shares of explained words."""
        self.weights = self._expected / self._expected.sum()


def best_weights(probs: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[float]]:
    """Find the weights with which a mixture gives held-out words the highest probability, by EM.

    Returns the weights, and the log-likelihood at each step.

    Parameters
    ----------
    probs
        P(word) of each held-out word by each component: one row for each word, one column for each component.
    """
    known = probs[probs.sum(axis=1) > 0]
    if not len(known):
        raise DataError(NO_KNOWN_WORDS)
    problem = _WeightsProblem(known)
    objectives = run_em(problem, iterations=ITERATIONS, tolerance=TOLERANCE, stage="weights")
    return problem.weights, objectives


def tuned_weights(scored: Scored, mixture: str) -> NDArray[np.float64]:
    """The best weights of a mixture's components on scored held-out text."""
    if scored.columns.shape[1] == 1:
        return np.ones(1)  # n-grams alone: nothing to tune
    if mixture == "literal":
        kept = scored.known
        columns = scored.columns[kept].copy()
        columns[:, 0] = scored.probs[kept]
    else:
        columns = scored.columns[scored.content]
    return best_weights(columns)[0]


def tune(
    model: Predictor, held_out: Text, *, exponents: Sequence[float] | None = None, threads: int | None = None
) -> tuple[Predictor, Scored]:
    """Set the weights of a predictor, of its n-gram models and of its components, to the best on held-out text.

    Returns the predictor with these weights, and the scored text.

    Parameters
    ----------
    model
        A predictor with any weights; if it rescales, its exponent is above 0.
    held_out
        Text that the model was not fitted to.
    exponents
        Exponents of rescaling from which the search for the best one starts; by default the exponent stays as it is.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    """
    text = renumbered(held_out, model.vocabulary)
    if not np.any(text.ids != UNKNOWN):  # sentence ends alone would give all weight to the n-gram
        raise DataError(NO_KNOWN_WORDS)
    if len(model.background) > 1:
        members = model.background.trace(text.ids, text.offsets).members
        known = np.insert(text.ids, text.offsets[1:], np.int32(END)) != UNKNOWN
        weights = best_weights(members[known])[0]
        model = replace(model, background=model.background.weighted(weights))

    def scored(varied: Predictor, text: Text) -> Scored:
        return varied.score(text, varied.memory(), threads=threads)

    if exponents and "rescaled" in model.components:
        small = text.part(0, max(int(np.searchsorted(text.offsets, MOST_HELD_OUT, side="right")) - 1, 1))

        @cache
        def objective(exponent: float) -> float:
            found = scored(replace(model, exponent=exponent), small)
            probs = found.mixed(tuned_weights(found, model.mixture), model.mixture)[found.known]
            return float(np.log(probs[probs > 0]).sum())

        model = replace(model, exponent=_highest(objective, exponents))
    found = scored(model, text)
    return replace(model, weights=tuned_weights(found, model.mixture)), found


def _highest(objective: Callable[[float], float], grid: Sequence[float]) -> float:
    """The point where `objective` is highest: first on the grid, then in finer steps around the best point."""
    best = max(grid, key=objective)
    while True:
        near = [round(best + step, 2) for step in (-FINER, FINER) if FINER / 2 < best + step <= MOST_EXPONENT]
        better = max([best, *near], key=objective)
        if better == best:
            return best
        best = better
