"""Sufficient statistics of dictionary entries: weight, mean and covariance for each set of views that occur together.

After one pass over the entries, models are fitted on these alone, at a cost that does not depend on the number of
entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of

Matrix = NDArray[np.float64]


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
    views: Sequence[NDArray[np.float32]], rows: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> list[Moments]:
    """Moments of each pattern of known views in `rows`.

    `views` are the prepared vectors and `rows` the entries (see `Entries`), whose weights are 1 by default.
    """
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    found = []
    for known, members in patterns_of(rows):
        mass = weights[members]
        stacked = np.concatenate([views[view][rows[members, view]] for view in known], axis=1).astype(np.float64)
        mean = mass @ stacked / mass.sum()
        stacked -= mean
        covariance = (stacked * mass[:, None]).T @ stacked / mass.sum()
        found.append(Moments(known, float(mass.sum()), mean, (covariance + covariance.T) / 2))
    return found
