"""Scoring word by word, for decoders: a state and a word give a probability and the next state."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN
from cepts.lm.adapted import AdaptedModel, Memory
from cepts.lm.caches import CacheTracker
from cepts.lm.hidden import Tracker
from cepts.lm.mixture import mix

__all__ = ["Scorer", "State"]

MOST_SHOWN = 64  # states of which factors of all words are kept
MOST_PENDING = 32  # content words after which what is said is taken into the memory


@dataclass(frozen=True, eq=False)
class State:
    """Where a decoder stands: never changed, so that any number of hypotheses may go on from it.

    Attributes
    ----------
    contexts
        Of the background's models.
    tracker, caches, pending
        What was remembered some words ago, and the content words that have come since.
    """

    contexts: tuple[Any, ...]
    tracker: Tracker | None
    caches: CacheTracker
    pending: tuple[int, ...] = ()


class Scorer:
    """An adapted model for decoders.

    Parameters
    ----------
    model
        The model.
    adapting
        Whether words of the present utterance change P(d | H) and the caches at once; otherwise only `finish` does.

    Examples
    --------
    >>> from cepts.lm import Scorer, load_adapted  # doctest: +SKIP
    >>> scorer = Scorer(load_adapted("biology"))  # doctest: +SKIP
    >>> log_prob, state = scorer.score(scorer.start(), "cells")  # doctest: +SKIP
    """

    def __init__(self, model: AdaptedModel, *, adapting: bool = True) -> None:
        self.model = model
        self.adapting = adapting
        self._shown: dict[State, _Shown] = {}

    def start(self, memory: Memory | None = None) -> State:
        """The state before the first word of a text, or after what `memory` holds."""
        memory = memory.copy() if memory else self.model.memory()  # it may be told more, and states never change
        return State(self.model.background.start, memory.tracker, memory.caches)

    def score(self, state: State, word: str) -> tuple[float, State]:
        """Natural logarithm of P(word | state), and the state after it. An unknown word is scored as ``<unk>``."""
        return self._step(state, max(self.model.vocabulary.number(word), UNKNOWN))

    def finish(self, state: State) -> tuple[float, State]:
        """Natural logarithm of P(the sentence ends | state), and the state before the next sentence.

        What was said is part of the history from then on.
        """
        log_prob, after = self._step(state, END)
        following = replace(after, contexts=self.model.background.start)
        return log_prob, following if self.adapting else self._committed(following)

    def memory(self, state: State) -> Memory:
        """What the state remembers, for `AdaptedModel.score` and `start`."""
        state = self._committed(state)
        return Memory(state.tracker.copy() if state.tracker else None, state.caches.copy())

    def _committed(self, state: State) -> State:
        if not state.pending:
            return state
        words = np.array(state.pending, dtype=np.int32)
        caches = state.caches.copy()
        caches.follow(words)
        tracker = state.tracker
        if tracker is not None:
            tracker = tracker.copy()
            tracker.follow(self.model.rows[words])
        return State(state.contexts, tracker, caches)

    def _step(self, state: State, word: int) -> tuple[float, State]:
        model = self.model
        prob, contexts = model.background.advance(state.contexts, word)
        content = bool(model.content[word])
        if content or model.mixture == "literal":
            prob = self._prob(state, word, prob, content)
        log_prob = math.log(prob) if prob > 0 else -math.inf
        if not content:
            return log_prob, replace(state, contexts=contexts)
        base = self._seen_from(state).base
        return log_prob, State(contexts, base.tracker, base.caches, (*base.pending, word))

    def _prob(self, state: State, word: int, prob: float, content: bool) -> float:
        """P(word | state) of the mixture, from that of the background."""
        model = self.model
        pending = state.pending if self.adapting else ()
        shown = self._seen_from(state)
        columns = np.zeros((1, len(model.components)))
        if content:
            plain = prob / shown.mass if shown.mass > 0 else 0.0
            columns[0, 0] = plain
            column = 1
            if state.tracker is not None:
                if "rescaled" in model.components:
                    scaled = prob * float(shown.factors[word])
                    columns[0, 1] = scaled / shown.scaled_mass if shown.scaled_mass > 0 else 0.0
                    column = 2
                row = model.rows[word]
                columns[0, column] = float(state.tracker.hidden.words[row] @ shown.weights) if row >= 0 else 0.0
                column += 1
            for cache, found in enumerate(state.caches.probs_after(pending, word)):
                columns[0, column + cache] = plain if found < 0 else found
        one = np.array([prob])
        return float(mix(one, shown.mass, columns, np.array([content]), model.weights, model.mixture)[0])

    def _seen_from(self, state: State) -> _Shown:
        """What is the same for all words that may follow a state; kept for a while, for decoders ask again."""
        found = self._shown.get(state)
        if found is None:
            if len(self._shown) == MOST_SHOWN:
                del self._shown[next(iter(self._shown))]
            settled = self.adapting and len(state.pending) >= MOST_PENDING
            found = self._shown[state] = _Shown(
                self.model,
                state,
                state.pending if self.adapting else (),
                base=self._committed(state) if settled else state,
            )
        return found


class _Shown:
    """Mass of content words, P(d | H), and the factors of rescaling with their sum, at one state.

    `base` is the state that remembers the same, from which the states after it go on: with its words taken into the
    memory where they have become many.
    """

    def __init__(self, model: AdaptedModel, state: State, pending: tuple[int, ...], *, base: State) -> None:
        background = model.background
        self.base = base
        self.mass = background.mass(state.contexts)
        self.weights: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self.factors: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self.scaled_mass = 0.0
        if state.tracker is not None:
            rows = model.rows[np.array([*pending, UNKNOWN])]  # the last has none: P(d | H) before it is asked for
            weights = state.tracker.copy().follow(rows)[-1:]
            self.weights = weights[0]
            if "rescaled" in model.components:
                factors = model.lifting().factors(weights)
                self.factors = factors[0]
                self.scaled_mass = background.factored(state.contexts, factors)
