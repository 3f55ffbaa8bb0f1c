"""Weights of a mixture, found by EM on held-out text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN, Text
from cepts.engine import run_em
from cepts.errors import DataError
from cepts.lm.adapted import AdaptedModel, Scored
from cepts.lm.backoff import renumbered
from cepts.lm.mixture import MOST_EXPONENT, Mixture

__all__ = ["EXPONENTS", "best_weights", "tune", "tune_and_score", "tuned_weights"]

EXPONENTS = (0.3, 0.5, 0.7, 0.9)  # of rescaling, to start from
FINER = 0.1
MOST_HELD_OUT = 60_000  # words of held-out text on which exponents are compared
ITERATIONS = 200
TOLERANCE = 1e-7


class _Problem:
    """An `engine.EMProblem`: the weights of a mixture of given distributions."""

    def __init__(self, probs: NDArray[np.float64]) -> None:
        self.probs = probs
        self.weights = np.full(probs.shape[1], 1 / probs.shape[1])
        self._expected = self.weights

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """How many words each component explains."""
        joint = self.probs * self.weights
        total = joint.sum(axis=1, keepdims=True)
        self._expected = (joint / total).sum(axis=0)
        return float(np.log(total).sum())

    def m_step(self) -> None:
        """Their shares."""
        self.weights = self._expected / self._expected.sum()

    def state(self) -> dict[str, NDArray]:
        """The weights."""
        return {"weights": self.weights}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take the weights."""
        self.weights = state["weights"]


def best_weights(probs: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[float]]:
    """The weights under which a mixture gives held-out words the highest probability, and the objective of each step.

    Parameters
    ----------
    probs
        What each component gives to each word, a column a component.
    """
    known = probs[probs.sum(axis=1) > 0]
    if not len(known):
        raise _no_known_words()
    problem = _Problem(known)
    objectives = run_em(problem, iterations=ITERATIONS, tolerance=TOLERANCE, stage="weights")
    return problem.weights, objectives


def _no_known_words() -> DataError:
    return DataError(
        "the held-out text has no content word that the model knows, so that there is nothing to set weights by; "
        "give another --dev."
    )


def tuned_weights(scored: Scored, mixture: Mixture) -> NDArray[np.float64]:
    """The best weights of a mixture's components on scored held-out text."""
    if scored.columns.shape[1] == 1:
        return np.ones(1)  # n-grams alone: nothing to set, whatever the text holds
    if mixture == "literal":
        kept = scored.known
        columns = scored.columns[kept].copy()
        columns[:, 0] = scored.probs[kept]
    else:
        columns = scored.columns[scored.content]
    return best_weights(columns)[0]


def tune(
    model: AdaptedModel, held_out: Text, *, exponents: Sequence[float] | None = None, threads: int | None = None
) -> AdaptedModel:
    """The model with the weights that are best on held-out text: of its n-gram models, and of its components.

    Parameters
    ----------
    model
        With any weights; a model that rescales has an exponent above 0.
    held_out
        Text that the model was not fitted to.
    exponents
        Exponents of rescaling to start the search for the best from; by default that of the model alone.
    """
    return tune_and_score(model, held_out, exponents=exponents, threads=threads)[0]


def tune_and_score(
    model: AdaptedModel, held_out: Text, *, exponents: Sequence[float] | None = None, threads: int | None = None
) -> tuple[AdaptedModel, Scored]:
    """The model of `tune`, and what its components give to the held-out text."""
    text = renumbered(held_out, model.vocabulary)
    if not np.any(text.ids != UNKNOWN):  # the ends of sentences alone would leave all to the n-gram
        raise _no_known_words()
    if len(model.background) > 1:
        members = model.background.trace(text.ids, text.offsets).members
        known = np.insert(text.ids, text.offsets[1:], np.int32(END)) != UNKNOWN
        weights = best_weights(members[known])[0]
        model = model.varied(background=model.background.weighted(weights))

    def scored(varied: AdaptedModel, text: Text) -> Scored:
        return varied.score(text, varied.memory(), threads=threads)

    if exponents and "rescaled" in model.components:
        small = text.part(0, max(int(np.searchsorted(text.offsets, MOST_HELD_OUT, side="right")) - 1, 1))

        @cache
        def objective(exponent: float) -> float:
            found = scored(model.varied(exponent=exponent), small)
            probs = found.mixed(tuned_weights(found, model.mixture), model.mixture)[found.known]
            return float(np.log(probs[probs > 0]).sum())

        model = model.varied(exponent=_highest(objective, exponents))
    found = scored(model, text)
    return model.varied(weights=tuned_weights(found, model.mixture)), found


def _highest(objective: Callable[[float], float], grid: Sequence[float]) -> float:
    """Where `objective` is highest: on the grid, and then in finer steps round that."""
    best = max(grid, key=objective)
    while True:
        near = [round(best + step, 2) for step in (-FINER, FINER) if FINER / 2 < best + step <= MOST_EXPONENT]
        better = max([best, *near], key=objective)
        if better == best:
            return best
        best = better
