"""Hidden documents: distributions of words that come together, and how a history chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents
from cepts.errors import DataError, UsageError
from cepts.factor import poisson_nmf, symmetric_nmf
from cepts.lm.counts import document_counts, window_counts
from cepts.progress import Progress

__all__ = ["SEGMENTATIONS", "HiddenDocuments", "HistoryOptions", "Segmentation", "fit_hidden_documents"]

Segmentation = Literal["implicit", "explicit"]
SEGMENTATIONS: tuple[Segmentation, ...] = get_args(Segmentation)
# Shares of P(word | d) below this lift no word (P(word | d) itself keeps them).
SMALLEST_SHARE = 1e-6
MOST_HISTORY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """How P(d | H) is found of the content words before the predicted one.

    Attributes
    ----------
    size
        Use the last so many words with equal weight, eq. (16) of nmf_lm; 0 lets all words count, the older the less.
    steps
        EM steps from the priors for each history of that `size`; 1 is eqs. (15) and (16), more are the fold-in of PLSA.
    decay
        Where `size` is 0: what a word's say shrinks to with each word that follows. Each word is shared out among the
        hidden documents once, when it is read, by what was known then: EM that runs along with the text.
    strength
        Where `size` is 0: how many words the priors P(d) are worth.
    background
        Share of words that tell nothing of what the text is on; they are not asked.
    """

    size: int = 0
    steps: int = 5
    decay: float = 0.95
    strength: float = 0.5
    background: float = 0.3

    def __post_init__(self) -> None:
        for name, ok, wanted in (
            ("size", 0 <= self.size <= MOST_HISTORY, f"0 to {MOST_HISTORY:,}"),
            ("steps", self.steps >= 1, "1 or more"),
            ("decay", 0 < self.decay <= 1, "above 0 and at most 1"),
            ("strength", 0 < self.strength < np.inf, "above 0"),
            ("background", 0 <= self.background < 1, "0 or more and below 1"),
        ):
            if not ok:
                raise UsageError(f"{name} of the history must be {wanted}. Got {getattr(self, name)} instead.")


class Lifts(NamedTuple):
    """P(word | d) / P(word) of the words that each hidden document has, hidden document by hidden document."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    lifts: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """P(word | d) of hidden documents d, and P(d).

    Attributes
    ----------
    words
        P(word | d), a row a word that the hidden documents have; the columns add up to 1 (float32).
    priors
        P(d) (float32).
    numbers
        The number of each row's word in the vocabulary of the whole model (int32, rising).
    """

    words: NDArray[np.float32]
    priors: NDArray[np.float32]
    numbers: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.priors)

    @cached_property
    def marginals(self) -> NDArray[np.float32]:
        """P(word) of each row."""
        return (self.words.astype(np.float64) @ self.priors.astype(np.float64)).astype(np.float32)

    @cached_property
    def lifts(self) -> Lifts:
        """What a hidden document makes of each word's probability; for rescaling."""
        kept = np.where(self.words >= SMALLEST_SHARE, self.words, 0) / np.maximum(self.marginals, 1e-30)[:, None]
        documents, members = np.nonzero(kept.T)
        starts = np.searchsorted(documents, np.arange(len(self) + 1))
        return Lifts(starts, members.astype(np.int32), kept.T[documents, members].astype(np.float32))

    def rows(self, size: int) -> NDArray[np.int32]:
        """Row of each of `size` words of the vocabulary; -1 where the hidden documents do not have it."""
        found = np.full(size, -1, dtype=np.int32)
        found[self.numbers] = np.arange(len(self.numbers), dtype=np.int32)
        return found

    def estimated_priors(self, rows: NDArray[np.int32], options: HistoryOptions) -> NDArray[np.float64]:
        """P(d) as the mean of P(d | h) over all histories of a text, eq. (18) of nmf_lm.

        `rows` are the rows of the text's words, in order.
        """
        tracker = Tracker(self, options)
        total = np.zeros(len(self))
        for start in range(0, len(rows), 4096):
            total += tracker.follow(rows[start : start + 4096]).sum(axis=0, dtype=np.float64)
        return total / max(len(rows), 1)


class Tracker:
    """P(d | H) along a text, word by word; remembers the words that it has followed."""

    def __init__(self, hidden: HiddenDocuments, options: HistoryOptions) -> None:
        self.hidden = hidden
        self.options = options
        self.seen = np.zeros(len(hidden), dtype=np.float32)
        self.weights = hidden.priors.copy()
        self.recent = np.full(options.size, -1, dtype=np.int32)

    def copy(self) -> Tracker:
        """One that goes on from here by itself."""
        twin = Tracker(self.hidden, self.options)
        twin.seen, twin.weights, twin.recent = self.seen.copy(), self.weights.copy(), self.recent.copy()
        return twin

    def follow(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """P(d | H) before each word of `rows`, a row a word; then the words are part of the history."""
        from cepts.kernels.history import running_weights, window_weights

        hidden, options = self.hidden, self.options
        found = np.empty((len(rows), len(hidden)), dtype=np.float32)
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        model = rows, hidden.words, hidden.priors, hidden.marginals
        background = np.float32(options.background)
        if options.size:
            new = np.empty(len(hidden), dtype=np.float32)
            window_weights(*model, options.size, options.steps, background, self.recent, new, found)
        else:
            decay, strength = np.float32(options.decay), np.float32(options.strength)
            running_weights(*model, decay, strength, background, self.seen, self.weights, found)
        return found


def fit_hidden_documents(
    texts: Sequence[tuple[Documents, float]],
    content: NDArray[np.bool_],
    *,
    hidden: int = 500,
    segmentation: Segmentation = "implicit",
    window: int = 21,
    min_count: float = 2,
    iterations: int = 50,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> HiddenDocuments:
    """Hidden documents of a text, or of several.

    Parameters
    ----------
    texts
        The texts, all over one vocabulary, and what each is worth: its counts are multiplied by that.
    content
        Which words of the vocabulary are content words.
    hidden
        How many hidden documents.
    segmentation
        ``explicit`` factorises the counts of words in documents, eq. (3) of nmf_lm; ``implicit`` those of words near
        words, in a window of content words, eq. (12), so that the text needs no documents.
    window
        Content words of that window, an odd number.
    min_count
        Words that the texts have less often are left out.
    iterations, seed, threads, progress
        Of the factorisation.
    """
    if segmentation not in SEGMENTATIONS:
        raise UsageError(f"segmentation must be one of {', '.join(SEGMENTATIONS)}. Got {segmentation!r} instead.")
    used = [(text, worth) for text, worth in texts if worth > 0]
    counts = sum(worth * np.bincount(text.text.ids, minlength=len(content)) for text, worth in used)
    kept = content & np.asarray(counts >= min_count)
    if not kept.any():
        raise DataError(
            f"the text has no content words that it uses {min_count:g} times or more: all its words are function "
            f"words, rare or unknown; give more text, a smaller --min-count or another --stop."
        )
    numbers = np.flatnonzero(kept)
    matrix: Any
    if segmentation == "explicit":
        from scipy.sparse import hstack

        matrix = hstack([document_counts(text, kept)[numbers] * np.float32(worth) for text, worth in used]).tocsr()
        matrix = matrix[:, np.flatnonzero(matrix.sum(axis=0))]
        most = min(matrix.shape)
        what = f"{len(numbers):,} content words in {matrix.shape[1]:,} documents with such words"
    else:
        windows = [window_counts(text, kept, window=window, stop_first=True, threads=threads) for text, _ in used]
        matrix = sum(counted * np.float32(worth) for counted, (_, worth) in zip(windows, used, strict=True))
        matrix = matrix[numbers][:, numbers]
        most = len(numbers)
        what = f"{most:,} content words"
    if not 1 <= hidden <= most:
        raise UsageError(
            f"the text has {what}, so that 1 to {most:,} hidden documents can be found. Got {hidden:,} instead."
        )
    factorise: Any = poisson_nmf if segmentation == "explicit" else symmetric_nmf
    factors = factorise(matrix, hidden, iterations=iterations, seed=seed, threads=threads, progress=progress)
    living = factors.weights > 0
    words = np.ascontiguousarray(factors.words[:, living])
    priors = (factors.weights[living] / factors.weights.sum()).astype(np.float32)
    return HiddenDocuments(words, priors, numbers.astype(np.int32))
