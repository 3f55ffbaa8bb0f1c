"""Sufficient statistics of dictionary entries: weight, mean and covariance for each set of views that occur together.

After one pass over the entries, models are fitted on these alone, at a cost that does not depend on the number of
entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.engine import JOB, PieceStep, Workplace, keep_terms, piece_name, run_steps
from cepts.progress import Progress
from cepts.store import Shelf

Matrix = NDArray[np.float64]
SHARD_ENTRIES = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of the entries in which exactly `views` have a word.

    Attributes
    ----------
    views
        Numbers of the views, ascending.
    weight
        Sum of the entries' weights.
    mean
        Weighted mean of the views' vectors, one after the other.
    covariance
        Weighted covariance about that mean (divided by the weight).
    """

    views: tuple[int, ...]
    weight: float
    mean: Matrix
    covariance: Matrix

    def spans(self, widths: Sequence[int]) -> list[slice]:
        """Where each of `views` lies in the concatenated vectors."""
        return spans_of([widths[view] for view in self.views])


def spans_of(widths: Sequence[int]) -> list[slice]:
    """Where each of several vectors lies when they are concatenated."""
    return [slice(start, stop) for start, stop in pairwise(offsets_of(widths).tolist())]


def patterns_of(rows: NDArray[np.int64]) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Each set of views for which some entries have words in exactly these views, and these entries."""
    codes = ((rows >= 0) * (1 << np.arange(rows.shape[1]))).sum(axis=1)
    for code in np.unique(codes[codes > 0]):
        members = np.flatnonzero(codes == code)
        yield tuple(int(view) for view in np.flatnonzero(rows[members[0]] >= 0)), members


def gather_moments(
    views: Sequence[NDArray[np.float32]],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
    workplace: Workplace | None = None,
    progress: Progress | None = None,
) -> list[Moments]:
    """Moments of each pattern of known views in `rows`.

    Entries are taken in shards, whose sums are added in order. So results depend neither on memory nor on who does the
    work.

    Parameters
    ----------
    views
        The prepared vectors.
    rows, weights
        The entries (see `Entries`) and their weights, which are 1 by default.
    workplace
        Who adds up the shards, and where. By default, and without a directory, this process does.
    progress
        Called after each shard, if others add them up.
    """
    patterns, shards = _shards(views, rows, weights)
    if workplace is None or workplace.directory is None:
        return _added(patterns, map(_sums_of, shards))
    with workplace.shelf() as shelf:
        _put(shelf, len(patterns), shards)
        (step,) = run_steps(moment_steps(shelf), shelf, workplace.engine, progress)
        return _added(patterns, step.pieces(shelf))


def begin_moments(
    views: Sequence[NDArray[np.float32]],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    workplace: Workplace,
) -> None:
    """Put on a shelf what `gather_moments` needs, which others can then add up."""
    patterns, shards = _shards(views, rows, weights)
    with workplace.shelf() as shelf:
        _put(shelf, len(patterns), shards)


def _shards(
    views: Sequence[NDArray[np.float32]], rows: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> tuple[list[tuple[int, ...]], Iterator[dict[str, NDArray[Any]]]]:
    """The views of each shard of entries, and its vectors and weights."""
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    patterns = [
        (known, members[start : start + SHARD_ENTRIES])
        for known, members in patterns_of(rows)
        for start in range(0, len(members), SHARD_ENTRIES)
    ]
    shards = (
        {
            "vectors": np.concatenate([views[view][rows[members, view]] for view in known], axis=1),
            "weights": weights[members],
        }
        for known, members in patterns
    )
    return [known for known, _ in patterns], shards


def _put(shelf: Shelf, count: int, shards: Iterable[Mapping[str, NDArray[Any]]]) -> None:
    keep_terms(shelf, JOB, {}, kind="moments", shards=count)
    for number, shard in enumerate(shards):
        keep_terms(shelf, piece_name("entries", number), shard)


def moment_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The only step of a job that has its entries on a shelf."""
    yield PieceStep("adding entries", "sums", f"{__name__}:add_shard", shelf.get(JOB).settings["shards"])


def add_shard(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """The sums of a shard."""
    return _sums_of(shelf.get(piece_name("entries", number)))


def _sums_of(shard: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
    """Weight, mean, and weighted squares about the mean, of the entries of a shard."""
    mass, stacked = shard["weights"], shard["vectors"].astype(np.float64)
    mean = mass @ stacked / mass.sum()
    stacked -= mean
    return {"weight": mass.sum(keepdims=True), "mean": mean, "squares": (stacked * mass[:, None]).T @ stacked}


def _added(known: Sequence[tuple[int, ...]], sums: Iterable[Mapping[str, NDArray[np.float64]]]) -> list[Moments]:
    """The moments of each pattern, whose shards follow one another; they are joined as by Chan et al. (1979)."""
    found = []
    for views, shards in groupby(zip(known, sums, strict=True), key=itemgetter(0)):
        (weight, mean, squares), *others = ((part["weight"][0], part["mean"], part["squares"]) for _, part in shards)
        for more, other, further in others:
            total = weight + more
            apart = other - mean
            mean = mean + apart * (more / total)
            squares = squares + further + np.outer(apart, apart) * (weight * more / total)
            weight = total
        covariance = squares / weight
        found.append(Moments(views, float(weight), mean, (covariance + covariance.T) / 2))
    return found
