"""Training n-gram models: interpolated modified Kneser-Ney smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, START, UNKNOWN, Documents, NGrams, Text, Vocabulary, offsets_of
from cepts.engine import Workplace
from cepts.errors import DataError, ModelError, UsageError, check_least
from cepts.estimator import Estimator
from cepts.lm.backoff import BackoffModel, frequent_words, from_arrays, joined_vocabulary, to_arrays, word_numbers
from cepts.lm.ngram_counts import begin_counting, count_ngrams
from cepts.progress import Progress
from cepts.store import load_model, save_model

NGRAMS_KIND = "ngrams"


@dataclass(kw_only=True, eq=False, repr=False)
class KneserNey(Estimator):
    """An n-gram model with interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1998), without pruning.

    Below the highest order, n-grams that do not start a sentence are counted once for each word that occurs before
    them. Unigrams are interpolated with the uniform distribution over all words except ``<s>``. A text may contain
    ``<unk>``, which is then a word like others and also stands for all unknown words.

    This is what KenLM's ``lmplz --discount_fallback`` computes, with two exceptions: a discount of 0 counts as out of
    range, and the counts of counts include all n-grams (``lmplz`` uses the true count of one n-gram of each lower
    order, which may change the discounts a little).

    Parameters
    ----------
    order
        Number of words of the longest n-grams.
    min_count
        Words that occur less often in the text become ``<unk>``.
    fallback
        Discounts for n-grams with counts of 1, 2, and 3 or more, used for orders with too few n-grams to estimate them.

    Attributes
    ----------
    ngrams_
        The fitted model (`cepts.data.NGrams`).

    Examples
    --------
    >>> text = Text.from_tokens([["the", "cell", "divides"], ["the", "cell", "grows"]])
    >>> model = KneserNey(order=2).fit(text)
    >>> print(f"{model.perplexity(text):.1f}")
    3.6
    """

    order: int = 3
    min_count: int = 1
    fallback: Sequence[float] = (0.5, 1.0, 1.5)

    def __post_init__(self) -> None:
        check_least(self, 1, "order", "min_count")
        given = tuple(self.fallback)
        if len(given) != 3 or not all(0 < discount <= count for count, discount in enumerate(given, 1)):
            raise UsageError(f"`fallback` must be three discounts above 0, of at most 1, 2 and 3. Got {given} instead.")

    def fit(
        self,
        text: Text,
        *,
        vocabulary: Vocabulary | None = None,
        notices: list[str] | None = None,
        progress: Progress | None = None,
        workplace: Workplace | None = None,
    ) -> Self:
        """Train on a text.

        Parameters
        ----------
        text
            The sentences; an empty sentence has a start and an end.
        vocabulary
            The words of the model; the first three must be `SPECIAL`, and other words of the text become ``<unk>``.
            Words that do not occur in the text are as probable as an ``<unk>`` that does not occur. By default the
            words of the text.
        notices
            A list to which a note is appended for each order that uses the fallback discounts.
        progress
            Called after each part of the text.
        workplace
            Who counts the n-grams, and where; by default threads of this process, one for each processor.
        """
        vocabulary, numbers = _numbered(text, vocabulary, self.min_count)
        counted = count_ngrams(
            _as_document(text), numbers, len(vocabulary), self.order, workplace or Workplace(), progress
        )
        levels = offsets_of([len(level.words) for level in counted])
        words = np.concatenate([level.words for level in counted])
        branches = [*(level.branches for level in counted[:-1]), np.zeros(len(counted[-1].words), dtype=np.int32)]
        first = levels[1] + offsets_of(np.concatenate(branches))
        suffixes = _suffixes(levels, first, words)
        counts = _adjusted([level.counts for level in counted], levels, suffixes)
        probs, backoffs = _smoothed(counts, levels, first, suffixes, self.fallback, notices)
        self.ngrams_ = NGrams(vocabulary, levels, words, probs, backoffs, first, suffixes)
        return self

    def begin(self, text: Text, *, vocabulary: Vocabulary | None = None, workplace: Workplace) -> None:
        """Put a text into the directory of a workplace, where others can count before `fit` is called."""
        vocabulary, numbers = _numbered(text, vocabulary, self.min_count)
        with workplace.shelf() as shelf:
            begin_counting(shelf, _as_document(text), numbers, len(vocabulary), self.order)

    def log_probs(self, text: Text) -> NDArray[np.float64]:
        """Natural logarithms of P(word | context) of the words of each sentence, each followed by its end."""
        self.check_fitted()
        return BackoffModel(self.ngrams_).log_probs(text)

    def perplexity(self, text: Text) -> float:
        """Perplexity of a text, including sentence ends; unknown words are scored as ``<unk>``."""
        return float(np.exp(-self.log_probs(text).mean()))

    def save(self, directory: str | PathLike[str]) -> None:
        """Save the model to `directory`, completely or not at all."""
        self.check_fitted()
        settings = {"parameters": {**self.get_params(), "fallback": list(self.fallback)}}
        save_model(directory, kind=NGRAMS_KIND, settings=settings, arrays=to_arrays(self.ngrams_))

    @classmethod
    def load(cls, directory: str | PathLike[str], *, threads: int | None = None) -> Self:
        """Load a model that `save` wrote; `threads` is there for other models and has no effect here."""
        saved = load_model(directory, kind=NGRAMS_KIND)
        try:
            model = cls(**saved.settings["parameters"])
            model.ngrams_ = from_arrays(saved.arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{directory} is not a model of this version of cepts ({error}); fit it again.") from error
        return model


def _numbered(text: Text, vocabulary: Vocabulary | None, min_count: int) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The words of the model, and the number among them of each word of the text."""
    if not len(text):
        raise DataError("the text to train n-grams on has no sentences; wanted at least one.")
    frequent = np.bincount(text.ids, minlength=len(text.vocabulary)) >= min_count
    if vocabulary is None:
        vocabulary = joined_vocabulary(frequent_words(text, min_count))
    elif tuple(vocabulary.words[: len(SPECIAL)]) != SPECIAL:
        raise ValueError(f"the first words of `vocabulary` must be {SPECIAL}. Got {vocabulary.words[:3]} instead.")
    return vocabulary, np.where(frequent, word_numbers(text, vocabulary), np.int32(UNKNOWN))


def _as_document(text: Text) -> Documents:
    return Documents(text, offsets_of([len(text)]), ("",))


def _suffixes(levels: NDArray[np.int64], first: NDArray[np.int64], words: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each entry, the entry without its first word; -1 for unigrams."""
    from cepts.kernels.ngrams import link_suffixes

    suffixes = np.full(levels[-1], -1, dtype=np.int64)
    suffixes[levels[1] : levels[min(2, len(levels) - 1)]] = words[levels[1] : levels[min(2, len(levels) - 1)]]
    for start, stop in pairwise(levels[1:-1].tolist()):
        link_suffixes(start, stop, first, words, suffixes)
    return suffixes


def _adjusted(
    counts: list[NDArray[np.int64]], levels: NDArray[np.int64], suffixes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Counts of n-grams; below the highest order, those of different words before them."""
    counts[0][START] = 0
    for n in range(len(counts) - 1):
        longer = suffixes[levels[n + 1] : levels[n + 2]]
        before = np.bincount(longer - levels[n], minlength=len(counts[n]))
        # Only n-grams that start a sentence have no word before them, and they keep their count.
        counts[n] = np.where(before > 0, before, counts[n] if n else 0)
    return counts


def _smoothed(
    counts: list[NDArray[np.int64]],
    levels: NDArray[np.int64],
    first: NDArray[np.int64],
    suffixes: NDArray[np.int64],
    fallback: Sequence[float],
    notices: list[str] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The probability of each entry, and its back-off weight: what it leaves, as a context, to shorter n-grams."""
    backoffs = np.ones(levels[-1], dtype=np.float32)
    probs = np.empty(levels[-1], dtype=np.float32)
    shorter_probs = np.full(1, 1 / (levels[1] - 1))  # uniform over all words except <s>
    for n, count in enumerate(counts):
        discount = np.zeros(4)
        discount[1:] = _discounts(count, n + 1, fallback, notices)
        taken = discount[np.minimum(count, 3)]
        # The contexts of level n are the entries of the level before; unigrams have only the empty context.
        start, stop = levels[max(n - 1, 0)], levels[n]
        contexts = stop - start if n else 1
        context = np.repeat(np.arange(contexts), np.diff(first[start : stop + 1]) if n else len(count))
        total = np.bincount(context, weights=count, minlength=contexts)
        left = np.bincount(context, weights=taken, minlength=contexts)
        with np.errstate(invalid="ignore"):
            weight = np.where(total > 0, left / total, 1.0)
        if n:
            backoffs[start:stop] = weight
        shorter = shorter_probs[suffixes[levels[n] : levels[n + 1]] - start] if n else shorter_probs
        shorter_probs = (count - taken) / total[context] + weight[context] * shorter
        if n == 0:
            shorter_probs[START] = 0
        probs[levels[n] : levels[n + 1]] = shorter_probs
    return probs, backoffs


def _discounts(
    counts: NDArray[np.int64], order: int, fallback: Sequence[float], notices: list[str] | None
) -> NDArray[np.float64]:
    """Discounts for counts of 1, 2, and 3 or more (Chen and Goodman 1998, eq. 26)."""
    seen = np.bincount(np.minimum(counts, 5), minlength=6)[:5]
    if seen[1:4].all():
        once = seen[1] / (seen[1] + 2 * seen[2])
        several = np.arange(1, 4)
        discounts: NDArray[np.float64] = several - (several + 1) * once * seen[2:5] / seen[1:4]
        if np.all((discounts > 0) & (discounts <= several)):
            return discounts
    if notices is not None:
        shown = ", ".join(f"{discount:g}" for discount in fallback)
        notices.append(
            f"too few {order}-grams to estimate their discounts (numbers seen once to four times: "
            f"{', '.join(f'{count:,}' for count in seen[1:].tolist())}); {shown} are used instead."
        )
    return np.array(fallback, dtype=np.float64)
