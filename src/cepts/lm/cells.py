"""Sparse matrices of counts, made in shards of documents and added by ranges of rows.

What a task leaves for a shard are rows of the matrix: ``rows`` are the words of these rows, ``sizes`` how many cells
each of them has, and ``columns`` and ``counts`` are the cells, row by row. Columns are in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.engine import JOB, PieceStep, Workplace, cut_runs, piece_name, run_steps
from cepts.lm.shelved import ShelvedDocuments
from cepts.progress import Progress
from cepts.store import Piece, Shelf

RANGE_CELLS = 1 << 20  # cells of all shards in a range of rows
SHARDS, ROWS = "shards", "rows"  # where the pieces are


class Cells(NamedTuple):
    """A sparse matrix: the cells of row `r` are `bounds[r]:bounds[r + 1]`, each with its column and its count."""

    bounds: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.float32]


def count_cells(workplace: Workplace, begin: Callable[[Shelf], None], progress: Progress | None = None) -> Cells:
    """Count at a workplace, on a shelf where `begin` puts a text and the terms of counting.

    The terms are the array ``content``, with a truth value for each row, the number of columns (``width``), what is
    counted (``what``), and the function that counts a shard (``work``).
    """
    with workplace.shelf() as shelf:
        begin(shelf)
        *_, adding = run_steps(cell_steps(shelf), shelf, workplace.engine, progress)
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
    return Cells(bounds, columns, counts)


def cell_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The steps of counting, on a shelf that has a text and the terms of counting."""
    terms = shelf.get(JOB)
    what, work = terms.settings["what"], terms.settings["work"]
    counting = PieceStep(f"counting {what}", SHARDS, work, ShelvedDocuments(shelf).shards)
    yield counting
    if not shelf.has(ROWS):
        shelf.put(ROWS, {"bounds": _bounds(len(terms["content"]), counting.pieces(shelf))})
    yield PieceStep(f"adding {what}", ROWS, f"{__name__}:add_rows", len(shelf.get(ROWS)["bounds"]) - 1)


def add_rows(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """Rows of the matrix: the sums over all shards."""
    from cepts.kernels.window import AddedRuns, add_neighbours

    start, stop = shelf.get(ROWS)["bounds"][number : number + 2].tolist()
    width = shelf.get(JOB).settings["width"]
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
    scratch = np.zeros(width), np.empty(width, dtype=np.int32)
    filled = add_neighbours(runs, *scratch, sizes, summed, sums)
    return {"sizes": sizes, "columns": summed[:filled].copy(), "counts": sums[:filled].copy()}


def _bounds(words: int, shards: Iterable[Piece]) -> NDArray[np.int64]:
    """Where the ranges of rows start, and where the last one ends."""
    sizes = np.zeros(words, dtype=np.int64)
    for shard in shards:
        sizes[shard["rows"]] += shard["sizes"]
    return np.array([0, *(stop for _, stop in cut_runs(offsets_of(sizes), RANGE_CELLS))], dtype=np.int64)
