"""The counts that are factorised: words in documents, and words near each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents, offsets_of
from cepts.engine import cut_runs, map_shards
from cepts.errors import UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHARD = 1 << 20  # pairs of positions that a thread counts at a time


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
    borders: bool = True,
    threads: int | None = None,
) -> csr_array:
    """Count how often words occur near each other: the matrix M of Novak and Mammone (2001), eq. (6).

    The counts are estimated as in section 4 there: a window slides over the text one word at a time, and its
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
    borders
        Whether windows end where a document does; otherwise they slide over the whole text.
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
    if not borders:
        bounds = bounds[[0, -1]]
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
