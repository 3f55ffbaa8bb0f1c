"""What an adapted model learns: n-grams, hidden documents and caches in one distribution over the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, START, UNKNOWN, NGrams, Text, Vocabulary
from cepts.engine import map_shards
from cepts.errors import DataError, ModelError, UsageError, check_choice
from cepts.lm.background import Background, Trace
from cepts.lm.backoff import ARRAYS, word_numbers
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache, CacheTracker
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryModel, HistoryOptions, Tracker
from cepts.lm.projection import ProjectedWords
from cepts.names import MIXTURES

BLOCK = 16  # histories whose lifts are in memory at once
CHUNK = 8192  # content words whose P(d | H) are in memory at once
SHARD = 256  # histories that a thread takes at a time
LEAST_WEIGHT = 1e-3  # hidden documents with a smaller P(d | H) do not rescale words
# What the settings of a saved model call each; models of older versions only say that there are hidden documents.
HISTORY_MODELS: dict[Any, Any] = {
    True: HiddenDocuments,
    **{kind.KIND: kind for kind in (HiddenDocuments, ProjectedWords)},
}
MOST_EXPONENT = 4.0  # with a larger exponent of rescaling, powers may leave single precision


def components_of(mixture: str, hidden: bool, rescaling: bool, caches: Sequence[Cache]) -> tuple[str, ...]:
    """The names of the components of a mixture, in order."""
    names = ["ngram"]
    if hidden and rescaling and mixture == "class":
        names.append("rescaled")
    if hidden:
        names.append("hidden")
    return (*names, *(f"cache {cache}" for cache in caches))


def mix(
    probs: NDArray[np.float64],
    masses: NDArray[np.float64] | float,
    columns: NDArray[np.float64],
    content: NDArray[np.bool_],
    weights: NDArray[np.float64],
    mixture: str,
) -> NDArray[np.float64]:
    """P(word | h, H) from the probabilities of the background and of the components.

    ``literal`` is eq. (17) of nmf_lm for any number of components. ``class`` keeps the n-gram's probabilities of
    function words, and divides its total probability of content words among them by the mixture of the components.
    """
    if mixture == "literal":
        return np.asarray(weights[0] * probs + columns[:, 1:] @ weights[1:])
    return np.where(content, masses * (columns @ weights), probs)


class Lifting:
    """(P(w | H) / P(w)) ** exponent of every word, for several histories at a time; buffers are allocated once.

    Content words that the hidden documents do not have keep a factor of 1; other words have 0 and are ignored.
    """

    def __init__(self, model: Predictor, *, histories: int = 1) -> None:
        assert isinstance(model.hidden, HiddenDocuments)
        self._hidden = model.hidden
        self._exponent = np.float32(model.exponent)
        self._scratch = np.empty((3, len(self._hidden.numbers) * histories), dtype=np.float32)
        self._factors = np.tile(model.content.astype(np.float32), (histories, 1))

    def factors(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The factors, with one row for each row of P(d | H); the next call overwrites them."""
        from cepts.kernels.rescaling import lift_words, raise_powers, spread_factors

        lifted, whole, scale = self._scratch[:, : len(self._hidden.numbers) * len(weights)]
        words = lifted.reshape(-1, len(weights))
        share = np.empty(len(weights), dtype=np.float32)
        lift_words(weights, *self._hidden.lifts, np.float32(LEAST_WEIGHT), share, words)
        bits = [scratch.view(np.int32) for scratch in (lifted, whole, scale)]
        raise_powers(lifted, bits[0], self._exponent, whole, bits[1], scale, bits[2])
        factors = self._factors[: len(weights)]
        spread_factors(words, self._hidden.numbers, factors)
        return factors


@dataclass(slots=True, eq=False)
class Memory:
    """What an adapted model remembers of the text so far; scoring more text changes it, so `copy` it to keep it."""

    tracker: Tracker | None
    caches: CacheTracker

    def copy(self) -> Memory:
        """An independent copy."""
        return Memory(self.tracker.copy() if self.tracker else None, self.caches.copy())


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A scored text: the probabilities that each component gives to its words and sentence ends.

    Attributes
    ----------
    ids
        The numbers of the words, with `END` after each sentence.
    probs
        P(word | its context) of the background.
    members
        The same for each model of the background, with one column for each model.
    masses
        P(content word | context) if the word is a content word; otherwise 0.
    columns
        For content words, their probability among all content words, with one column for each component; otherwise 0.
    content
        Whether the word is a content word.
    """

    ids: NDArray[np.int32]
    probs: NDArray[np.float64]
    members: NDArray[np.float64]
    masses: NDArray[np.float64]
    columns: NDArray[np.float64]
    content: NDArray[np.bool_]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each word is in the vocabulary."""
        return self.ids != UNKNOWN

    def mixed(self, weights: NDArray[np.float64], mixture: str) -> NDArray[np.float64]:
        """P(word | h, H) of each word, with these weights of the components."""
        return mix(self.probs, self.masses, self.columns, self.content, weights, mixture)

    def perplexity(self, probs: NDArray[np.float64]) -> float:
        """Perplexity of the known words and the sentence ends if these are the probabilities of all words."""
        with np.errstate(divide="ignore"):
            return float(np.exp(-np.log(probs[self.known]).mean()))


@dataclass(frozen=True, eq=False)
class Predictor:
    """The distribution that an adapted model has learnt.

    P(w | h, H) is the probability of the next word w, given the n - 1 words before it (h) and all content words before
    it (H).

    Attributes
    ----------
    background
        The n-gram model or models.
    content
        Which words of the vocabulary are content words; only the n-grams predict the others.
    hidden
        The hidden documents, or the projections of LSA in their place; None for a model without them.
    weights
        Weights of the `components`; they add up to 1.
    history, caches, mixture
        How P(d | H) is found, the caches of content words, and how the components are mixed; see `AdaptedModel`.
    exponent
        Exponent of unigram rescaling, ``P(w | h) x (P(w | H) / P(w)) ** exponent / Z`` among content words; 0 turns
        rescaling off.
    """

    background: Background
    content: NDArray[np.bool_]
    hidden: HistoryModel | None
    weights: NDArray[np.float64]
    history: HistoryOptions = field(default_factory=HistoryOptions)
    caches: tuple[Cache, ...] = ()
    mixture: str = "class"
    exponent: float = 0.0

    def __post_init__(self) -> None:
        check_choice("mixture", self.mixture, MIXTURES)
        if not 0 <= self.exponent <= MOST_EXPONENT:
            raise UsageError(f"`exponent` must be 0 to {MOST_EXPONENT:g}. Got {self.exponent} instead.")
        if self.hidden is not None and not self.content[self.hidden.numbers].all():
            raise ValueError("the words of hidden documents must be content words. Got other words, too.")
        if self.exponent and self.hidden is not None and not isinstance(self.hidden, HiddenDocuments):
            raise ValueError(f"rescaling needs hidden documents. Got {self.hidden.KIND} instead.")
        if len(self.weights) != len(self.components):
            raise ValueError(f"`weights` must have one for each of {self.components}. Got {len(self.weights)} instead.")

    @property
    def vocabulary(self) -> Vocabulary:
        """The words."""
        return self.background.vocabulary

    @cached_property
    def components(self) -> tuple[str, ...]:
        """Names of the components, in the order of their weights."""
        return components_of(self.mixture, self.hidden is not None, self.exponent > 0, self.caches)

    def memory(self) -> Memory:
        """An empty memory."""
        tracker = self.hidden.tracker(self.history) if self.hidden is not None else None
        return Memory(tracker, CacheTracker(self.caches, len(self.vocabulary)))

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The row of each word in the hidden documents; -1 for words that they do not have."""
        found = np.full(len(self.vocabulary), -1, dtype=np.int32)
        if self.hidden is not None:
            found[self.hidden.numbers] = np.arange(len(self.hidden.numbers), dtype=np.int32)
        return found

    @cached_property
    def remembered(self) -> NDArray[np.bool_]:
        """Which words of the vocabulary the history holds: content words or, if it counts them, all words."""
        kept = np.full_like(self.content, self.history.all_words)
        kept[[START, END]] = False
        return self.content | kept

    def score(self, text: Text, memory: Memory, *, threads: int | None = None) -> Scored:
        """Score a text that follows the text in `memory`, and add it to `memory`."""
        ids = word_numbers(text, self.vocabulary)[text.ids]
        trace = self.background.trace(ids, text.offsets)
        targets = np.insert(ids, text.offsets[1:], np.int32(END))
        content = self.content[targets]
        places = np.flatnonzero(content)
        words = targets[places]
        masses, columns = np.zeros(len(targets)), np.zeros((len(targets), len(self.components)))
        masses[places] = self.background.masses(trace.at(places))
        found = np.empty((len(places), len(self.components)))
        found[:, 0] = _shares(trace.probs[places], masses[places])
        if memory.tracker is not None:
            told = ids[self.remembered[ids]]
            wanted = np.flatnonzero(self.content[told])
            followed = 0
            for start in range(0, max(len(places), 1), CHUNK):
                part = slice(start, start + CHUNK)
                stop = int(wanted[part.stop]) if part.stop < len(wanted) else len(told)
                states = memory.tracker.follow(self.rows[told[followed:stop]], wanted[part] - followed)
                self._score_hidden(words[part], places[part], trace, states, found[part], threads)
                followed = stop
        caches = memory.caches.follow(words)
        found[:, len(self.components) - len(self.caches) :] = np.where(caches < 0, found[:, :1], caches)
        columns[places] = found
        return Scored(targets, trace.probs, trace.members, masses, columns, content)

    def mixed(self, scored: Scored) -> NDArray[np.float64]:
        """P(word | h, H) of the words and sentence ends of a scored text."""
        return scored.mixed(self.weights, self.mixture)

    def _score_hidden(
        self,
        words: NDArray[np.int32],
        places: NDArray[np.int64],
        trace: Trace,
        states: NDArray[np.float32],
        found: NDArray[np.float64],
        threads: int | None,
    ) -> None:
        """Fill the columns of the hidden documents and of the rescaled background."""
        assert self.hidden is not None
        found[:, self.components.index("hidden")] = self.hidden.probs(self.rows[words], states)
        if "rescaled" not in self.components:
            return

        def rescaled(start: int) -> NDArray[np.float64]:
            """P(w | h) x (P(w | H) / P(w)) ** exponent / Z for some of the words."""
            shard = range(start, min(start + SHARD, len(words)), BLOCK)
            lifting = Lifting(self, histories=min(BLOCK, len(words) - start))
            shares = []
            for part in (slice(first, min(first + BLOCK, shard.stop)) for first in shard):
                block = lifting.factors(states[part])
                own = block[np.arange(len(block)), words[part]]
                sums = self.background.factored(trace.at(places[part]), block)
                shares.append(_shares(trace.probs[places[part]] * own, sums))
            return np.concatenate(shares)

        column = found[:, self.components.index("rescaled")]
        shards = range(0, len(words), SHARD)
        for start, shares in zip(shards, map_shards(rescaled, shards, threads=threads), strict=True):
            column[start : start + SHARD] = shares

    def remembering(self, memory: Memory, words: NDArray[np.int32]) -> Memory:
        """A copy of a memory that also has these words, all of which are `remembered`."""
        after = memory.copy()
        if after.tracker is not None:
            after.tracker.follow(self.rows[words])
        after.caches.follow(words[self.content[words]])
        return after

    def distribution(self, contexts: tuple[Any, ...], memory: Memory) -> NDArray[np.float64]:
        """P(w | h, H) of every word of the vocabulary, after the words that `contexts` and `memory` represent."""
        probs = self.background.distribution(contexts)
        frozen = Frozen(self, memory)
        mass = np.full(1, probs[self.content].sum())
        rescaled = mass if frozen.factors is None else np.full(1, probs @ frozen.factors)
        return frozen.mixed(np.arange(len(probs), dtype=np.int32), probs, mass, rescaled)


def _shares(parts: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0)


class Frozen:
    """Probabilities that the components give to each word, with a fixed memory."""

    def __init__(self, model: Predictor, memory: Memory) -> None:
        self._model = model
        self.factors: NDArray[np.float32] | None = None  # of rescaling; 0 for words that are not content words
        names = model.components
        self._fixed = np.zeros((len(model.vocabulary), len(names)))
        if memory.tracker is not None:
            hidden = model.hidden
            assert hidden is not None
            weights = memory.tracker.copy().follow(np.full(1, -1, dtype=np.int32))
            self._fixed[hidden.numbers, names.index("hidden")] = hidden.distribution(weights[0])
            if "rescaled" in names:
                self.factors = Lifting(model).factors(weights)[0]
        caches = memory.caches.distributions()
        first = len(names) - len(caches)
        self._fixed[:, first:] = caches.T
        # Components with the probabilities of the n-gram: the n-gram itself, and empty caches.
        self._plain = [0, *(first + number for number, cache in enumerate(caches) if not cache.any())]

    def mixed(
        self,
        words: NDArray[np.int32],
        probs: NDArray[np.float64],
        masses: NDArray[np.float64],
        rescaled: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """P(word | context) of some words, from the `probs` of the background and its masses of content words."""
        model = self._model
        content = model.content[words]
        columns = self._fixed[words]
        # If a context gives no mass to content words, each of them has probability 0.
        columns[:, self._plain] = (np.where(content, probs, 0) / np.where(masses > 0, masses, np.inf))[:, None]
        if self.factors is not None:
            lifted = probs * self.factors[words] / np.where(rescaled > 0, rescaled, np.inf)
            columns[:, model.components.index("rescaled")] = lifted
        return mix(probs, masses, columns, content, model.weights, model.mixture)


def predictor_parts(predictor: Predictor) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings of a predictor as JSON values, and its arrays by name; of a KenLM binary only path, size, digest."""
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary.words": predictor.vocabulary.buffer,
        "vocabulary.offsets": predictor.vocabulary.offsets,
        "content": predictor.content,
        "weights": predictor.weights,
        "interpolation": predictor.background.weights,
    }
    binaries: list[dict[str, Any] | None] = []
    for number, ngrams in enumerate(predictor.background.models):
        if isinstance(ngrams, KenLMModel):
            path = Path(ngrams.path).resolve()
            binaries.append({"path": str(path), "bytes": path.stat().st_size, "sha256": ngrams.sha256()})
        else:
            binaries.append(None)
            arrays |= {f"ngrams{number}.{name}": getattr(ngrams, name) for name in ARRAYS}
    if predictor.hidden is not None:
        arrays |= {f"hidden.{name}": getattr(predictor.hidden, name) for name in predictor.hidden.ARRAYS}
    settings = {
        "history": asdict(predictor.history),
        "caches": [str(cache) for cache in predictor.caches],
        "mixture": predictor.mixture,
        "exponent": predictor.exponent,
        "hidden": predictor.hidden.KIND if predictor.hidden is not None else None,
        "binaries": binaries,
    }
    return settings, arrays


def predictor_from(directory: str | PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> Predictor:
    """The predictor of these settings and arrays; messages name the directory."""
    vocabulary = Vocabulary(arrays["vocabulary.words"], arrays["vocabulary.offsets"])
    models: list[NGrams | KenLMModel] = []
    for number, binary in enumerate(settings["binaries"]):
        if binary:
            models.append(_binary(directory, binary))
        else:
            models.append(NGrams(vocabulary, *(arrays[f"ngrams{number}.{name}"] for name in ARRAYS)))
    content = arrays["content"]
    hidden = None
    if settings["hidden"]:
        kind = HISTORY_MODELS[settings["hidden"]]
        hidden = kind(**{name: arrays[f"hidden.{name}"] for name in kind.ARRAYS})
    return Predictor(
        Background(models, vocabulary, content, arrays["interpolation"]),
        content,
        hidden,
        arrays["weights"],
        HistoryOptions(**settings["history"]),
        tuple(Cache.from_text(text) for text in settings["caches"]),
        settings["mixture"],
        settings["exponent"],
    )


def _binary(directory: str | PathLike[str], kept: dict[str, Any]) -> KenLMModel:
    path, size = Path(kept["path"]), kept["bytes"]
    if path.is_file() and path.stat().st_size != size:
        raise ModelError(
            f"{directory} was fitted with {path} of {size:,} bytes, but now the file has {path.stat().st_size:,}; fit "
            f"the model again."
        )
    try:
        return KenLMModel(path, sha256=kept.get("sha256"))
    except (DataError, UsageError) as error:
        raise ModelError(f"{directory} needs a file that it does not contain: {error}") from error
