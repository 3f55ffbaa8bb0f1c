"""The methods that join views in one space, each a class with its own options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, UsageError, check_choice
from cepts.names import STARTS
from cepts.progress import Progress
from cepts.spaces.choose import ChosenSettings, choose
from cepts.spaces.entries import Entries, entry_weights
from cepts.spaces.ibfa import canonical, check_factors, fit_ibfa, inverse_root, shrunk
from cepts.spaces.mbfa import ITERATIONS, TOLERANCE, Battery
from cepts.spaces.model import SpaceModel
from cepts.spaces.moments import Moments
from cepts.spaces.space import Space
from cepts.spaces.training import TrainingEntries

Matrix = NDArray[np.float64]

BRIEF = 30  # maximum number of iterations of MBFA between rounds of induction
PAPER: Mapping[str, Any] = {"exponent": 0.5, "shrinkage": 0.0, "weighted": False}  # of Vargas et al. (2019)


@dataclass(kw_only=True, eq=False, repr=False)
class _LatentSpace(SpaceModel):
    """What IBFA, MBFA and CCA share: latent dimensions, and settings that may be chosen on held-out entries."""

    factors: int | None = None
    exponent: float | None = None
    shrinkage: float | None = None
    weighted: bool = True

    def _weigh(self, rows: NDArray[np.int64]) -> Matrix:
        return entry_weights(rows) if self.weighted else super()._weigh(rows)

    def _choose(self, given: TrainingEntries) -> ChosenSettings:
        if self.factors is not None:
            check_factors(self.factors, given.widths)
        entries = given.views, given.rows, given.weights
        return choose(*entries, exponent=self.exponent, shrinkage=self.shrinkage, factors=self.factors, seed=self.seed)

    def _for_mass(self, choice: ChosenSettings, first: float, total: float) -> ChosenSettings:
        # A shrinkage chosen on held-out entries is worth a number of entries; it stays worth that number as they grow.
        if self.shrinkage is not None or not choice.shrinkage:
            return choice
        return replace(choice, shrinkage=choice.shrinkage * first / total)


class _CanonicalSpace(_LatentSpace):
    """What IBFA and CCA share: canonical directions of two views times the correlations raised to the exponent."""

    two_views = True
    has_model: ClassVar[bool]  # whether the correlations also give a factor model

    def _join(self, given: TrainingEntries, chosen: ChosenSettings, brief: bool, progress: Progress | None) -> Space:
        (moments,) = given.moments(progress)
        first, second = given.widths
        found = canonical(moments, (first, second), factors=self.factors, shrinkage=chosen.shrinkage or 0.0)
        powers = found.correlations ** (chosen.exponent or 0.0)
        maps = tuple(directions * powers for directions in found.directions)
        model = fit_ibfa(found) if self.has_model else None
        return given.space(self.method, found.means, maps, model, found.correlations)


class IBFA(_CanonicalSpace):
    """Inter-battery factor analysis of two views, in closed form (Vargas et al. 2019, section 2.2).

    `IBFA.of_paper` is the model of Vargas et al. (2019): entries that count the same, no shrinkage, and an exponent of
    1/2, with which words are compared by their posterior means.

    Parameters
    ----------
    factors
        Number of latent dimensions; None uses as many as the narrowest view has.
    exponent
        Exponent of the canonical correlations P: the vectors of a view are mapped by U P^exponent. With 1/2 this is the
        posterior mean of Vargas et al. (2019), eq. (4); None chooses the exponent on held-out entries.
    shrinkage
        Ridge on the covariance of each view, as a share of its mean variance. None chooses it on held-out entries, and
        lowers it as induction adds entries.
    weighted
        Whether each word counts about once, however many entries it has.
    prepare, induction, seed, threads
        See `SpaceModel`, which also lists what `fit` learns.

    Examples
    --------
    >>> space = cepts.IBFA(shrinkage=0.1).fit([english, french], dictionary)  # doctest: +SKIP
    >>> space.translate(["dog"], source="en", target="fr")  # doctest: +SKIP
    >>> space.save("en-fr")  # doctest: +SKIP
    """

    method = "ibfa"
    has_model = True
    paper: ClassVar[Mapping[str, Any]] = PAPER


@dataclass(kw_only=True, eq=False, repr=False)
class MBFA(_LatentSpace):
    """Multiple-battery factor analysis of two or more views, by EM (Vargas et al. 2019, section 2.2.1).

    `MBFA.of_paper` is the model of Vargas et al. (2019): complete entries that count the same, no shrinkage, 20,000
    iterations of plain EM, and the posterior mean of eq. (4) itself.

    Parameters
    ----------
    factors, shrinkage, weighted, prepare, induction, seed, threads
        As for `IBFA`.
    exponent
        Exponent of how well a single view predicts each dimension. With 1/2 and a `balance` of 0, words are compared by
        their posterior means; None chooses the exponent on held-out entries.
    balance
        Share of the difference between views that is removed, from 0 to 1, where some predict a dimension better than
        others; see `FactorModel.sharpened`. 1/2 did best on held-out entries.
    complete
        Whether only entries with a word in every view are used.
    start
        The loadings to start from: ``joreskog``, ``canonical`` or ``random`` (drawn with `seed`); see
        `cepts.spaces.mbfa.Battery`.
    accelerate
        Whether the steps of EM are extrapolated (Anderson acceleration); the likelihood never falls.
    iterations
        Maximum number of iterations of EM.
    tolerance
        EM ends when a step gains less than this share of the gain so far; see `cepts.engine.run_em`.
    """

    method = "mbfa"
    paper: ClassVar[Mapping[str, Any]] = {
        **PAPER,
        "balance": 0.0,
        "complete": True,
        "start": "canonical",
        "accelerate": False,
        "iterations": 20_000,
        "tolerance": 0.0,
    }

    balance: float = 0.5
    complete: bool = False
    start: str = "joreskog"
    accelerate: bool = True
    iterations: int = ITERATIONS
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("start", self.start, STARTS)
        if not 0.0 <= self.balance <= 1.0:
            raise UsageError(f"`balance` must be 0 to 1. Got {self.balance} instead.")

    def _used(self, entries: Entries) -> Entries:
        return entries.completed() if self.complete else entries

    def _join(self, given: TrainingEntries, chosen: ChosenSettings, brief: bool, progress: Progress | None) -> Space:
        battery = Battery(
            given.moments(progress),
            given.widths,
            factors=self.factors or min(given.widths),
            shrinkage=chosen.shrinkage or 0.0,
            start=self.start,
            accelerate=self.accelerate,
            seed=self.seed,
        )
        iterations = min(self.iterations, BRIEF) if brief else self.iterations
        model, history = battery.fit(iterations=iterations, tolerance=self.tolerance, progress=progress)
        maps, correlations = model.sharpened(chosen.exponent or 0.0, balance=self.balance)
        return given.space(self.method, model.means, maps, model, correlations, history)


@dataclass(kw_only=True, eq=False, repr=False)
class CCA(_CanonicalSpace):
    """Canonical correlation analysis of two views (Faruqui & Dyer 2014).

    The parameters are those of `IBFA`, with other defaults; with the exponent 0 it is plain CCA.
    """

    method = "cca"
    has_model = False
    paper: ClassVar[Mapping[str, Any]] = {}

    exponent: float | None = 0.0
    shrinkage: float | None = 0.0
    weighted: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class _DirectSpace(SpaceModel):
    """What the direct methods share: all other views are mapped into the view of the pivot language."""

    pivot: str | int | None = None

    def _map(self, moments: Moments, widths: tuple[int, int], chosen: ChosenSettings) -> Matrix:
        """The map from a view into the pivot's."""
        return least_squares(moments, widths, ridge=chosen.shrinkage or 0.0)

    def check_languages(self, names: Sequence[str]) -> None:
        """Refuse languages that cannot be joined by this method, or that do not include the pivot."""
        super().check_languages(names)
        self._pivot_of(names)

    def _pivot_of(self, names: Sequence[str]) -> int:
        if self.pivot is None:
            return len(names) - 1 if len(names) == 2 else 0
        if isinstance(self.pivot, str):
            check_choice("pivot", self.pivot, names)
            return names.index(self.pivot)
        if not 0 <= self.pivot < len(names):
            raise UsageError(f"`pivot` must be 0 to {len(names) - 1}, or a name. Got {self.pivot} instead.")
        return int(self.pivot)

    def _begin(self, given: TrainingEntries) -> None:
        pivot = self._pivot_of(given.names)
        for view in range(len(given.views)):
            if view != pivot:
                self._with_pivot(given, view, pivot).begin_moments()

    def _join(self, given: TrainingEntries, chosen: ChosenSettings, brief: bool, progress: Progress | None) -> Space:
        pivot = self._pivot_of(given.names)
        maps: list[Matrix] = []
        for view, matrix in enumerate(given.views):
            if view == pivot:
                maps.append(np.eye(matrix.shape[1]))
                continue
            (moments,) = self._with_pivot(given, view, pivot).moments(progress)
            maps.append(self._map(moments, (given.widths[view], given.widths[pivot]), chosen))
        return given.space(self.method, [np.zeros(width) for width in given.widths], maps)

    def _with_pivot(self, given: TrainingEntries, view: int, pivot: int) -> TrainingEntries:
        """The entries with words of a view and of the pivot."""
        both = (given.rows[:, view] >= 0) & (given.rows[:, pivot] >= 0)
        if not both.any():
            raise DataError(
                f"{self.method} maps {given.names[view]} directly into {given.names[pivot]}: found no entry with "
                f"words of both, wanted some; choose another pivot, or mbfa, which does not need any."
            )
        return replace(
            given,
            views=(given.views[view], given.views[pivot]),
            rows=given.rows[both][:, [view, pivot]],
            weights=given.weights[both],
            workplace=None if given.workplace is None else given.workplace.under(f"view-{view + 1}"),
        )


class Procrustes(_DirectSpace):
    """Orthogonal maps into the space of a pivot language (Xing et al. 2015; Smith et al. 2017).

    Parameters
    ----------
    pivot
        The language, by name or by number, into whose space the others are mapped. None means the second of two
        languages, or the first of more.
    prepare, induction, seed, threads
        See `SpaceModel`, which also lists what `fit` learns.
    """

    method = "procrustes"
    paper: ClassVar[Mapping[str, Any]] = {}

    def _map(self, moments: Moments, widths: tuple[int, int], chosen: ChosenSettings) -> Matrix:
        return procrustes(moments, widths)


class LeastSquares(_DirectSpace):
    """Linear maps into the space of a pivot language, with the least squared error (Mikolov et al. 2013).

    The parameters are those of `Procrustes`.
    """

    method = "least-squares"
    paper: ClassVar[Mapping[str, Any]] = {}


@dataclass(kw_only=True, eq=False, repr=False)
class Ridge(_DirectSpace):
    """Linear maps into the space of a pivot language by ridge regression.

    `shrinkage` is the ridge as a share of the mean second moment of the view that is mapped. The other parameters are
    those of `Procrustes`.
    """

    method = "ridge"

    shrinkage: float = 0.1

    def _choose(self, given: TrainingEntries) -> ChosenSettings:
        return ChosenSettings(shrinkage=self.shrinkage)


def least_squares(moments: Moments, widths: tuple[int, int], *, ridge: float = 0.0) -> Matrix:
    """The matrix A for which x A is nearest to y over the entries (Mikolov et al. 2013).

    `ridge` is added to the second moments of the source, as a share of their mean; 0 adds none.
    """
    second = _second_moment(moments)
    x, y = moments.spans(widths)
    root = inverse_root(shrunk(second[x, x], ridge))
    return root @ (root.T @ second[x, y])


def procrustes(moments: Moments, widths: tuple[int, int]) -> Matrix:
    """The orthogonal A for which x A is nearest to y: U V' of the SVD of the cross moment.

    See Xing et al. (2015) and Smith et al. (2017). If the widths differ, the columns or the rows of A are orthonormal.
    """
    x, y = moments.spans(widths)
    left, _, right = np.linalg.svd(_second_moment(moments)[x, y], full_matrices=False)
    return left @ right


def _second_moment(moments: Moments) -> Matrix:
    """Second moments about the origin, because these methods have no mean."""
    return moments.covariance + np.outer(moments.mean, moments.mean)
