"""Hidden documents: distributions over words that occur together, and how a history weights them."""

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

SHARD = 1 << 20  # pairs of positions that a thread counts at a time
# A smaller P(word | d) does not rescale the word, although the hidden document keeps it.
SMALLEST_SHARE = 1e-6
MOST_HISTORY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """How the weights P(d | H) of the hidden documents d follow from the content words H before the predicted word.

    Attributes
    ----------
    history
        Number of preceding content words that are used, all with equal weight (Novak and Mammone, 2001, eq. 16). With 0
        all preceding words are used, and older ones count less.
    fold_in
        If `history` is above 0: the number of EM steps from the priors for each history. One step is eqs. (15) and (16)
        of Novak and Mammone (2001); more are the fold-in of PLSA.
    decay
        If `history` is 0: the factor by which the weight of a word is multiplied with each word that follows. Each word
        is divided among the hidden documents once, when it is read, by the P(d | H) at that point (online EM).
    strength
        If `history` is 0: how many words the priors P(d) count for.
    uninformative
        The prior probability that a word says nothing about the topic, from 0 to below 1.
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
    """P(word | d) / P(word) for the words of each hidden document, one hidden document after the other."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    lifts: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """Hidden documents d: the distributions P(word | d) and the priors P(d).

    Attributes
    ----------
    words
        P(word | d) with one row for each word and one column for each hidden document; columns add up to 1 (float32).
    priors
        P(d) (float32).
    numbers
        The number of each row's word in the vocabulary of the whole model (int32, ascending).
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
        """The factors by which hidden documents rescale the probabilities of words."""
        kept = np.where(self.words >= SMALLEST_SHARE, self.words, 0) / np.maximum(self.marginals, 1e-30)[:, None]
        documents, members = np.nonzero(kept.T)
        starts = np.searchsorted(documents, np.arange(len(self) + 1))
        return Lifts(starts, members.astype(np.int32), kept.T[documents, members].astype(np.float32))

    def estimated_priors(self, rows: NDArray[np.int32], options: HistoryOptions) -> NDArray[np.float64]:
        """Estimate P(d) as the mean of P(d | h) over all histories of a text (Novak and Mammone, 2001, eq. 18).

        `rows` has the row of each word of the text, in order.
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
        self.recent = np.full(options.history, -1, dtype=np.int32)

    def copy(self) -> Tracker:
        """An independent copy."""
        twin = Tracker(self.hidden, self.options)
        twin.seen, twin.weights, twin.recent = self.seen.copy(), self.weights.copy(), self.recent.copy()
        return twin

    def follow(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """P(d | H) before each word of `rows`, one row per word; then add the words to the history."""
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
    """Refuse a window that has no central word, or no other words."""
    if window < 3 or window % 2 == 0:
        raise UsageError(f"`window` must be an odd number of 3 or more. Got {window} instead.")


def document_counts(documents: Documents, content: NDArray[np.bool_]) -> csr_array:
    """Count how often each word occurs in each document: the matrix A of Novak and Mammone (2001), eq. (2).

    Returns a sparse matrix, words by documents. The row of a word that is not counted is empty, and so is the column of
    a document without counted words.

    Parameters
    ----------
    documents
        The documents.
    content
        For each word of the vocabulary, whether it is counted.
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
    """Count how often words occur near each other: the matrix M of Novak and Mammone (2001), eq. (6).

    The counts are estimated as in section 4 there: a window slides over each document one word at a time, and its
    central word is counted with each word of the window, including itself, as in E[C_i C_i]. Returns a symmetric sparse
    matrix, words by words.

    Parameters
    ----------
    documents, content
        As for `document_counts`.
    window
        Number of words in the window, an odd number.
    stop_first
        Whether words that are not content words are removed first, so that each window has the same number of content
        words; otherwise they take up places in the window.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.

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
            f"`content` must be {words:,} truth values, one for each word. Got {content.dtype} of shape "
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
    """Find the hidden documents of one or more texts; the other options are those of `AdaptedModel`.

    Parameters
    ----------
    texts
        The texts, all over one vocabulary, each with the weight by which its counts are multiplied.
    content
        Which words of the vocabulary are content words.
    segmentation
        ``explicit`` factorises the counts of words in documents (nmf_lm, eq. 3). ``implicit`` factorises the counts of
        words near each other, in a window of content words (nmf_lm, eq. 12), which needs no documents.
    """
    check_choice("segmentation", segmentation, SEGMENTATIONS)
    used = [(text, worth) for text, worth in texts if worth > 0]
    counts = sum(worth * np.bincount(text.text.ids, minlength=len(content)) for text, worth in used)
    kept = content & np.asarray(counts >= min_count)
    if not kept.any():
        raise DataError(
            f"the text has no content words that occur at least {min_count:g} times: all its words are function words, "
            f"rare or unknown; give more text, a smaller `min_count=` or another list of function words (`stop=`)."
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
            f"the text has {what}, so `hidden` must be 1 to {most:,}, the number of hidden documents. Got {hidden:,} "
            f"instead."
        )
    factorise: Any = poisson_nmf if segmentation == "explicit" else symmetric_nmf
    factors = factorise(matrix, hidden, iterations=iterations, seed=seed, threads=threads, progress=progress)
    living = factors.weights > 0
    words = np.ascontiguousarray(factors.words[:, living])
    priors = (factors.weights[living] / factors.weights.sum()).astype(np.float32)
    return HiddenDocuments(words, priors, numbers.astype(np.int32))
