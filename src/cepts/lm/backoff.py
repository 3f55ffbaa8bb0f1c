"""Using n-gram models: scoring texts word by word, distributions, masses of word classes, other vocabularies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, SPECIAL, START, UNKNOWN, NGrams, Text, Vocabulary, offsets_of
from cepts.errors import DataError

if TYPE_CHECKING:
    from cepts.kernels.ngrams import Trie

ARRAYS = ("levels", "words", "probs", "backoffs", "first", "suffixes")  # the arrays of `NGrams`, in order


def word_numbers(text: Text, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The number in `vocabulary` of each word of the text's own vocabulary; `UNKNOWN` for words that it lacks.

    A text with ``<s>`` or ``</s>``, which models add themselves, is refused.
    """
    for number in text.vocabulary.numbers(SPECIAL[1:]).tolist():
        uses = np.flatnonzero(text.ids == number) if number >= 0 else np.empty(0, np.int64)
        if len(uses):
            sentence = int(np.searchsorted(text.offsets, uses[0], side="right"))
            raise DataError(
                f"sentence {sentence:,}: found the word {text.vocabulary[number]}, wanted sentences without marks of "
                f"start and end, because models add them; remove it."
            )
    if text.vocabulary is vocabulary:  # as after `renumbered`
        return np.arange(len(vocabulary), dtype=np.int32)
    return np.maximum(vocabulary.numbers(text.vocabulary.words), UNKNOWN)


def renumbered(text: Text, vocabulary: Vocabulary) -> Text:
    """The same text with the word numbers of another vocabulary; `UNKNOWN` for words that it lacks."""
    return Text(word_numbers(text, vocabulary)[text.ids], text.offsets, vocabulary)


def frequent_words(text: Text, least: int) -> Vocabulary:
    """The words that a text has `least` times or more."""
    counts = np.bincount(text.ids, minlength=len(text.vocabulary)).tolist()
    return Vocabulary.from_words(
        word for word, count in zip(text.vocabulary.words, counts, strict=True) if count >= least
    )


def joined_vocabulary(*parts: Vocabulary | Text | NGrams) -> Vocabulary:
    """`SPECIAL`, then the words of vocabularies, texts and models, each once, in their order."""
    words = dict.fromkeys(SPECIAL)
    for part in parts:
        words |= dict.fromkeys((part if isinstance(part, Vocabulary) else part.vocabulary).words)
    return Vocabulary.from_words(words)


class BackoffModel:
    """An n-gram model in use: P(word | the words before it).

    A context is an entry of the model, or -1 for the empty context; words are numbers of its vocabulary.

    Parameters
    ----------
    ngrams
        The model.
    content
        Which words of its vocabulary are content words; by default all are.
    """

    def __init__(self, ngrams: NGrams, content: NDArray[np.bool_] | None = None) -> None:
        self.ngrams = ngrams
        self._content = np.ones(len(ngrams.vocabulary), dtype=np.bool_) if content is None else content

    @cached_property
    def trie(self) -> Trie:
        """The arrays of the model in the form that kernels take."""
        from cepts.kernels.ngrams import Trie

        ngrams = self.ngrams
        arrays = ngrams.first, ngrams.words, ngrams.probs, ngrams.backoffs, ngrams.suffixes
        return Trie(*arrays, int(ngrams.levels[-2]))

    @property
    def vocabulary(self) -> Vocabulary:
        """The words."""
        return self.ngrams.vocabulary

    @property
    def start(self) -> int:
        """The context at the start of a sentence."""
        return START if self.ngrams.order > 1 else -1

    def advance(self, context: int, word: int) -> tuple[float, int]:
        """P(word | context), and the context after the word."""
        from cepts.kernels.ngrams import ngram_step

        prob, following = ngram_step(*self.trie, context, word)
        return float(prob), int(following)

    def log_probs(self, text: Text) -> NDArray[np.float64]:
        """Natural logarithms of P(word | context) of the words of each sentence, each followed by its end."""
        with np.errstate(divide="ignore"):
            return np.log(self.trace(word_numbers(text, self.vocabulary)[text.ids], text.offsets)[0])

    def trace(
        self, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """P(word | context) of each word and each sentence end, and the contexts."""
        from cepts.kernels.ngrams import trace_sentences

        places = len(ids) + len(offsets) - 1
        probs, contexts = np.empty(places), np.empty(places, dtype=np.int64)
        trace_sentences(self.trie, self.start, END, ids, offsets, probs, contexts)
        return probs, contexts

    def distribution(self, context: int) -> NDArray[np.float64]:
        """P(word | context) of every word of the vocabulary."""
        from cepts.kernels.ngrams import ngram_distribution

        distribution = np.empty(len(self.vocabulary))
        ngram_distribution(self.trie, context, np.empty(self.ngrams.order, dtype=np.int64), distribution)
        return distribution

    def masses(self, factors: NDArray[np.generic]) -> NDArray[np.float64]:
        """Sum over words of P(word | context) x factor, for each context.

        With factors of 1 and 0, it is the probability of a class of words. The last sum is that of the empty context,
        so that the index -1 finds it.
        """
        from cepts.kernels.ngrams import weighted_masses

        masses = np.empty(int(self.ngrams.levels[-2]) + 1)
        weighted_masses(self.trie, np.ascontiguousarray(factors, dtype=np.float32), masses)
        return masses

    @cached_property
    def _content_masses(self) -> NDArray[np.float64]:
        return self.masses(self._content)

    @cached_property
    def _excess(self) -> NDArray[np.float32]:
        from cepts.kernels.rescaling import excess_probs

        excess = np.empty(len(self.ngrams), dtype=np.float32)
        excess_probs(self.trie, len(self.vocabulary), excess)
        return excess

    def content_masses(self, contexts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """P(content word | context) in each context."""
        return self._content_masses[np.asarray(contexts, dtype=np.int64)]

    def factored(
        self, contexts: Sequence[int] | NDArray[np.int64], factors: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Sum over words of P(word | context) x factor; `factors` has one row for each context."""
        from cepts.kernels.rescaling import factored_masses

        found, path = np.empty(len(contexts)), np.empty(self.ngrams.order, dtype=np.int64)
        factored_masses(self.trie, self._excess, np.asarray(contexts, dtype=np.int64), factors, path, found)
        return found


def with_vocabulary(ngrams: NGrams, vocabulary: Vocabulary) -> NGrams:
    """The same n-gram model over a larger vocabulary, whose first words are `SPECIAL`.

    ``<unk>`` and the new words share the probability of ``<unk>`` equally. N-grams that end in ``<unk>`` lose the
    probability that the new words get there by backing off, so that all words still sum to 1, unless such an n-gram has
    too little to give, which can happen in a model that is not interpolated.
    """
    numbers = vocabulary.numbers(ngrams.vocabulary.words).astype(np.int64)
    if np.any(numbers < 0) or not np.array_equal(numbers[: len(SPECIAL)], np.arange(len(SPECIAL))):
        raise ValueError("`vocabulary` must start with SPECIAL and contain all words of the model.")
    size, lacking = len(vocabulary), len(vocabulary) - len(numbers)
    probs = ngrams.probs.astype(np.float64)
    contexts = ngrams.contexts
    shared = probs[UNKNOWN] * lacking / (lacking + 1)
    probs[UNKNOWN] -= shared

    # The mass of the new words after each entry is a product of back-off weights, because they are never continuations.
    masses = np.append(np.empty(len(ngrams)), shared)
    levels = ngrams.levels.tolist()
    words = ngrams.words.astype(np.int64)
    for start, stop in pairwise(levels[:-1]):
        masses[start:stop] = ngrams.backoffs[start:stop] * masses[ngrams.suffixes[start:stop]]
    unknown = np.flatnonzero(words[size - lacking :] == UNKNOWN) + (size - lacking)
    probs[unknown] = np.maximum(probs[unknown] - masses[contexts[unknown]], 0)

    places = [numbers]  # where each entry goes
    for start, stop in pairwise(levels[1:]):
        before = np.concatenate(places)
        keys = before[contexts[start:stop]] * size + numbers[words[start:stop]]
        place = np.empty(stop - start, dtype=np.int64)
        place[np.argsort(keys)] = np.arange(stop - start)
        places.append(place + start + lacking)
    moved = np.concatenate(places)

    count = len(ngrams) + lacking
    new_words = np.arange(count, dtype=np.int32)
    new_words[moved] = numbers[words]
    new_probs = np.full(count, probs[UNKNOWN])
    new_probs[moved] = probs
    backoffs = np.ones(count, dtype=np.float32)
    backoffs[moved] = ngrams.backoffs
    suffixes = np.full(count, -1, dtype=np.int64)
    suffixes[moved] = np.where(ngrams.suffixes >= 0, moved[ngrams.suffixes], -1)
    continuations = np.zeros(count, dtype=np.int64)
    continuations[moved] = np.diff(ngrams.first)
    return NGrams(
        vocabulary,
        np.array([0, *(level + lacking for level in levels[1:])], dtype=np.int64),
        new_words,
        new_probs.astype(np.float32),
        backoffs,
        size + offsets_of(continuations),
        suffixes,
        ngrams.source,
    )


def to_arrays(ngrams: NGrams) -> dict[str, NDArray[Any]]:
    """The model as named arrays, for model directories."""
    vocabulary = ngrams.vocabulary
    return {
        "vocabulary.words": vocabulary.buffer[vocabulary.offsets[0] : vocabulary.offsets[-1]],
        "vocabulary.offsets": vocabulary.offsets - vocabulary.offsets[0],
        **{name: getattr(ngrams, name) for name in ARRAYS},
    }


def from_arrays(arrays: Mapping[str, Any]) -> NGrams:
    """The model of `to_arrays`."""
    vocabulary = Vocabulary(arrays["vocabulary.words"], arrays["vocabulary.offsets"])
    return NGrams(vocabulary, *(arrays[name] for name in ARRAYS))
