"""Scoring word by word, for decoders: a state and a word give a probability and the next state."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN
from cepts.lm.adapted import AdaptedModel
from cepts.lm.predictor import Lifting, Memory, Predictor, mix

MOST_PREPARED = 64  # states for which the factors of all words are kept
MOST_PENDING = 32  # so many pending words are added to the memory


@dataclass(frozen=True, eq=False)
class State:
    """The words of a decoder's hypothesis so far, as far as the model needs them.

    A state never changes, so any number of hypotheses can continue it.

    Attributes
    ----------
    contexts
        The contexts of the background models.
    memory, pending
        The memory at some earlier word, and the words since then that it would hold.
    """

    contexts: tuple[Any, ...]
    memory: Memory
    pending: tuple[int, ...] = ()


class IncrementalScorer:
    """An adapted model for decoders, which ask for one word after the other.

    Parameters
    ----------
    model
        A fitted model. If it was fitted to lower-cased text, words are looked up in lower case.
    adapting
        Whether the words of the current utterance change P(d | H) and the caches at once; otherwise only `finish` does.

    Examples
    --------
    >>> from cepts.lm import AdaptedModel, IncrementalScorer  # doctest: +SKIP
    >>> scorer = IncrementalScorer(AdaptedModel.load("biology"))  # doctest: +SKIP
    >>> log_prob, state = scorer.score(scorer.start(), "cells")  # doctest: +SKIP
    """

    def __init__(self, model: AdaptedModel, *, adapting: bool = True) -> None:
        model.check_fitted()
        self.model = model
        self.adapting = adapting
        self._predictor = model.predictor_
        self._prepare = lru_cache(MOST_PREPARED)(self._new_prepared)  # decoders ask again

    def start(self, memory: Memory | None = None) -> State:
        """The state before the first word of a text, or after the text in `memory`."""
        memory = memory.copy() if memory else self._predictor.memory()  # the caller's may change, a state's may not
        return State(self._predictor.background.start, memory)

    def score(self, state: State, word: str) -> tuple[float, State]:
        """Natural logarithm of P(word | state), and the state after it. An unknown word is scored as ``<unk>``."""
        return self._step(state, max(self._predictor.vocabulary.number(self.model.as_fitted(word)), UNKNOWN))

    def finish(self, state: State) -> tuple[float, State]:
        """Natural logarithm of P(the sentence ends | state), and the state before the next sentence.

        From then on, the sentence is part of the history.
        """
        log_prob, after = self._step(state, END)
        following = replace(after, contexts=self._predictor.background.start)
        return log_prob, following if self.adapting else self._committed(following)

    def memory(self, state: State) -> Memory:
        """The memory of a state, for `AdaptedModel.score` and `start`."""
        return self._committed(state).memory.copy()

    def _committed(self, state: State) -> State:
        if not state.pending:
            return state
        words = np.array(state.pending, dtype=np.int32)
        return State(state.contexts, self._predictor.remembering(state.memory, words))

    def _step(self, state: State, word: int) -> tuple[float, State]:
        model = self._predictor
        prob, contexts = model.background.advance(state.contexts, word)
        content = bool(model.content[word])
        if content or model.mixture == "literal":
            prob = self._prob(state, word, prob, content)
        log_prob = math.log(prob) if prob > 0 else -math.inf
        if not model.remembered[word]:
            return log_prob, replace(state, contexts=contexts)
        base = self._prepare(state).base
        return log_prob, State(contexts, base.memory, (*base.pending, word))

    def _prob(self, state: State, word: int, prob: float, content: bool) -> float:
        """P(word | state) of the mixture, given that of the background."""
        model = self._predictor
        pending = tuple(before for before in state.pending if model.content[before]) if self.adapting else ()
        prepared = self._prepare(state)
        columns = np.zeros((1, len(model.components)))
        if content:
            plain = prob / prepared.mass if prepared.mass > 0 else 0.0
            columns[0, 0] = plain
            if model.hidden is not None:
                likely = model.hidden.probs(model.rows[[word]], prepared.weights)[0]
                columns[0, model.components.index("hidden")] = likely
            if "rescaled" in model.components and prepared.scaled_mass > 0:
                lifted = prob * float(prepared.factors[word]) / prepared.scaled_mass
                columns[0, model.components.index("rescaled")] = lifted
            for cache, found in enumerate(reversed(state.memory.caches.probs_after(pending, word)), start=1):
                columns[0, -cache] = plain if found < 0 else found
        one = np.array([prob])
        return float(mix(one, prepared.mass, columns, np.array([content]), model.weights, model.mixture)[0])

    def _new_prepared(self, state: State) -> _Prepared:
        """What is the same for all words that may follow a state."""
        pending = state.pending if self.adapting else ()
        settled = len(pending) >= MOST_PENDING  # then these words are added to the memory
        return _Prepared(self._predictor, state, pending, base=self._committed(state) if settled else state)


class _Prepared:
    """Mass of content words, P(d | H) and rescaling factors at a state; `base` is an equal state to continue from."""

    def __init__(self, model: Predictor, state: State, pending: tuple[int, ...], *, base: State) -> None:
        background = model.background
        self.base = base
        contexts = [[context] for context in state.contexts]
        self.mass = float(background.masses(contexts)[0])
        self.weights: NDArray[np.float32] = np.empty((1, 0), dtype=np.float32)
        self.factors: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self.scaled_mass = 0.0
        if state.memory.tracker is not None:
            rows = model.rows[np.array([*pending, UNKNOWN])]  # the last has no row: it stands for the next word
            weights = state.memory.tracker.copy().follow(rows)[-1:]
            self.weights = weights
            if "rescaled" in model.components:
                factors = Lifting(model).factors(weights)
                self.factors = factors[0]
                self.scaled_mass = float(background.factored(contexts, factors)[0])
