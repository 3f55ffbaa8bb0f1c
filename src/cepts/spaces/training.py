"""The prepared vectors and dictionary entries that methods learn from, and the report of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.engine import Workplace
from cepts.errors import DataError
from cepts.progress import Progress, Step
from cepts.spaces.choose import ChosenSettings
from cepts.spaces.entries import Entries
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import InductionReport
from cepts.spaces.moments import Moments, begin_moments, gather_moments
from cepts.spaces.search import row_lengths
from cepts.spaces.space import Preparation, Space

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingEntries:
    """What a method learns from: names and prepared vectors of the views, entries (see `Entries`) and their weights.

    `workplace` says who gathers the moments, and where.
    """

    names: tuple[str, ...]
    preparations: tuple[Preparation, ...]
    views: tuple[NDArray[np.float32], ...]
    rows: NDArray[np.int64]
    weights: Matrix
    workplace: Workplace | None = None

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of dimensions of each view."""
        return tuple(view.shape[1] for view in self.views)

    @property
    def mass(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    def moments(self, progress: Progress | None = None) -> list[Moments]:
        """Moments of each set of views that have a word together."""
        return gather_moments(self.views, self.rows, self.weights, self.workplace, progress)

    def begin_moments(self) -> None:
        """Put the entries where others can gather their moments."""
        assert self.workplace is not None
        begin_moments(self.views, self.rows, self.weights, self.workplace)

    def space(
        self,
        method: str,
        centres: Sequence[Matrix],
        maps: Sequence[Matrix],
        model: FactorModel | None = None,
        correlations: Matrix | None = None,
        objectives: Sequence[float] = (),
    ) -> Space:
        """Make the space into which a method maps the views."""
        single = [tuple(np.ascontiguousarray(part, dtype=np.float32) for part in parts) for parts in (centres, maps)]
        learnt = single[0], single[1], model, correlations, tuple(objectives)
        return Space(method, self.names, self.preparations, *learnt)


@dataclass(frozen=True, slots=True)
class FitReport:
    """What a fit used and found.

    Attributes
    ----------
    entries
        The entries of the user's dictionaries.
    choice
        The exponent and shrinkage, and the values that were tried.
    induction
        What induction did.
    """

    entries: Entries
    choice: ChosenSettings
    induction: InductionReport


def prepared_entries(
    views: Sequence[Vectors],
    names: tuple[str, ...],
    entries: Entries,
    weights: Matrix,
    steps: Sequence[str],
    report: Progress,
) -> TrainingEntries:
    """Entries with the prepared vectors of their views; raises `DataError` if a space cannot be fitted on them."""
    if len(entries) < 2:
        raise DataError(
            f"found 1 entry among {entries.asked:,} with words in two of the views, wanted at least 2 (and some "
            f"thousand for a good space); give a larger dictionary, or grow one by induction from identical strings."
        )
    used = [column[column >= 0] for column in entries.rows.T]
    for name, rows in zip(names, used, strict=True):
        if not len(rows):
            raise DataError(
                f"found no entry with a word of {name}, wanted at least one; give a dictionary of that language, or "
                f"leave out its vectors."
            )
    found = []
    for number, (view, name) in enumerate(zip(views, names, strict=True)):
        report(Step(stage="preparing", done=number, total=len(views)))
        wrong = np.flatnonzero(~np.isfinite(row_lengths(view.matrix)))
        if len(wrong):
            raise DataError(
                f"{name}: found a value that is not finite in the vector of {view.words[wrong[0]]!r}, wanted numbers; "
                f"remove the word."
            )
        found.append(Preparation.learn(view.matrix, steps))
        if not np.ptp(found[-1][1][used[number]], axis=0).any():
            raise DataError(
                f"{name}: found the same vector for all words with an entry, wanted at least two words with different "
                f"vectors; give a larger dictionary, or check the vectors."
            )
    report(Step(stage="preparing", done=len(views), total=len(views)))
    preparations, prepared = zip(*found, strict=True)
    return TrainingEntries(names, preparations, prepared, entries.rows, weights)
