"""The adapted model: an n-gram background, hidden documents and caches in one distribution over the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.engine import default_threads, map_shards
from cepts.errors import UsageError
from cepts.lm.background import Background, Trace
from cepts.lm.backoff import word_numbers
from cepts.lm.caches import Cache, CacheTracker
from cepts.lm.hidden import HiddenDocuments, HistoryOptions, Tracker
from cepts.ngrams import END, UNKNOWN
from cepts.types import Text
from cepts.vocabulary import Vocabulary

__all__ = ["MIXTURES", "AdaptedModel", "Memory", "Mixture", "Scored", "components_of"]

Mixture = Literal["class", "literal"]
MIXTURES: tuple[Mixture, ...] = get_args(Mixture)
BLOCK = 16  # histories whose lifts are held at once
CHUNK = 8192  # content words whose P(d | H) are held at once
SHARD = 256  # histories that a thread takes at a time
LEAST_WEIGHT = 1e-3  # of a hidden document, to lift words


def components_of(mixture: Mixture, hidden: bool, rescaling: bool, caches: Sequence[Cache]) -> tuple[str, ...]:
    """Names of the components of a mixture, in their order."""
    names = ["ngram"]
    if hidden and rescaling and mixture == "class":
        names.append("rescaled")
    if hidden:
        names.append("hidden")
    return (*names, *(f"cache {cache}" for cache in caches))


class Memory:
    """What the adapted model remembers of the text so far; `copy` it to try what may follow."""

    def __init__(self, tracker: Tracker | None, caches: CacheTracker) -> None:
        self.tracker = tracker
        self.caches = caches

    def copy(self) -> Memory:
        """One that goes on from here by itself."""
        return Memory(self.tracker.copy() if self.tracker else None, self.caches.copy())


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What each component gives to the words of a text and to the ends of its sentences.

    Attributes
    ----------
    ids
        The words; `END` after each sentence.
    probs
        P(word | its context) of the background.
    members
        The same of each of the background's models, a column a model.
    masses
        P(content word | context), where the word is a content word; 0 elsewhere.
    columns
        Where the word is a content word: its probability among content words, a column a component; 0 elsewhere.
    content
        Whether it is.
    """

    ids: NDArray[np.int32]
    probs: NDArray[np.float64]
    members: NDArray[np.float64]
    masses: NDArray[np.float64]
    columns: NDArray[np.float64]
    content: NDArray[np.bool_]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether the word is in the vocabulary."""
        return self.ids != UNKNOWN

    def mixed(self, weights: NDArray[np.float64], mixture: Mixture) -> NDArray[np.float64]:
        """P(word | h, H) with these weights of the components."""
        return mix(self.probs, self.masses, self.columns, self.content, weights, mixture)


def mix(
    probs: NDArray[np.float64],
    masses: NDArray[np.float64] | float,
    columns: NDArray[np.float64],
    content: NDArray[np.bool_],
    weights: NDArray[np.float64],
    mixture: Mixture,
) -> NDArray[np.float64]:
    """P(word | h, H) of what the background and the components give.

    ``literal`` is eq. (17) of nmf_lm for any number of components. ``class`` leaves function words what the n-gram
    gives them, and shares the mass of content words out among these by the mixture of the components.
    """
    if mixture == "literal":
        return np.asarray(weights[0] * probs + columns[:, 1:] @ weights[1:])
    return np.where(content, masses * (columns @ weights), probs)


@dataclass(frozen=True, eq=False)
class AdaptedModel:
    """P(w | h, H) of the next word, of the n - 1 words before it (h) and of all content words before it (H).

    Attributes
    ----------
    background
        The n-gram model or models.
    content
        Which words of the vocabulary are content words; the others are left to the n-gram.
    hidden
        The hidden documents; None is a model of caches alone.
    history
        How P(d | H) is found.
    caches
        Caches of content words.
    mixture
        ``class`` or ``literal``.
    exponent
        Of unigram rescaling: P(w | h) x (P(w | H) / P(w)) ** exponent / Z among content words; 0 is none.
    weights
        Of the `components`; they add up to 1.
    facts
        What made the model, for signatures and tables.
    """

    background: Background
    content: NDArray[np.bool_]
    hidden: HiddenDocuments | None
    weights: NDArray[np.float64]
    history: HistoryOptions = field(default_factory=HistoryOptions)
    caches: tuple[Cache, ...] = ()
    mixture: Mixture = "class"
    exponent: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mixture not in MIXTURES:
            raise UsageError(f"mixture must be one of {', '.join(MIXTURES)}. Got {self.mixture!r} instead.")
        if not 0 <= self.exponent < np.inf:
            raise UsageError(f"the exponent of rescaling must be 0 or more. Got {self.exponent} instead.")
        if len(self.weights) != len(self.components):
            raise ValueError(f"weights must be as many as {self.components}. Got {len(self.weights)} instead.")

    @property
    def vocabulary(self) -> Vocabulary:
        """The words."""
        return self.background.vocabulary

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components, in the order of their weights."""
        return components_of(self.mixture, self.hidden is not None, self.exponent > 0, self.caches)

    def with_weights(self, weights: NDArray[np.float64], *, exponent: float | None = None) -> AdaptedModel:
        """The same with other weights of its components."""
        return replace(self, weights=weights, exponent=self.exponent if exponent is None else exponent)

    def memory(self) -> Memory:
        """Memory of nothing."""
        tracker = Tracker(self.hidden, self.history) if self.hidden is not None else None
        return Memory(tracker, CacheTracker(self.caches, len(self.vocabulary)))

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """Row of each word in the hidden documents; -1 where they do not have it."""
        size = len(self.vocabulary)
        return self.hidden.rows(size) if self.hidden is not None else np.full(size, -1, dtype=np.int32)

    @cached_property
    def plain_factors(self) -> NDArray[np.float32]:
        """What rescaling leaves words at which hidden documents do not have; words that are not content have no say."""
        return self.content.astype(np.float32)

    def score(self, text: Text, memory: Memory, *, threads: int | None = None) -> Scored:
        """What each component gives to each word of a text that follows what `memory` holds, and is then part of it."""
        ids = word_numbers(text, self.vocabulary)[text.ids]
        trace = self.background.trace(ids, text.offsets)
        targets = np.insert(ids, text.offsets[1:], np.int32(END))
        content = self.content[targets]
        places = np.flatnonzero(content)
        words = targets[places]
        masses, columns = np.zeros(len(targets)), np.zeros((len(targets), len(self.components)))
        masses[places] = trace.masses(places)
        found = np.empty((len(places), len(self.components)))
        found[:, 0] = _shares(trace.probs[places], masses[places])
        for start in range(0, len(places), CHUNK):
            part = slice(start, start + CHUNK)
            if memory.tracker is not None:
                self._score_hidden(words[part], places[part], trace, memory.tracker, found[part], threads)
        caches = memory.caches.follow(words)
        found[:, len(self.components) - len(self.caches) :] = np.where(caches < 0, found[:, :1], caches)
        columns[places] = found
        return Scored(targets, trace.probs, trace.members, masses, columns, content)

    def _score_hidden(
        self,
        words: NDArray[np.int32],
        places: NDArray[np.int64],
        trace: Trace,
        tracker: Tracker,
        found: NDArray[np.float64],
        threads: int | None,
    ) -> None:
        """Fill the columns of the hidden documents and of the background as they rescale it."""
        from cepts.kernels.history import word_probs

        hidden = tracker.hidden
        rows = self.rows[words]
        weights = tracker.follow(rows)
        probs = np.empty(len(rows))
        word_probs(rows, hidden.words, weights, probs)
        found[:, self.components.index("hidden")] = probs
        if "rescaled" not in self.components:
            return

        def run(start: int) -> NDArray[np.float64]:
            part = slice(start, start + SHARD)
            return self._rescaled(words[part], places[part], trace, weights[part])

        shards = range(0, len(rows), SHARD)
        threads = default_threads() if threads is None else threads
        for start, rescaled in zip(shards, map_shards(run, shards, threads=threads), strict=True):
            found[start : start + SHARD, self.components.index("rescaled")] = rescaled

    def _rescaled(
        self, words: NDArray[np.int32], places: NDArray[np.int64], trace: Trace, weights: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """P(w | h) x (P(w | H) / P(w)) ** exponent / Z of some content words."""
        factors = np.tile(self.plain_factors, (min(BLOCK, len(words)), 1))
        probs = np.empty(len(words))
        for start in range(0, len(words), BLOCK):
            part = slice(start, start + BLOCK)
            block = factors[: len(words[part])]
            self.lift(weights[part], block)
            own = block[np.arange(len(block)), words[part]]
            probs[part] = _shares(trace.probs[places[part]] * own, trace.factored(places[part], block))
        return probs

    def lift(self, weights: NDArray[np.float32], factors: NDArray[np.float32]) -> None:
        """(P(w | H) / P(w)) ** exponent of the words of hidden documents, for each row of P(d | H), into `factors`."""
        from cepts.kernels.rescaling import lift_powers

        assert self.hidden is not None
        size = len(self.hidden.numbers)
        lifted, whole, scale = np.empty((3, size), dtype=np.float32)
        bits = lifted.view(np.int32), whole, scale, scale.view(np.int32)
        options = np.float32(self.exponent), np.float32(LEAST_WEIGHT), self.hidden.numbers
        lift_powers(weights, *self.hidden.lifts, *options, lifted, *bits, factors)

    def distribution(self, contexts: tuple[Any, ...], memory: Memory) -> NDArray[np.float64]:
        """P(w | h, H) of every word of the vocabulary, after the words that `contexts` and `memory` know of."""
        probs = self.background.distribution(contexts)
        mass = float(probs[self.content].sum())
        columns = np.zeros((len(probs), len(self.components)))
        plain = np.where(self.content, probs, 0) / mass if mass > 0 else np.zeros_like(probs)
        columns[:, 0] = plain
        if memory.tracker is not None:
            hidden = memory.tracker.hidden
            weights = memory.tracker.copy().follow(np.full(1, -1, dtype=np.int32))
            if "rescaled" in self.components:
                factors = self.plain_factors[None].copy()
                self.lift(weights, factors)
                rescaled = plain * factors[0]
                columns[:, 1] = rescaled / rescaled.sum() if mass > 0 else 0
            found = hidden.words.astype(np.float64) @ weights[0]
            columns[hidden.numbers, self.components.index("hidden")] = found
        first = len(self.components) - len(self.caches)
        for number, distribution in enumerate(memory.caches.distributions(), start=first):
            columns[:, number] = distribution if distribution.any() else plain
        return mix(probs, mass, columns, self.content, self.weights, self.mixture)


def _shares(parts: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0)
