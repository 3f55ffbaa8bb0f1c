"""From vectors and dictionaries to a fitted space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Dictionary, Vectors
from cepts.errors import DataError, UsageError
from cepts.progress import Progress, Step, silent
from cepts.spaces.choose import Choice, choose
from cepts.spaces.entries import Entries, entry_weights, find_entries
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.ibfa import canonical, check_factors, fit_ibfa
from cepts.spaces.induce import Induction, Round, induce
from cepts.spaces.linear import least_squares, procrustes
from cepts.spaces.mbfa import ITERATIONS, TOLERANCE, fit_mbfa
from cepts.spaces.moments import Moments, gather_moments
from cepts.spaces.prepare import Preparation
from cepts.spaces.search import row_lengths
from cepts.spaces.space import Space

__all__ = ["METHODS", "STEPS_DEFAULT", "FitReport", "Options", "fit_space"]

METHODS = ("ibfa", "mbfa", "cca", "procrustes", "least-squares", "ridge")
STEPS_DEFAULT = ("unit", "centre", "unit")
FACTOR_METHODS = ("ibfa", "mbfa")
TWO_VIEWS_ONLY = ("ibfa", "cca")
RIDGE = 0.1
BRIEF = 30  # iterations of mbfa between rounds of induction
SMALLEST = 1e-12  # of the shares to which powers are taken

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Options:
    """How a space is fitted.

    Attributes
    ----------
    method
        One of `METHODS`; None is ibfa for two views and mbfa for more.
    steps
        Preparation of the vectors.
    factors
        Latent dimensions of ibfa, mbfa and cca; None is as many as the narrowest view has.
    exponent
        Of the correlations: views go to U P^exponent. 1/2 is the posterior mean of mfa.txt; None is chosen on held-out
        entries (ibfa and mbfa).
    shrinkage
        Ridge on each view's covariance, as a share of its mean variance (ibfa, mbfa, cca; the ridge of ridge). None is
        chosen on held-out entries for ibfa and mbfa (and lowered as induction adds entries), 0 for cca, 0.1 for ridge.
    weighted
        Let each word count about once, however many entries it has, in ibfa and mbfa.
    pivot
        The view into which least-squares, ridge and procrustes map the others; None is the last of two views, the
        first of more.
    start, accelerate, iterations, tolerance
        Of mbfa.
    """

    method: str | None = None
    steps: tuple[str, ...] = STEPS_DEFAULT
    factors: int | None = None
    exponent: float | None = None
    shrinkage: float | None = None
    weighted: bool = True
    pivot: int | None = None
    start: str = "joreskog"
    accelerate: bool = True
    iterations: int = ITERATIONS
    tolerance: float = TOLERANCE


@dataclass(frozen=True, slots=True)
class FitReport:
    """What a fit used: the entries of the user's dictionaries, what was chosen, and what induction found."""

    entries: Entries
    choice: Choice | None
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Maps:
    centres: tuple[Matrix, ...]
    maps: tuple[Matrix, ...]
    model: FactorModel | None = None
    correlations: Matrix | None = None
    objectives: tuple[float, ...] = ()


def fit_space(
    views: Sequence[Vectors],
    dictionaries: Sequence[Dictionary] | Dictionary,
    options: Options | None = None,
    *,
    induction: Induction | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> tuple[Space, FitReport]:
    """Fit a shared space for `views` on dictionaries.

    Parameters
    ----------
    views
        The vectors of each language.
    dictionaries
        Of two views or of more, with missing words; see `find_entries` for how their columns find the views.
    options
        How to fit; `settings` are its fields by name.
    induction
        Grow the dictionary from the fitted space.
    seed
        Of the held-out entries and of stochastic induction.

    Examples
    --------
    >>> space, report = fit_space([english, french], dictionary, method="ibfa")  # doctest: +SKIP
    >>> space.project(english.matrix, "en")  # doctest: +SKIP
    """
    options_given = chosen = replace(options or Options(), **settings)
    views = list(views)
    method = _check(chosen, views)
    report = progress or silent
    entries = find_entries([dictionaries] if isinstance(dictionaries, Dictionary) else dictionaries, views)
    _check_entries(entries, views)
    prepared, preparations = [], []
    for number, view in enumerate(views):
        report(Step(stage="preparing", done=number, total=len(views)))
        name = view.name or f"view {number + 1}"
        _check_finite(view, name)
        preparation, matrix = Preparation.learn(view.matrix, chosen.steps)
        _check_spread(matrix, entries.rows[:, number], name)
        preparations.append(preparation)
        prepared.append(matrix)
    report(Step(stage="preparing", done=len(views), total=len(views)))
    weighted = chosen.weighted and method in FACTOR_METHODS
    weights = entry_weights(entries.rows) if weighted else np.ones(len(entries))
    choice = None
    if method in FACTOR_METHODS:
        choice = choose(
            prepared,
            entries.rows,
            weights,
            exponent=chosen.exponent,
            shrinkage=chosen.shrinkage,
            factors=chosen.factors,
            seed=seed,
        )
        chosen = replace(chosen, exponent=choice.exponent, shrinkage=choice.shrinkage)
    rows = entries.rows
    rounds: list[Round] = []
    mass = weights.sum()
    given = options_given.shrinkage is not None

    def for_mass(total: float) -> Options:
        """The shrinkage that was chosen is worth some entries, and stays worth as many when there are more of them."""
        if given or not chosen.shrinkage:
            return chosen
        return replace(chosen, shrinkage=chosen.shrinkage * mass / total)

    if induction is not None and induction.rounds:
        some = [matrix[: induction.vocabulary] for matrix in prepared]

        def place(rows: NDArray[np.int64], weights: NDArray[np.float64]) -> list[NDArray[np.float32]]:
            brief = replace(for_mass(weights.sum()), iterations=min(chosen.iterations, BRIEF))
            found = _fit(method, prepared, rows, weights, brief, None)
            return [
                (matrix - centre.astype(np.float32)) @ to.astype(np.float32)
                for matrix, centre, to in zip(some, found.centres, found.maps, strict=True)
            ]

        rows, weights, rounds = induce(
            place, entries.rows, weights, induction, seed=seed, threads=threads, progress=progress
        )
    chosen = for_mass(weights.sum())
    found = _fit(method, prepared, rows, weights, chosen, progress)
    space = Space(
        method=method,
        languages=tuple(view.name or f"view {number + 1}" for number, view in enumerate(views)),
        preparations=tuple(preparations),
        centres=tuple(np.asarray(centre, dtype=np.float32) for centre in found.centres),
        maps=tuple(np.ascontiguousarray(matrix, dtype=np.float32) for matrix in found.maps),
        model=found.model,
        settings={
            "steps": list(chosen.steps),
            "exponent": chosen.exponent,
            "shrinkage": chosen.shrinkage,
            "factors": int(found.maps[0].shape[1]),
            "entries": len(entries),
            "asked": entries.asked,
            "induced": len(rows) - len(entries),
            "seed": seed,
        },
        correlations=found.correlations,
        objectives=found.objectives,
    )
    return space, FitReport(entries, choice, tuple(rounds))


def _check(options: Options, views: Sequence[Vectors]) -> str:
    if len(views) < 2:
        raise UsageError(f"found {len(views)} view, wanted two or more; give the vectors of another language.")
    names = [view.name for view in views]
    repeated = next((name for name in names if name and names.count(name) > 1), None)
    if repeated:
        raise UsageError(f"found two views with the name {repeated!r}, wanted different names; name each language.")
    method = options.method or ("ibfa" if len(views) == 2 else "mbfa")
    if method not in METHODS:
        raise UsageError(f"found the method {method!r}, wanted one of {', '.join(METHODS)}.")
    if method in TWO_VIEWS_ONLY and len(views) > 2:
        raise UsageError(f"{method} joins two languages, found {len(views)}; choose mbfa.")
    widths = tuple(view.width for view in views)
    if options.factors is not None:
        check_factors(options.factors, widths)
    for name in ("exponent", "shrinkage"):
        value = getattr(options, name)
        if value is not None and not 0.0 <= value < np.inf:
            raise UsageError(f"found {name} {value}, wanted a number from 0.")
    if options.pivot is not None and not 0 <= options.pivot < len(views):
        raise UsageError(f"found the pivot {options.pivot}, wanted a view from 0 to {len(views) - 1}.")
    if options.iterations < 1:
        raise UsageError(f"found {options.iterations} iterations, wanted at least 1.")
    return method


def _check_entries(entries: Entries, views: Sequence[Vectors]) -> None:
    if len(entries) < 2:
        raise DataError(
            f"found 1 entry of {entries.asked:,} with words in two of the views, wanted at least 2 (and some thousand "
            f"for a good space); give a larger dictionary, or grow it by induction from identical strings."
        )
    for number, view in enumerate(views):
        if not (entries.rows[:, number] >= 0).any():
            raise DataError(
                f"found no entry with a word of {view.name or f'view {number + 1}'}, wanted at least one; give a "
                f"dictionary of that language, or leave it out."
            )


def _check_finite(view: Vectors, name: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(row_lengths(view.matrix)))
    if len(wrong):
        raise DataError(
            f"{name}: found a value that is not finite in the vector of {view.words[wrong[0]]!r}, wanted numbers; "
            f"leave the word out."
        )


def _check_spread(matrix: NDArray[np.float32], rows: NDArray[np.int64], name: str) -> None:
    if not np.ptp(matrix[rows[rows >= 0]], axis=0).any():
        raise DataError(
            f"{name}: found the same vector for all words with an entry, wanted at least two words with different "
            f"vectors; give a larger dictionary, or check the vectors."
        )


def _fit(
    method: str,
    views: Sequence[NDArray[np.float32]],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    options: Options,
    progress: Progress | None,
) -> _Maps:
    widths = tuple(view.shape[1] for view in views)
    if method not in FACTOR_METHODS and method != "cca":
        return _direct(method, views, rows, weights, options)
    moments = gather_moments(views, rows, weights)
    if method == "mbfa":
        model, history = fit_mbfa(
            moments,
            widths,
            factors=options.factors or min(widths),
            shrinkage=options.shrinkage or 0.0,
            start=options.start,
            accelerate=options.accelerate,
            iterations=options.iterations,
            tolerance=options.tolerance,
            progress=progress,
        )
        maps, correlations = sharpened(model, 0.5 if options.exponent is None else options.exponent)
        return _Maps(model.means, maps, model, correlations, tuple(history))
    found = canonical(_only(moments), widths, factors=options.factors, shrinkage=options.shrinkage or 0.0)
    default = 0.0 if method == "cca" else 0.5
    powers = found.correlations ** (default if options.exponent is None else options.exponent)
    maps = tuple(directions * powers for directions in found.directions)
    return _Maps(found.means, maps, fit_ibfa(found) if method == "ibfa" else None, found.correlations)


def sharpened(model: FactorModel, exponent: float) -> tuple[tuple[Matrix, ...], Matrix]:
    """Maps of the views to E[z | x] with the agreement of each latent direction raised from 1/2 to `exponent`.

    With C_i the covariance of E[z | x_i] and C their mean, view i goes to E[z | x_i] C_i^-1/4 C^(exponent - 1/4), in
    the eigenvectors of C, whose values come second, descending. With two views C_i = C = P and this is U_i P^exponent.
    With more, views tell the same direction unequally well, and lie farther apart than they need if all of that is
    left in; taking half of it away did best on held-out entries.
    """
    values, vectors = np.linalg.eigh(model.agreement)
    values, vectors = np.clip(values[::-1], SMALLEST, 1.0), vectors[:, ::-1]
    common = vectors * values ** (exponent - 0.25)
    maps = []
    for loading, latent in zip(model.loadings, model.latent_maps, strict=True):
        own, axes = np.linalg.eigh(loading.T @ latent)
        maps.append(latent @ ((axes * np.maximum(own, SMALLEST) ** -0.25) @ (axes.T @ common)))
    return tuple(maps), values


def _direct(
    method: str,
    views: Sequence[NDArray[np.float32]],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    options: Options,
) -> _Maps:
    """Every view mapped into the pivot's."""
    pivot = options.pivot if options.pivot is not None else (len(views) - 1 if len(views) == 2 else 0)
    maps: list[Matrix] = []
    for view, matrix in enumerate(views):
        if view == pivot:
            maps.append(np.eye(matrix.shape[1]))
            continue
        both = (rows[:, view] >= 0) & (rows[:, pivot] >= 0)
        if not both.any():
            raise DataError(
                f"{method} maps view {view + 1} straight into view {pivot + 1}, found no entry with words of both, "
                f"wanted some; choose another --pivot, or mbfa, which needs none."
            )
        moments = _only(gather_moments([matrix, views[pivot]], rows[both][:, [view, pivot]], weights[both]))
        widths = matrix.shape[1], views[pivot].shape[1]
        if method == "procrustes":
            maps.append(procrustes(moments, widths))
        else:
            ridge = 0.0 if method == "least-squares" else (RIDGE if options.shrinkage is None else options.shrinkage)
            maps.append(least_squares(moments, widths, ridge=ridge))
    return _Maps(tuple(np.zeros(view.shape[1]) for view in views), tuple(maps))


def _only(moments: Sequence[Moments]) -> Moments:
    (one,) = moments
    return one
