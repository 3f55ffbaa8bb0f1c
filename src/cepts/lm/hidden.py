"""Hidden documents: distributions of words that occur together, and how a history weights them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents, offsets_of
from cepts.engine import cut_runs, map_shards
from cepts.errors import DataError, UsageError, check_choice
from cepts.factor import poisson_nmf, symmetric_nmf
from cepts.names import SEGMENTATIONS
from cepts.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHARD = 1 << 20  # pairs of positions
# A P(word | d) below this does not rescale the word (the hidden document itself keeps it).
SMALLEST_SHARE = 1e-6
MOST_HISTORY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """How P(d | H) follows from the content words before the predicted one.

    Attributes
    ----------
    history
        How many of the last words are used, with equal weight, eq. (16) of nmf_lm; 0 uses all words, and older ones
        count less.
    fold_in
        EM steps from the priors for each history of a fixed length; 1 is eqs. (15) and (16) of nmf_lm, more are the
        fold-in of PLSA.
    decay
        Where `history` is 0: the weight of each word is multiplied by this with each word that follows. Each word is
        divided among the hidden documents once, when it is read, by the P(d | H) of that moment: online EM.
    strength
        Where `history` is 0: how many words the priors P(d) count for.
    uninformative
        Share of words that say nothing about the topic: P(word is one of them) before it is seen.
    """

    history: int = 0
    fold_in: int = 5
    decay: float = 0.95
    strength: float = 0.5
    uninformative: float = 0.3

    def __post_init__(self) -> None:
        for name, ok, wanted in (
            ("history", 0 <= self.history <= MOST_HISTORY, f"0 to {MOST_HISTORY:,}"),
            ("fold_in", self.fold_in >= 1, "1 or more"),
            ("decay", 0 < self.decay <= 1, "above 0 and at most 1"),
            ("strength", 0 < self.strength < np.inf, "above 0"),
            ("uninformative", 0 <= self.uninformative < 1, "0 or more and below 1"),
        ):
            if not ok:
                raise UsageError(f"`{name}` must be {wanted}. Got {getattr(self, name)} instead.")


class Lifts(NamedTuple):
    """P(word | d) / P(word) of the words of each hidden document, one hidden document after the other."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    lifts: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """P(word | d) of hidden documents d, and P(d).

    Attributes
    ----------
    words
        P(word | d), a row for each word of the hidden documents; the columns add up to 1 (float32).
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
        """The factors by which hidden documents change the probabilities of words; for rescaling."""
        kept = np.where(self.words >= SMALLEST_SHARE, self.words, 0) / np.maximum(self.marginals, 1e-30)[:, None]
        documents, members = np.nonzero(kept.T)
        starts = np.searchsorted(documents, np.arange(len(self) + 1))
        return Lifts(starts, members.astype(np.int32), kept.T[documents, members].astype(np.float32))

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
    """P(d | H) along a text, word by word; keeps the words that it has followed."""

    def __init__(self, hidden: HiddenDocuments, options: HistoryOptions) -> None:
        self.hidden = hidden
        self.options = options
        self.seen = np.zeros(len(hidden), dtype=np.float32)
        self.weights = hidden.priors.copy()
        self.recent = np.full(options.history, -1, dtype=np.int32)

    def copy(self) -> Tracker:
        """An independent copy."""
        twin = Tracker(self.hidden, self.options)
        twin.seen, twin.weights, twin.recent = self.seen.copy(), self.weights.copy(), self.recent.copy()
        return twin

    def follow(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """P(d | H) before each word of `rows`, a row for each word; then the words are part of the history."""
        from cepts.kernels.history import running_weights, window_weights

        hidden, options = self.hidden, self.options
        found = np.empty((len(rows), len(hidden)), dtype=np.float32)
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        model = rows, hidden.words, hidden.priors, hidden.marginals
        uninformative = np.float32(options.uninformative)
        if options.history:
            new = np.empty(len(hidden), dtype=np.float32)
            window_weights(*model, options.history, options.fold_in, uninformative, self.recent, new, found)
        else:
            decay, strength = np.float32(options.decay), np.float32(options.strength)
            running_weights(*model, decay, strength, uninformative, self.seen, self.weights, found)
        return found


def check_window(window: int) -> None:
    """Refuse a window that has no word in its centre, or only that word."""
    if window < 3 or window % 2 == 0:
        raise UsageError(f"`window` must be an odd number of 3 or more. Got {window} instead.")


def document_counts(documents: Documents, content: NDArray[np.bool_]) -> csr_array:
    """How often each word occurs in each document: the matrix A of eq. (2) of nmf_lm, words by documents.

    `content` says for each word of the vocabulary whether it is counted. The row of a word that is not counted is
    empty, and so is the column of a document without counted words.
    """
    from scipy.sparse import coo_array

    content = _as_content(documents, content)
    ids = documents.text.ids
    kept = content[ids]
    words = ids[kept]
    places = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(documents.word_offsets))[kept]
    shape = len(documents.text.vocabulary), len(documents)
    return coo_array((np.ones(len(words), dtype=np.float32), (words, places)), shape=shape).tocsr()


def window_counts(
    documents: Documents,
    content: NDArray[np.bool_],
    *,
    window: int = 21,
    stop_first: bool = False,
    threads: int | None = None,
) -> csr_array:
    """How often words occur near each other: the matrix M of eq. (6) of nmf_lm, as section 4 estimates it.

    A window slides over each document one word at a time, and the word in its centre counts with each word of the
    window, itself included, as in E[C_i C_i]. The matrix is symmetric, words by words.

    Parameters
    ----------
    documents, content
        As for `document_counts`.
    window
        Words in the window, an odd number.
    stop_first
        Whether words that are not content words are removed first, so that each window has the same number of content
        words; otherwise they take up places in it.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.

    Examples
    --------
    >>> documents = Documents.from_tokens([[["a", "b", "a"]], [["b"]]])
    >>> window_counts(documents, np.array([True, True]), window=3).toarray()
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    from scipy.sparse import csr_array

    from cepts.kernels.window import WindowText, count_neighbours

    content = _as_content(documents, content)
    check_window(window)
    if threads is not None and threads < 1:
        raise UsageError(f"`threads` must be 1 or more. Got {threads} instead.")
    words = len(documents.text.vocabulary)
    ids, bounds = documents.text.ids, documents.word_offsets
    if stop_first:
        kept = content[ids]
        bounds = offsets_of(kept.astype(np.int64))[bounds]
        ids = ids[kept]
    counted = np.where(content[ids], ids, np.int32(-1))
    lengths = np.diff(bounds)
    starts, ends = np.repeat(bounds[:-1], lengths), np.repeat(bounds[1:], lengths)
    positions = np.argsort(counted, kind="stable")[int((counted < 0).sum()) :]
    occurrences = offsets_of(np.bincount(counted[counted >= 0], minlength=words))
    text = WindowText(occurrences, positions, counted, starts, ends)

    def run(rows: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        first, stop = rows
        most = int(np.minimum(np.diff(occurrences[first : stop + 1]) * window, words).sum())
        sizes = np.zeros(stop - first, dtype=np.int64)
        columns, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.float32)
        scratch = np.zeros(words), np.empty(words, dtype=np.int32)
        filled = count_neighbours(first, stop, text, window // 2, *scratch, sizes, columns, counts)
        return sizes, columns[:filled].copy(), counts[:filled].copy()

    runs = list(cut_runs(occurrences, max(SHARD // window, 1))) or [(0, 0)]
    found = list(map_shards(run, runs, threads=threads))
    sizes, columns, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return csr_array((counts, columns, offsets_of(sizes)), shape=(words, words))


def _as_content(documents: Documents, content: NDArray[np.bool_]) -> NDArray[np.bool_]:
    content = np.asarray(content)
    words = len(documents.text.vocabulary)
    if content.shape != (words,) or content.dtype != np.bool_:
        raise ValueError(
            f"`content` must be a truth value for each of {words:,} words. Got {content.dtype} of shape "
            f"{content.shape} instead."
        )
    return content


def fit_hidden_documents(
    texts: Sequence[tuple[Documents, float]],
    content: NDArray[np.bool_],
    *,
    hidden: int = 500,
    segmentation: str = "implicit",
    window: int = 21,
    min_count: float = 2,
    iterations: int = 50,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> HiddenDocuments:
    """Find the hidden documents of one or more texts; the options are those of `AdaptedModel`.

    Parameters
    ----------
    texts
        The texts, all over one vocabulary, and the weight of each, by which its counts are multiplied.
    content
        Which words of the vocabulary are content words.
    segmentation
        ``explicit`` factorises the counts of words in documents, eq. (3) of nmf_lm; ``implicit`` factorises the counts
        of words near each other, in a window of content words, eq. (12) of nmf_lm, which needs no documents.
    """
    check_choice("segmentation", segmentation, SEGMENTATIONS)
    used = [(text, worth) for text, worth in texts if worth > 0]
    counts = sum(worth * np.bincount(text.text.ids, minlength=len(content)) for text, worth in used)
    kept = content & np.asarray(counts >= min_count)
    if not kept.any():
        raise DataError(
            f"the text has no content words that it uses {min_count:g} times or more: all its words are function "
            f"words, rare or unknown; give more text, a smaller `min_count` or another list of function words (`stop`)."
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
            f"the text has {what}, so that 1 to {most:,} hidden documents can be found (`hidden`). Got {hidden:,} "
            f"instead."
        )
    factorise: Any = poisson_nmf if segmentation == "explicit" else symmetric_nmf
    factors = factorise(matrix, hidden, iterations=iterations, seed=seed, threads=threads, progress=progress)
    living = factors.weights > 0
    words = np.ascontiguousarray(factors.words[:, living])
    priors = (factors.weights[living] / factors.weights.sum()).astype(np.float32)
    return HiddenDocuments(words, priors, numbers.astype(np.int32))
