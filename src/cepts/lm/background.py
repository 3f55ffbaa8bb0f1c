"""The n-gram background: one model, or several in a linear interpolation, over one vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, NGrams, Vocabulary
from cepts.lm.backoff import BackoffModel
from cepts.lm.binary import KenLMModel

Context = Any  # the words before the next one, as a member represents them: an entry of its trie, or a state of KenLM
Contexts = Any  # an array or a list of contexts


class KenLMMember:
    """A KenLM binary. Its sums go over whole distributions, word by word, which is exact but slow."""

    def __init__(self, model: KenLMModel, vocabulary: Vocabulary, content: NDArray[np.bool_]) -> None:
        self._model = model
        self._content = content
        self._own = np.maximum(model.vocabulary.numbers(vocabulary.words), 0)
        # <unk> and the words that the binary lacks share the probability of <unk> equally.
        lacking = self._own == 0
        self._shares = np.where(lacking, 1 / int(lacking.sum()), 1.0)
        self.start = model.start

    def advance(self, context: Context, word: int) -> tuple[float, Context]:
        """P(word | context), and the context after the word."""
        prob, following = self._model.advance(context, int(self._own[word]))
        return prob * float(self._shares[word]), following

    def distribution(self, context: Context) -> NDArray[np.float64]:
        """P(word | context) of every word."""
        found: NDArray[np.float64] = self._model.distribution(context)[self._own] * self._shares
        return found

    def trace(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[Context]]:
        """P(word | context) of each word and each sentence end, and the contexts."""
        probs: list[float] = []
        contexts: list[Context] = []
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            context = self.start
            for word in (*ids[start:stop].tolist(), END):
                contexts.append(context)
                prob, context = self.advance(context, word)
                probs.append(prob)
        return np.array(probs), contexts

    def content_masses(self, contexts: Contexts) -> NDArray[np.float64]:
        """P(content word | context) in each context."""
        return np.array([self.distribution(context)[self._content].sum() for context in contexts])

    def factored(self, contexts: Contexts, factors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Sum over words of P(word | context) x factor; `factors` has one row for each context."""
        rows = zip(contexts, factors, strict=True)
        return np.array([self.distribution(context) @ row for context, row in rows])


class Trace(NamedTuple):
    """Probabilities and contexts of the words of a text and of its sentence ends.

    Attributes
    ----------
    probs, members
        P(word | context) by the background, and by each member, with one column for each member.
    contexts
        The contexts of each member.
    """

    probs: NDArray[np.float64]
    members: NDArray[np.float64]
    contexts: list[Contexts]

    def at(self, places: NDArray[np.int64]) -> list[Contexts]:
        """The contexts of each member at these places."""
        return [
            member[places] if isinstance(member, np.ndarray) else [member[place] for place in places.tolist()]
            for member in self.contexts
        ]


class Background:
    """The n-gram background of an adapted model: a linear interpolation of one or more n-gram models.

    P(w | h) is the sum of weight x P(w | h) over the models.

    Parameters
    ----------
    models
        N-gram models over `vocabulary` (`NGrams`), or KenLM binaries whose words are all in it.
    vocabulary
        The words.
    content
        Which words of `vocabulary` are content words.
    weights
        Weights of the models; by default they are equal.
    """

    def __init__(
        self,
        models: Sequence[NGrams | KenLMModel],
        vocabulary: Vocabulary,
        content: NDArray[np.bool_],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.models = list(models)
        self.vocabulary = vocabulary
        self.weights = np.full(len(self.models), 1 / len(self.models)) if weights is None else np.asarray(weights)
        self._members: list[BackoffModel | KenLMMember] = []
        for model in models:
            if isinstance(model, KenLMModel):
                if np.any(vocabulary.numbers(model.vocabulary.words) < 0):
                    raise ValueError("a background must be over a vocabulary that has all words of its binaries.")
                self._members.append(KenLMMember(model, vocabulary, content))
            else:
                if len(model.vocabulary) != len(vocabulary):
                    raise ValueError("the models of a background must be over its vocabulary; see with_vocabulary.")
                self._members.append(BackoffModel(model, content))

    def weighted(self, weights: NDArray[np.float64]) -> Background:
        """The same models with other weights; results that are already computed are shared."""
        found = copy(self)
        found.weights = weights
        return found

    def __iter__(self) -> Any:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def mixed(self, columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The weighted sum of one array for each member."""
        return np.asarray(sum(weight * column for weight, column in zip(self.weights, columns, strict=True)))

    @property
    def start(self) -> tuple[Context, ...]:
        """Contexts of the members at the start of a sentence."""
        return tuple(member.start for member in self._members)

    def advance(self, contexts: tuple[Context, ...], word: int) -> tuple[float, tuple[Context, ...]]:
        """P(word | contexts), and the contexts after the word."""
        steps = [member.advance(context, word) for member, context in zip(self._members, contexts, strict=True)]
        return float(sum(w * p for w, (p, _) in zip(self.weights, steps, strict=True))), tuple(c for _, c in steps)

    def distribution(self, contexts: tuple[Context, ...]) -> NDArray[np.float64]:
        """P(word | contexts) of every word of the vocabulary."""
        return self.mixed([m.distribution(c) for m, c in zip(self._members, contexts, strict=True)])

    def masses(self, contexts: Sequence[Contexts]) -> NDArray[np.float64]:
        """P(content word | context) for several contexts of each member."""
        return self.mixed([m.content_masses(c) for m, c in zip(self._members, contexts, strict=True)])

    def factored(self, contexts: Sequence[Contexts], factors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Sum over words of P(word | context) x factor, for several contexts of each member.

        `factors` has one row for each context.
        """
        return self.mixed([m.factored(c, factors) for m, c in zip(self._members, contexts, strict=True)])

    def trace(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> Trace:
        """P(word | context) of each word and each sentence end, and the contexts."""
        probs, contexts = zip(*(member.trace(ids, offsets) for member in self._members), strict=True)
        members = np.stack(probs, axis=1)
        return Trace(members @ self.weights, members, list(contexts))
