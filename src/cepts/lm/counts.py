"""The counts that are factorised: words in documents, and words near each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents, offsets_of
from cepts.engine import JOB, ThreadEngine, Workplace, keep_terms
from cepts.errors import UsageError
from cepts.lm.cells import count_cells
from cepts.lm.shelved import ShelvedDocuments
from cepts.progress import Progress
from cepts.store import Shelf

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def check_window(window: int) -> None:
    """Refuse a window that has no central word, or no other words."""
    if window < 3 or window % 2 == 0:
        raise UsageError(f"`window` must be an odd number of 3 or more. Got {window} instead.")


def document_counts(
    documents: Documents,
    content: NDArray[np.bool_],
    *,
    workplace: Workplace | None = None,
    progress: Progress | None = None,
) -> csr_array:
    """Count how often each word occurs in each document: the matrix A of Novak and Mammone (2001), eq. (2).

    Returns a sparse matrix, words by documents. The row of a word that is not counted is empty, and so is the column of
    a document without counted words.

    Parameters
    ----------
    documents
        The documents.
    content
        For each word of the vocabulary, whether it is counted.
    workplace
        Who counts, and where; by default threads of this process.
    progress
        Called after each part of the text.
    """
    from scipy.sparse import csr_array

    cells = count_cells(workplace or Workplace(), lambda shelf: begin_documents(shelf, documents, content), progress)
    # As SciPy does: smaller numbers are enough for most matrices.
    small = max(len(cells.counts), len(documents)) <= np.iinfo(np.int32).max
    columns, bounds = (part.astype(np.int32 if small else np.int64) for part in (cells.columns, cells.bounds))
    return csr_array((cells.counts, columns, bounds), shape=(len(content), len(documents)))


def window_counts(
    documents: Documents,
    content: NDArray[np.bool_],
    *,
    window: int = 21,
    stop_first: bool = False,
    borders: bool = True,
    threads: int | None = None,
    workplace: Workplace | None = None,
    progress: Progress | None = None,
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
    workplace
        Who counts, and where; by default `threads` of this process.
    progress
        Called after each part of the text.

    Examples
    --------
    >>> documents = Documents.from_tokens([[["a", "b", "a"]], [["b"]]])
    >>> window_counts(documents, np.array([True, True]), window=3).toarray()
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    from scipy.sparse import csr_array

    if threads is not None and threads < 1:
        raise UsageError(f"`threads` must be 1 or more. Got {threads} instead.")
    how: dict[str, Any] = {"window": window, "stop_first": stop_first, "borders": borders}
    place = workplace or Workplace(ThreadEngine(threads))
    cells = count_cells(place, lambda shelf: begin_windows(shelf, documents, content, **how), progress)
    return csr_array((cells.counts, cells.columns, cells.bounds), shape=(len(content), len(content)))


def begin_documents(shelf: Shelf, documents: Documents, content: NDArray[np.bool_]) -> None:
    """Put on a shelf what counting in documents needs; the parameters are those of `document_counts`."""
    what = {"what": "words of documents", "work": f"{__name__}:count_in_documents", "width": len(documents)}
    _begin(shelf, documents, content, what)


def begin_windows(
    shelf: Shelf, documents: Documents, content: NDArray[np.bool_], *, window: int, stop_first: bool, borders: bool
) -> None:
    """Put on a shelf what counting in windows needs; the parameters are those of `window_counts`."""
    check_window(window)
    what = {"what": "neighbours", "work": f"{__name__}:count_in_windows", "width": len(content)}
    _begin(shelf, documents, content, {**what, "window": window, "stop_first": stop_first, "borders": borders})


def _begin(shelf: Shelf, documents: Documents, content: NDArray[np.bool_], terms: Mapping[str, Any]) -> None:
    content = _as_content(documents, content)
    ShelvedDocuments.put(shelf, documents)
    keep_terms(shelf, JOB, {"content": content}, kind="cells", **terms)


def count_in_documents(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """How often the words of a shard occur in each of its documents."""
    terms = shelf.get(JOB)
    ids, lengths, documents = ShelvedDocuments(shelf).shard(number)
    kept, width = terms["content"][ids], terms.settings["width"]
    keys, counts = np.unique(ids[kept] * np.int64(width) + np.repeat(documents, lengths)[kept], return_counts=True)
    rows, sizes = np.unique(keys // width, return_counts=True)
    found = {"rows": rows, "sizes": sizes, "columns": keys % width, "counts": counts}
    return {name: array.astype(np.int32) for name, array in found.items()}


def count_in_windows(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """How often words occur near the words of a shard."""
    from cepts.kernels.window import WindowText, count_neighbours

    terms = shelf.get(JOB)
    content, reach = terms["content"], terms.settings["window"] // 2
    near = _NearShard.of(shelf, number, content, reach, terms.settings)
    words = len(content)
    counted = np.where(content[near.ids], near.ids, np.int32(-1))
    own = counted[near.start : near.stop]
    positions = near.start + np.argsort(own, kind="stable")[int((own < 0).sum()) :]
    frequencies = np.bincount(own[own >= 0], minlength=words)
    occurrences = offsets_of(frequencies)
    most = int(np.minimum(frequencies * terms.settings["window"], words).sum())
    sizes = np.zeros(words, dtype=np.int32)
    columns, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    scratch = np.zeros(words), np.empty(words, dtype=np.int32)
    text = WindowText(occurrences, positions, counted, *near.limits())
    filled = count_neighbours(0, words, text, reach, *scratch, sizes, columns, counts)
    rows = np.flatnonzero(sizes)
    return {
        "rows": rows.astype(np.int32),
        "sizes": sizes[rows],
        "columns": columns[:filled].copy(),
        "counts": counts[:filled].copy(),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _NearShard:
    """The words of a shard, which are those from `start` to `stop`, and words near them; all with their documents."""

    ids: NDArray[np.int32]
    documents: NDArray[np.int32]
    start: int
    stop: int

    @classmethod
    def of(
        cls, shelf: Shelf, number: int, content: NDArray[np.bool_], reach: int, settings: Mapping[str, Any]
    ) -> _NearShard:
        """A shard, with as many words before and after it as a window reaches."""
        text = ShelvedDocuments(shelf)

        def words_of(shard: int) -> NDArray[np.int32]:
            """The words that take up places, and their documents."""
            ids, lengths, documents = text.shard(shard)
            both = np.stack([ids, np.repeat(documents if settings["borders"] else 0 * documents, lengths)])
            return both[:, content[ids]] if settings["stop_first"] else both

        own = words_of(number)
        before = after = own[:, :0]
        shard = number
        while before.shape[1] < reach and shard > 0:
            shard -= 1
            before = np.concatenate([words_of(shard), before], axis=1)[:, -reach:]
        shard = number
        while after.shape[1] < reach and shard + 1 < text.shards:
            shard += 1
            after = np.concatenate([after, words_of(shard)], axis=1)[:, :reach]
        ids, documents = np.concatenate([before, own, after], axis=1)
        return cls(ids, documents, before.shape[1], before.shape[1] + own.shape[1])

    def limits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each word, where its document starts and ends among these words."""
        bounds = np.flatnonzero(np.diff(self.documents, prepend=-1, append=-1))
        lengths = np.diff(bounds)
        return np.repeat(bounds[:-1], lengths), np.repeat(bounds[1:], lengths)


def _as_content(documents: Documents, content: NDArray[np.bool_]) -> NDArray[np.bool_]:
    content = np.asarray(content)
    words = len(documents.text.vocabulary)
    if content.shape != (words,) or content.dtype != np.bool_:
        raise ValueError(
            f"`content` must be {words:,} truth values, one for each word. Got {content.dtype} of shape "
            f"{content.shape} instead."
        )
    return content
