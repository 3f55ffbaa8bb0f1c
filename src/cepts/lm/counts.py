"""The counts that are factorised: words in documents, and words near each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents, offsets_of
from cepts.engine import JOB, PieceStep, ThreadEngine, Workplace, cut_runs, keep_terms, piece_name, run_steps
from cepts.errors import UsageError
from cepts.lm.shelved import ShelvedDocuments
from cepts.progress import Progress
from cepts.store import Piece, Shelf

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RANGE_CELLS = 1 << 20  # cells of all shards in a range of rows
SHARDS, ROWS = "shards", "rows"  # where the pieces are


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
    workplace = workplace or Workplace(ThreadEngine(threads))
    with workplace.shelf() as shelf:
        begin_counting(shelf, documents, content, window=window, stop_first=stop_first, borders=borders)
        *_, adding = run_steps(window_steps(shelf), shelf, workplace.engine, progress)
        if workplace.directory is None:
            shelf.drop(SHARDS)
        none = np.empty(0, dtype=np.int64)
        bounds = offsets_of(np.concatenate([none, *(piece["sizes"] for piece in adding.pieces(shelf))]))
        columns, counts = np.empty(bounds[-1], dtype=np.int64), np.empty(bounds[-1], dtype=np.float32)
        filled = 0
        for number, piece in enumerate(adding.pieces(shelf)):
            cells = slice(filled, filled := filled + int(piece["sizes"].sum()))
            columns[cells], counts[cells] = piece["columns"], piece["counts"]
            if workplace.directory is None:
                shelf.drop(piece_name(ROWS, number))
    return csr_array((counts, columns, bounds), shape=(len(content), len(content)))


def begin_counting(
    shelf: Shelf, documents: Documents, content: NDArray[np.bool_], *, window: int, stop_first: bool, borders: bool
) -> None:
    """Put on a shelf what counting in windows needs; the parameters are those of `window_counts`."""
    content = _as_content(documents, content)
    check_window(window)
    ShelvedDocuments.put(shelf, documents)
    how = {"window": window, "stop_first": stop_first, "borders": borders}
    keep_terms(shelf, JOB, {"content": content}, kind="windows", **how)


def window_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The steps of counting in windows, on a shelf that has a text and the terms of counting."""
    counting = PieceStep("counting neighbours", SHARDS, f"{__name__}:count_shard", ShelvedDocuments(shelf).shards)
    yield counting
    if not shelf.has(ROWS):
        shelf.put(ROWS, {"bounds": _bounds(len(shelf.get(JOB)["content"]), counting.pieces(shelf))})
    yield PieceStep("adding neighbours", ROWS, f"{__name__}:add_rows", len(shelf.get(ROWS)["bounds"]) - 1)


def count_shard(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """The counts around the words of a shard.

    They are the rows of the words that it has: ``rows`` are these words, ``sizes`` how many columns each row has.
    """
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


def add_rows(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """Rows of the matrix: the sums over all shards."""
    from cepts.kernels.window import AddedRuns, add_neighbours

    start, stop = shelf.get(ROWS)["bounds"][number : number + 2].tolist()
    words = len(shelf.get(JOB)["content"])
    parts = []
    for shard in range(ShelvedDocuments(shelf).shards):
        piece = shelf.get(piece_name(SHARDS, shard))
        low, high = np.searchsorted(piece["rows"], (start, stop)).tolist()
        ends = offsets_of(piece["sizes"])[[low, high]].tolist()
        parts.append(
            [piece.part(name, low, high) for name in ("rows", "sizes")]
            + [piece.part(name, *ends) for name in ("columns", "counts")]
        )
    rows, lengths, columns, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    # A run is a row of a shard; the runs of the same row are added.
    runs = AddedRuns(
        offsets_of(np.bincount(rows - start, minlength=stop - start)),
        np.argsort(rows, kind="stable"),
        offsets_of(lengths),
        columns,
        counts,
    )
    sizes = np.zeros(stop - start, dtype=np.int64)
    summed, sums = np.empty(len(columns), dtype=np.int32), np.empty(len(columns), dtype=np.float32)
    scratch = np.zeros(words), np.empty(words, dtype=np.int32)
    filled = add_neighbours(runs, *scratch, sizes, summed, sums)
    return {"sizes": sizes, "columns": summed[:filled].copy(), "counts": sums[:filled].copy()}


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


def _bounds(words: int, shards: Iterable[Piece]) -> NDArray[np.int64]:
    """Where the ranges of rows start, and where the last one ends."""
    sizes = np.zeros(words, dtype=np.int64)
    for shard in shards:
        sizes[shard["rows"]] += shard["sizes"]
    return np.array([0, *(stop for _, stop in cut_runs(offsets_of(sizes), RANGE_CELLS))], dtype=np.int64)


def _as_content(documents: Documents, content: NDArray[np.bool_]) -> NDArray[np.bool_]:
    content = np.asarray(content)
    words = len(documents.text.vocabulary)
    if content.shape != (words,) or content.dtype != np.bool_:
        raise ValueError(
            f"`content` must be {words:,} truth values, one for each word. Got {content.dtype} of shape "
            f"{content.shape} instead."
        )
    return content
