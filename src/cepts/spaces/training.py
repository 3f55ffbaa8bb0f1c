"""Training entries of prepared vectors, with checks, and the maps that methods learn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.errors import DataError
from cepts.progress import Progress, Step
from cepts.spaces.choose import ChosenSettings
from cepts.spaces.entries import Entries
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import InductionRound
from cepts.spaces.prepare import Preparation
from cepts.spaces.search import row_lengths

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingEntries:
    """What a method learns from: names and prepared vectors of the views, entries (see `Entries`) and their weights."""

    names: tuple[str, ...]
    views: tuple[NDArray[np.float32], ...]
    rows: NDArray[np.int64]
    weights: Matrix

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of dimensions of each view."""
        return tuple(view.shape[1] for view in self.views)

    @property
    def mass(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ViewMaps:
    """What a method learns from entries: see `Space` for the attributes."""

    centres: tuple[Matrix, ...]
    maps: tuple[Matrix, ...]
    model: FactorModel | None = None
    correlations: Matrix | None = None
    objectives: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FitReport:
    """What a fit used: the entries of the user's dictionaries, what was chosen, and what induction found."""

    entries: Entries
    choice: ChosenSettings
    rounds: tuple[InductionRound, ...]


def prepare_views(
    views: Sequence[Vectors], names: Sequence[str], rows: NDArray[np.int64], steps: Sequence[str], report: Progress
) -> tuple[tuple[Preparation, ...], tuple[NDArray[np.float32], ...]]:
    """How each view is prepared, and its prepared vectors; `rows` are the entries that it is fitted on."""
    preparations, prepared = [], []
    for number, (view, name) in enumerate(zip(views, names, strict=True)):
        report(Step(stage="preparing", done=number, total=len(views)))
        _check_finite(view, name)
        preparation, matrix = Preparation.learn(view.matrix, steps)
        _check_spread(matrix, rows[:, number], name)
        preparations.append(preparation)
        prepared.append(matrix)
    report(Step(stage="preparing", done=len(views), total=len(views)))
    return tuple(preparations), tuple(prepared)


def check_entries(entries: Entries, names: Sequence[str]) -> None:
    """Refuse entries that are too few, or that have no word of some view."""
    if len(entries) < 2:
        raise DataError(
            f"found 1 entry of {entries.asked:,} with words in two of the views, wanted at least 2 (and some thousand "
            f"for a good space); give a larger dictionary, or grow it by induction from identical strings."
        )
    for number, name in enumerate(names):
        if not (entries.rows[:, number] >= 0).any():
            raise DataError(
                f"found no entry with a word of {name}, wanted at least one; give a dictionary of that "
                f"language, or leave out its vectors."
            )


def _check_finite(view: Vectors, name: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(row_lengths(view.matrix)))
    if len(wrong):
        raise DataError(
            f"{name}: found a value that is not finite in the vector of {view.words[wrong[0]]!r}, wanted numbers; "
            f"remove the word."
        )


def _check_spread(matrix: NDArray[np.float32], rows: NDArray[np.int64], name: str) -> None:
    if not np.ptp(matrix[rows[rows >= 0]], axis=0).any():
        raise DataError(
            f"{name}: found the same vector for all words with an entry, wanted at least two words with different "
            f"vectors; give a larger dictionary, or check the vectors."
        )
