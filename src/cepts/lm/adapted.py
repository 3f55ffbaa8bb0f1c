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
MOST_EXPONENT = 4.0  # of rescaling: beyond, powers of lifts may leave single precision


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
        if not 0 <= self.exponent <= MOST_EXPONENT:
            raise UsageError(f"the exponent of rescaling must be 0 to {MOST_EXPONENT:g}. Got {self.exponent} instead.")
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
        lifting = Lifting(self, min(BLOCK, len(words)))
        probs = np.empty(len(words))
        for start in range(0, len(words), BLOCK):
            part = slice(start, start + BLOCK)
            block = lifting.factors(weights[part])
            own = block[np.arange(len(block)), words[part]]
            probs[part] = _shares(trace.probs[places[part]] * own, trace.factored(places[part], block))
        return probs

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
                rescaled = plain * Lifting(self, 1).factors(weights)[0]
                columns[:, 1] = rescaled / rescaled.sum() if mass > 0 else 0
            found = hidden.words.astype(np.float64) @ weights[0]
            columns[hidden.numbers, self.components.index("hidden")] = found
        first = len(self.components) - len(self.caches)
        for number, distribution in enumerate(memory.caches.distributions(), start=first):
            columns[:, number] = distribution if distribution.any() else plain
        return mix(probs, mass, columns, self.content, self.weights, self.mixture)


class Lifting:
    """(P(w | H) / P(w)) ** exponent of every word, for some histories at a time; memory is taken once.

    Content words that the hidden documents do not have stay as they are, with 1; other words have 0, and no say.
    """

    def __init__(self, model: AdaptedModel, histories: int) -> None:
        assert model.hidden is not None
        self._hidden = model.hidden
        self._exponent = np.float32(model.exponent)
        self._scratch = np.empty((3, len(self._hidden.numbers) * histories), dtype=np.float32)
        self._factors = np.tile(model.content.astype(np.float32), (histories, 1))

    def factors(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The factors, a row for each row of P(d | H); the next call writes over them."""
        from cepts.kernels.rescaling import lift_words, raise_powers, spread_factors

        lifted, whole, scale = self._scratch[:, : len(self._hidden.numbers) * len(weights)]
        words = lifted.reshape(-1, len(weights))
        lift_words(weights, *self._hidden.lifts, np.float32(LEAST_WEIGHT), words)
        bits = [scratch.view(np.int32) for scratch in (lifted, whole, scale)]
        raise_powers(lifted, bits[0], self._exponent, whole, bits[1], scale, bits[2])
        factors = self._factors[: len(weights)]
        spread_factors(words, self._hidden.numbers, factors)
        return factors


def _shares(parts: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0)
