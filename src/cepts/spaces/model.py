"""The models of this room: what all methods share, from vectors and dictionaries to a space that can be asked."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Dictionary, Vectors
from cepts.errors import ModelError, UsageError
from cepts.estimator import Estimator
from cepts.names import SPACE_METHODS, resolve
from cepts.progress import Progress, silent
from cepts.spaces.associate import Scoring, SpaceScorer
from cepts.spaces.choose import ChosenSettings
from cepts.spaces.entries import find_entries
from cepts.spaces.induce import Induction, InductionRound, induce
from cepts.spaces.mixture import COMPONENTS, fit_mixture
from cepts.spaces.persist import FitRecord, SavedSpace, read_space, write_space
from cepts.spaces.prepare import check_steps
from cepts.spaces.sampling import Sample, sample_words
from cepts.spaces.senses import LEAST_NEARNESS, find_senses
from cepts.spaces.space import Space
from cepts.spaces.training import FitReport, TrainingEntries, ViewMaps, check_entries, prepare_views
from cepts.spaces.translate import SOURCES, translate_words

__all__ = ["PREPARE", "SpaceModel", "Translation", "WordSense"]

PREPARE = ("unit", "centre", "unit")
# The least value of each parameter that is a number, of the methods that have it.
LEAST = {"factors": 1, "iterations": 1, "exponent": 0, "shrinkage": 0, "tolerance": 0}

Matrix = NDArray[np.float64]


class Translation(NamedTuple):
    """A word of the target language, and how good a translation it is by the measure that was asked for."""

    word: str
    score: float


class WordSense(NamedTuple):
    """One sense of a word.

    Attributes
    ----------
    weight
        Share of the word's vector that the sense explains, of what all its senses explain.
    nearness
        How near the best translation is to what the senses found before had left of the vector.
    translations
        Words of the target language, the best first.
    neighbours
        Words of the source language that are nearest to these translations.
    """

    weight: float
    nearness: float
    translations: tuple[str, ...]
    neighbours: tuple[str, ...]


@dataclass(kw_only=True, eq=False, repr=False)
class SpaceModel(Estimator):
    """A shared space of the word vectors of two or more languages; `METHODS` has the classes that can be fitted.

    Parameters
    ----------
    prepare
        What is done to the vectors first, in this order: ``unit`` gives them length 1, ``centre`` subtracts their mean.
    induction
        Grow the dictionary from the fitted space; None uses the dictionary as it is.
    seed
        Seed for held-out entries and for stochastic induction.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.

    Attributes
    ----------
    space_
        The fitted space.
    record_
        What it was fitted with and on, such as the exponent that was chosen.
    views_
        The vectors of each view; None for a view whose vectors were not saved.
    entries_
        The dictionary entries as rows of the views, -1 where an entry has no word; None where they were not saved.
    report_
        What the last `fit` used and found; None for a loaded model.
    """

    method: ClassVar[str] = ""  # the name that users give
    two_views: ClassVar[bool] = False  # whether it can join two views only

    prepare: Sequence[str] = PREPARE
    induction: Induction | None = None
    seed: int = 0
    threads: int | None = None

    space_: Space = field(init=False)
    record_: FitRecord = field(init=False)
    views_: tuple[Vectors | None, ...] = field(init=False)
    entries_: NDArray[np.int64] | None = field(init=False)
    report_: FitReport | None = field(init=False)

    def __post_init__(self) -> None:
        check_steps(self.prepare)
        for name, least in LEAST.items():
            value = getattr(self, name, None)
            # Written so that NaN fails.
            if value is not None and not least <= value < math.inf:
                raise UsageError(f"`{name}` must be {least} or more. Got {value} instead.")

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        views: Sequence[Vectors],
        dictionaries: Dictionary | Sequence[Dictionary],
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Fit a shared space for `views` on dictionaries.

        Parameters
        ----------
        views
            The vectors of each language.
        dictionaries
            Of two views or more, with missing words; see `find_entries` for how their columns are matched to views.

        Examples
        --------
        >>> space = cepts.IBFA(shrinkage=0.1).fit([english, french], dictionary)  # doctest: +SKIP
        >>> space.translate(["dog"], source="en", target="fr")  # doctest: +SKIP
        """
        views = tuple(views)
        names = tuple(view.name or f"view {number + 1}" for number, view in enumerate(views))
        self.check_languages(names)
        self._check_widths(tuple(view.width for view in views))
        entries = find_entries([dictionaries] if isinstance(dictionaries, Dictionary) else dictionaries, views)
        check_entries(entries, names)
        preparations, prepared = prepare_views(views, names, entries.rows, self.prepare, progress or silent)
        first = TrainingEntries(names, prepared, entries.rows, self._weigh(entries.rows))
        choice = self._choose(first)
        last, rounds = self._induced(first, choice, progress)
        chosen = self._for_mass(choice, first.mass, last.mass)
        found = self._join(last, chosen, False, progress)
        self.space_ = Space(
            method=self.method,
            languages=names,
            preparations=preparations,
            centres=tuple(np.asarray(centre, dtype=np.float32) for centre in found.centres),
            maps=tuple(np.ascontiguousarray(matrix, dtype=np.float32) for matrix in found.maps),
            model=found.model,
            correlations=found.correlations,
            objectives=found.objectives,
        )
        self.record_ = FitRecord(
            exponent=chosen.exponent,
            shrinkage=chosen.shrinkage,
            factors=self.space_.width,
            entries=len(entries),
            asked=entries.asked,
            induced=len(last.rows) - len(entries),
            reading=tuple(view.reading for view in views),
        )
        self.views_ = views
        self.entries_ = entries.rows
        self.report_ = FitReport(entries, choice, tuple(rounds))
        return self

    def check_languages(self, names: Sequence[str]) -> None:
        """Refuse languages that cannot be joined, or not by this method."""
        if len(names) < 2:
            raise UsageError(f"found {len(names)} view, wanted two or more; give the vectors of another language.")
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise UsageError(f"found two views with the name {repeated!r}, wanted different names; name each language.")
        if self.two_views and len(names) > 2:
            raise UsageError(f"{self.method} joins two languages, found {len(names)}; choose mbfa.")

    def _check_widths(self, widths: tuple[int, ...]) -> None:
        """Refuse options that do not fit the views' numbers of dimensions."""

    def _weigh(self, rows: NDArray[np.int64]) -> Matrix:
        """How much each entry counts."""
        return np.ones(len(rows))

    def _choose(self, given: TrainingEntries) -> ChosenSettings:
        """The exponent and the shrinkage to fit with."""
        return ChosenSettings()

    def _for_mass(self, choice: ChosenSettings, first: float, total: float) -> ChosenSettings:
        """The choice for entries that weigh `total`, where it was made for entries that weigh `first`."""
        return choice

    @abstractmethod
    def _join(self, given: TrainingEntries, chosen: ChosenSettings, brief: bool, progress: Progress | None) -> ViewMaps:
        """Learn the maps; `brief` may stop early, between rounds of induction."""

    def _induced(
        self, first: TrainingEntries, choice: ChosenSettings, progress: Progress | None
    ) -> tuple[TrainingEntries, list[InductionRound]]:
        """The entries for the last fit, and what each round of induction found."""
        induction = self.induction
        if induction is None or not induction.rounds:
            return first, []
        frequent = [matrix[: induction.vocabulary] for matrix in first.views]

        def place(rows: NDArray[np.int64], weights: Matrix) -> list[NDArray[np.float32]]:
            given = replace(first, rows=rows, weights=weights)
            found = self._join(given, self._for_mass(choice, first.mass, given.mass), True, None)
            return [
                (matrix - centre.astype(np.float32)) @ to.astype(np.float32)
                for matrix, centre, to in zip(frequent, found.centres, found.maps, strict=True)
            ]

        rows, weights, rounds = induce(
            place, first.rows, first.weights, induction, seed=self.seed, threads=self.threads, progress=progress
        )
        return replace(first, rows=rows, weights=weights), rounds

    # -- vectors ----------------------------------------------------------------------------------------------------

    def vectors(self, language: str | int) -> Vectors:
        """The vectors of a language, as they were read."""
        self.check_fitted()
        number = self.space_.view(language)
        found = self.views_[number]
        if found is None:
            name = self.space_.languages[number]
            raise UsageError(
                f"the space was saved without vectors, and those of {name} are needed; give them (`vectors`)."
            )
        return found

    def attach(self, vectors: Vectors, language: str | int | None = None) -> Self:
        """Use `vectors` as those of a language, by default the one of their name: for a space saved without.

        They must have been read as those that the space was fitted on.
        """
        self.check_fitted()
        number = self.space_.view(vectors.name if language is None else language)
        name, wanted = self.space_.languages[number], self.record_.reading[number]
        if vectors.width != self.space_.widths[number]:
            raise UsageError(
                f"found vectors of width {vectors.width} for {name}, wanted {self.space_.widths[number]}, for which "
                f"the space was fitted; give the vectors that it was fitted on."
            )
        if vectors.reading != wanted:
            raise UsageError(
                f"found vectors of {name} that were read with {vectors.reading}, wanted {wanted}, as when the space "
                f"was fitted; read them again."
            )
        self.views_ = (*self.views_[:number], vectors, *self.views_[number + 1 :])
        return self

    def project(self, vectors: NDArray[np.floating], language: str | int) -> NDArray[np.float32]:
        """The places of a language's vectors in the shared space; a row is a vector as it was read."""
        self.check_fitted()
        return self.space_.project(vectors, language)

    def aligned(self, language: str | int, *, max_vocabulary: int | None = None) -> Vectors:
        """The words of a language with their places in the shared space as vectors; all, or the first of them."""
        vectors = self.vectors(language)
        if max_vocabulary is not None:
            vectors = vectors.first(max_vocabulary)
        return vectors.moved(self.project(vectors.matrix, language))

    # -- questions --------------------------------------------------------------------------------------------------

    def translate(
        self,
        words: Sequence[str],
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        measure: str = "csls",
        count: int = 5,
        sources: int | None = SOURCES,
        progress: Progress | None = None,
    ) -> list[list[Translation]]:
        """The best translations of each word, the best first; none for a word without a vector.

        Parameters
        ----------
        words
            Looked up as they are, then in lower case.
        source, target
            The languages to translate from and into. Of two languages, the default is from the first into the second.
        measure, count, sources
            See `cepts.spaces.translate_words`.
        """
        self.check_fitted()
        direction = self.space_.direction(source, target)
        known, others = (self.vectors(view) for view in direction)
        rows = known.vocabulary.find(words)
        found = translate_words(
            self.space_,
            known,
            others,
            rows[rows >= 0],
            languages=direction,
            measure=measure,
            count=min(count, len(others)),
            sources=sources,
            threads=self.threads,
            progress=progress,
        )
        answers = iter(found.listed(others.words))
        return [[Translation(*pair) for pair in next(answers)] if row >= 0 else [] for row in rows.tolist()]

    def scorer(
        self,
        source: str | int | None = None,
        target: str | int | None = None,
        *,
        scoring: Scoring | None = None,
        threads: int | None = None,
    ) -> SpaceScorer:
        """What aligns sentence pairs by the places of their words.

        Parameters
        ----------
        source, target
            The languages of the two sides; see `translate` for the defaults.
        scoring
            How similarities become shares.
        threads
            Threads to use; None is as many as the model's.

        Examples
        --------
        >>> space.scorer("en", "fr").align_pair("the house", "la maison").links  # doctest: +SKIP
        [(0, 0), (1, 1)]
        """
        self.check_fitted()
        direction = self.space_.direction(source, target)
        return SpaceScorer(
            self.space_,
            [self.vectors(view) for view in direction],
            languages=direction,
            scoring=scoring,
            threads=self.threads if threads is None else threads,
        )

    def senses(
        self,
        words: Sequence[str],
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        most: int = 4,
        count: int = 5,
        least: float = LEAST_NEARNESS,
        components: int | None = COMPONENTS,
        dictionaries: Sequence[Dictionary] = (),
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[list[WordSense]]:
        """The senses of each word, those that explain most of its vector first; none for a word without a vector.

        Parameters
        ----------
        words, source, target
            As for `translate`.
        most, count, least
            See `cepts.spaces.find_senses`.
        components, seed
            Of the mixture: see `cepts.spaces.fit_mixture`.
        dictionaries
            Entries for the mixture, in place of those that the space was fitted on.
        """
        self.check_fitted()
        direction = self.space_.direction(source, target)
        views = [self.vectors(view) for view in direction]
        rows = views[0].vocabulary.find(words)
        everything = [self.vectors(view) for view in range(len(self.space_))]
        entries = find_entries(dictionaries, everything).rows if dictionaries else self.entries_
        if entries is None:
            raise UsageError(
                "the space was saved without dictionary entries, on which the mixture is fitted; give some "
                "(`dictionaries`)."
            )
        mixture = fit_mixture(self.space_, everything, entries, components=components, seed=seed, progress=progress)
        found = find_senses(
            mixture,
            views,
            rows[rows >= 0],
            languages=direction,
            most=most,
            count=count,
            least=least,
            threads=self.threads,
            progress=progress,
        )
        own, others = (view.words for view in views)
        answers = (
            [
                WordSense(
                    sense.weight,
                    sense.nearness,
                    tuple(others[row] for row in sense.translations),
                    tuple(own[row] for row in sense.neighbours),
                )
                for sense in senses
            ]
            for senses in found
        )
        return [next(answers) if row >= 0 else [] for row in rows.tolist()]

    def sample(
        self,
        count: int = 28,
        *,
        draws: int = 2000,
        noise: float = 1.0,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[Sample]:
        """Random words with about the same meaning, the most probable first; see `cepts.spaces.sample_words`."""
        self.check_fitted()
        return sample_words(
            self.space_,
            [self.vectors(view) for view in range(len(self.space_))],
            count=count,
            draws=draws,
            seed=seed,
            noise=noise,
            threads=self.threads,
            progress=progress,
        )

    @property
    def facts(self) -> dict[str, object]:
        """What the signature of a score says of the space."""
        self.check_fitted()
        record = self.record_
        facts: dict[str, object] = {"space": self.method, "factors": record.factors}
        for name, value in (("exponent", record.exponent), ("shrinkage", record.shrinkage)):
            if value is not None:
                facts[name] = f"{value:g}"
        facts["prepared"] = "+".join(self.prepare) or "no"
        return {**facts, "entries": record.entries, "induced": record.induced, "seed": self.seed}

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, directory: str | Path, *, vectors: bool = True) -> None:
        """Write the space to `directory`, whole or not at all.

        Parameters
        ----------
        vectors
            Keep the vectors and the dictionary entries, so that the loaded space can be asked without other files.
        """
        self.check_fitted()
        options = {name: value for name, value in self.get_params().items() if name != "threads"}
        kept = [self.vectors(view) for view in range(len(self.space_))] if vectors else None
        entries = self.entries_ if vectors else None
        saved = SavedSpace(space=self.space_, options=options, record=self.record_, views=kept, entries=entries)
        write_space(directory, saved)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> Self:
        """The fitted model that `save` wrote: by `SpaceModel.load` of any method, else of the class's own.

        Examples
        --------
        >>> space = SpaceModel.load("en-fr")  # doctest: +SKIP
        """
        saved = read_space(directory)
        home = SPACE_METHODS.get(saved.space.method)
        kind: Any = None if home is None else resolve(home)
        if kind is None or not issubclass(kind, cls):
            raise ModelError(f"{directory} holds a space fitted by {saved.space.method}, not by {cls.method}.")
        try:
            model = kind(**saved.options, threads=threads)
        except TypeError as error:
            raise ModelError(f"{directory} was saved with other options ({error}); fit it and save it again.") from None
        model.space_, model.record_, model.entries_, model.report_ = saved.space, saved.record, saved.entries, None
        model.views_ = (None,) * len(saved.space) if saved.views is None else tuple(saved.views)
        return model
