"""The adapted model: an n-gram background, hidden documents and caches in one distribution over the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN, Text, Vocabulary
from cepts.engine import default_threads, map_shards
from cepts.errors import UsageError
from cepts.lm.background import Background, Trace
from cepts.lm.backoff import word_numbers
from cepts.lm.caches import Cache, CacheTracker
from cepts.lm.hidden import HiddenDocuments, HistoryOptions, Tracker
from cepts.lm.mixture import MIXTURES, MOST_EXPONENT, Lifting, Mixture, components_of, mix

__all__ = ["AdaptedModel", "Frozen", "Memory", "Scored"]

BLOCK = 16  # histories whose lifts are held at once
CHUNK = 8192  # content words whose P(d | H) are held at once
SHARD = 256  # histories that a thread takes at a time


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
        if not 0 <= self.exponent <= MOST_EXPONENT:
            raise UsageError(f"the exponent of rescaling must be 0 to {MOST_EXPONENT:g}. Got {self.exponent} instead.")
        if self.hidden is not None and not self.content[self.hidden.numbers].all():
            raise ValueError("the words of hidden documents must be content words. Got others among them.")
        if len(self.weights) != len(self.components):
            raise ValueError(f"weights must be as many as {self.components}. Got {len(self.weights)} instead.")

    @property
    def vocabulary(self) -> Vocabulary:
        """The words."""
        return self.background.vocabulary

    @cached_property
    def components(self) -> tuple[str, ...]:
        """Names of the components, in the order of their weights."""
        return components_of(self.mixture, self.hidden is not None, self.exponent > 0, self.caches)

    def varied(self, **changes: Any) -> AdaptedModel:
        """The same with other options (`history`, `caches`, `mixture`, `exponent`, `hidden`, `background`).

        Where the components are not the same any more, their weights are all alike until they are tuned.
        """
        options: dict[str, Any] = {
            "mixture": self.mixture,
            "hidden": self.hidden,
            "exponent": self.exponent,
            "caches": self.caches,
        }
        options |= changes
        names = components_of(
            options["mixture"], options["hidden"] is not None, options["exponent"] > 0, options["caches"]
        )
        if names != self.components:
            changes.setdefault("weights", np.full(len(names), 1 / len(names)))
        return replace(self, **changes)

    def memory(self) -> Memory:
        """Memory of nothing."""
        tracker = Tracker(self.hidden, self.history) if self.hidden is not None else None
        return Memory(tracker, CacheTracker(self.caches, len(self.vocabulary)))

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """Row of each word in the hidden documents; -1 where they do not have it."""
        size = len(self.vocabulary)
        return self.hidden.rows(size) if self.hidden is not None else np.full(size, -1, dtype=np.int32)

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
        lifting = self.lifting(histories=min(BLOCK, len(words)))
        probs = np.empty(len(words))
        for start in range(0, len(words), BLOCK):
            part = slice(start, start + BLOCK)
            block = lifting.factors(weights[part])
            own = block[np.arange(len(block)), words[part]]
            probs[part] = _shares(trace.probs[places[part]] * own, trace.factored(places[part], block))
        return probs

    def lifting(self, *, histories: int = 1) -> Lifting:
        """What rescales the background, for so many histories at a time; for models with hidden documents."""
        assert self.hidden is not None
        return Lifting(self.hidden, self.content, self.exponent, histories=histories)

    def distribution(self, contexts: tuple[Any, ...], memory: Memory) -> NDArray[np.float64]:
        """P(w | h, H) of every word of the vocabulary, after the words that `contexts` and `memory` know of."""
        probs = self.background.distribution(contexts)
        frozen = Frozen(self, memory)
        mass = np.full(1, probs[self.content].sum())
        rescaled = mass if frozen.factors is None else np.full(1, probs @ frozen.factors)
        return frozen.mixed(np.arange(len(probs), dtype=np.int32), probs, mass, rescaled)


def _shares(parts: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0)


class Frozen:
    """What the components of an adapted model give to each word, with a memory that no word changes."""

    def __init__(self, model: AdaptedModel, memory: Memory) -> None:
        self._model = model
        self.factors: NDArray[np.float32] | None = None  # of rescaling; 0 for words that are no content words
        names = model.components
        self._fixed = np.zeros((len(model.vocabulary), len(names)))
        if memory.tracker is not None:
            hidden = memory.tracker.hidden
            weights = memory.tracker.copy().follow(np.full(1, -1, dtype=np.int32))
            self._fixed[hidden.numbers, names.index("hidden")] = hidden.words.astype(np.float64) @ weights[0]
            if "rescaled" in names:
                self.factors = model.lifting().factors(weights)[0]
        caches = memory.caches.distributions()
        first = len(names) - len(caches)
        self._fixed[:, first:] = caches.T
        # Components that stand aside for the n-gram.
        self._plain = [0, *(first + number for number, cache in enumerate(caches) if not cache.any())]

    def mixed(
        self,
        words: NDArray[np.int32],
        probs: NDArray[np.float64],
        masses: NDArray[np.float64],
        rescaled: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """P(word | context) of some words: of the background's, and of what their contexts give to content words."""
        model = self._model
        content = model.content[words]
        columns = self._fixed[words]
        # Where a context gives content words nothing, each has nothing of it.
        columns[:, self._plain] = (np.where(content, probs, 0) / np.where(masses > 0, masses, np.inf))[:, None]
        if self.factors is not None:
            lifted = probs * self.factors[words] / np.where(rescaled > 0, rescaled, np.inf)
            columns[:, model.components.index("rescaled")] = lifted
        return mix(probs, masses, columns, content, model.weights, model.mixture)
