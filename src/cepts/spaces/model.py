"""What all methods share: fitting a space to vectors and dictionaries, using it, saving and loading it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Dictionary, Vectors
from cepts.engine import Workplace
from cepts.errors import ModelError, UsageError, check_least
from cepts.estimator import Estimator
from cepts.names import SPACE_METHODS, resolve
from cepts.progress import Progress, silent
from cepts.spaces.associate import Scoring, SpaceScorer
from cepts.spaces.choose import ChosenSettings
from cepts.spaces.entries import Entries, find_entries
from cepts.spaces.induce import Induction, InductionReport, induce
from cepts.spaces.mixture import COMPONENTS, fit_mixture
from cepts.spaces.persist import SavedSpace, SpaceRecord, read_space, write_space
from cepts.spaces.retrieve import Neighbours, WordTranslation, retrieve
from cepts.spaces.senses import LEAST_NEARNESS, WordSense, find_senses
from cepts.spaces.space import Space, check_steps
from cepts.spaces.training import FitReport, TrainingEntries, prepared_entries

SOURCES = 20_000  # number of source words, the most frequent ones, that show which targets are hubs
# Least value -> parameters that must have it, if a method has them.
LEAST = {1: ("factors", "iterations"), 0: ("exponent", "shrinkage", "tolerance")}

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """One tuple of words drawn by `SpaceModel.sample`.

    Attributes
    ----------
    words
        For each view, the word nearest to the vector that was drawn for it.
    back
        For each view except the first, the translation of its word into the first language.
    log_density
        Joint log-density of the vectors of these words; higher is more probable.
    """

    words: tuple[str, ...]
    back: tuple[str, ...]
    log_density: float


@dataclass(kw_only=True, eq=False, repr=False)
class SpaceModel(Estimator):
    """A shared space for the word vectors of two or more languages.

    This is the base class of all methods; `cepts.spaces.METHODS` lists the classes that can be fitted, such as `IBFA`.

    Parameters
    ----------
    prepare
        Steps that prepare the vectors, in this order: ``unit`` gives them length 1, ``centre`` subtracts their mean.
    induction
        How to grow the dictionary from the fitted space; None uses the dictionary as it is.
    seed
        Seed for choosing held-out entries and for stochastic induction.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.

    Attributes
    ----------
    space_
        The fitted space.
    record_
        What the space was fitted with and on, such as the exponent that was chosen.
    views_
        The vectors of each language; None for a language whose vectors were not saved.
    entries_
        The dictionary entries as rows of the views, with -1 if an entry has no word; None if they were not saved.
    report_
        What the last `fit` used and found; None for a loaded model.
    """

    method: ClassVar[str] = ""  # the name that users type
    two_views: ClassVar[bool] = False  # whether it can join only two views
    paper: ClassVar[Mapping[str, Any] | None] = None  # options of Vargas et al. (2019), if they use the method

    prepare: Sequence[str] = ("unit", "centre", "unit")
    induction: Induction | None = None
    seed: int = 0
    threads: int | None = None

    space_: Space = field(init=False)
    record_: SpaceRecord = field(init=False)
    views_: tuple[Vectors | None, ...] = field(init=False)
    entries_: NDArray[np.int64] | None = field(init=False)
    report_: FitReport | None = field(init=False)

    def __post_init__(self) -> None:
        check_steps(self.prepare)
        for least, names in LEAST.items():
            check_least(self, least, *(name for name in names if hasattr(self, name)))

    @classmethod
    def paper_options(cls) -> dict[str, Any]:
        """The options with which Vargas et al. (2019) use the method, where they differ from the defaults."""
        if cls.paper is None:
            raise UsageError(f"{cls.method} is not a method of Vargas et al. (2019); choose another `method`.")
        return dict(cls.paper)

    @classmethod
    def of_paper(cls, **changes: Any) -> Self:
        """A model with the options of Vargas et al. (2019), except for `changes`."""
        return cls(**{**cls.paper_options(), **changes})

    def fit(
        self,
        views: Sequence[Vectors],
        dictionaries: Dictionary | Sequence[Dictionary],
        *,
        notices: list[str] | None = None,
        progress: Progress | None = None,
        workplace: Workplace | None = None,
    ) -> Self:
        """Fit a shared space for the vectors of two or more languages on dictionaries.

        Parameters
        ----------
        views
            The vectors of each language.
        dictionaries
            Dictionaries of two or more of these languages; words may be missing. See `find_entries` for how their
            columns are matched to the views.
        notices
            A list to which a note is appended for each dictionary of which few entries are found.
        progress
            Called after each part of the work.
        workplace
            Who gathers the means and covariances of all entries, and where; by default this process.
        """
        views = tuple(views)
        entries, first, choice = self._first(views, dictionaries, notices, progress)
        last, induced = self._induced(first, choice, entries.spelt_alike(views), progress)
        chosen = self._for_mass(choice, first.mass, last.mass)
        self.space_ = self._join(replace(last, workplace=workplace), chosen, False, progress)
        self.record_ = SpaceRecord(
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
        self.report_ = FitReport(entries, choice, induced)
        return self

    def begin(
        self,
        views: Sequence[Vectors],
        dictionaries: Dictionary | Sequence[Dictionary],
        *,
        workplace: Workplace,
        notices: list[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Put all entries into the directory of `workplace`, where others can gather their means and covariances.

        The parameters are those of `fit`, which then finds these there. Entries are induced here.
        """
        views = tuple(views)
        entries, first, choice = self._first(views, dictionaries, notices, progress)
        last, _ = self._induced(first, choice, entries.spelt_alike(views), progress)
        self._begin(replace(last, workplace=workplace))

    def _first(
        self,
        views: tuple[Vectors, ...],
        dictionaries: Dictionary | Sequence[Dictionary],
        notices: list[str] | None,
        progress: Progress | None,
    ) -> tuple[Entries, TrainingEntries, ChosenSettings]:
        """The entries of the dictionaries, with what is learnt from them before any are induced."""
        names = tuple(view.name or f"view {number + 1}" for number, view in enumerate(views))
        self.check_languages(names)
        given = [dictionaries] if isinstance(dictionaries, Dictionary) else dictionaries
        entries = self._used(find_entries(given, views, notices))
        weights = self._weigh(entries.rows)
        first = prepared_entries(views, names, entries, weights, self.prepare, progress or silent)
        return entries, first, self._choose(first)

    def _begin(self, given: TrainingEntries) -> None:
        """Put the entries where others can gather the moments that `_join` needs."""
        given.begin_moments()

    def check_languages(self, names: Sequence[str]) -> None:
        """Raise `UsageError` if this method cannot join languages with these names."""
        if len(names) < 2:
            raise UsageError(f"found {len(names)} language, wanted two or more; add the vectors of another one.")
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise UsageError(f"found two languages named {repeated!r}, wanted different names; name each language.")
        if self.two_views and len(names) > 2:
            raise UsageError(f"{self.method} can join two languages only, found {len(names)}; choose mbfa.")

    def _used(self, entries: Entries) -> Entries:
        """The entries that are used for training."""
        return entries

    def _weigh(self, rows: NDArray[np.int64]) -> Matrix:
        """How much each entry counts."""
        return np.ones(len(rows))

    def _choose(self, given: TrainingEntries) -> ChosenSettings:
        """The exponent and the shrinkage to fit with."""
        return ChosenSettings()

    def _for_mass(self, choice: ChosenSettings, first: float, total: float) -> ChosenSettings:
        """The choice for entries of total weight `total`, if it was made for entries of total weight `first`."""
        return choice

    @abstractmethod
    def _join(self, given: TrainingEntries, chosen: ChosenSettings, brief: bool, progress: Progress | None) -> Space:
        """Learn the space; with `brief`, between rounds of induction, training may stop early."""

    def _induced(
        self, first: TrainingEntries, choice: ChosenSettings, alike: NDArray[np.bool_], progress: Progress | None
    ) -> tuple[TrainingEntries, InductionReport]:
        """The entries for the last fit, and what induction did."""
        induction = self.induction
        if induction is None or not induction.rounds:
            return first, InductionReport()
        frequent = [matrix[: induction.vocabulary] for matrix in first.views]

        def place(rows: NDArray[np.int64], weights: Matrix) -> list[NDArray[np.float32]]:
            given = replace(first, rows=rows, weights=weights)
            found = self._join(given, self._for_mass(choice, first.mass, given.mass), True, None)
            given_maps = zip(frequent, found.centres, found.maps, strict=True)
            return [np.asarray((matrix - centre) @ to, dtype=np.float32) for matrix, centre, to in given_maps]

        rows, weights, report = induce(
            place,
            first.rows,
            first.weights,
            induction,
            alike=alike,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
        )
        return replace(first, rows=rows, weights=weights), report

    def vectors(self, language: str | int) -> Vectors:
        """The vectors of a language, as they were read."""
        self.check_fitted()
        number = self.space_.view(language)
        found = self.views_[number]
        if found is None:
            name = self.space_.languages[number]
            raise UsageError(
                f"the space was saved without vectors, but those of {name} are needed; give them (`vectors`)."
            )
        return found

    def attach(self, vectors: Vectors, language: str | int | None = None) -> Self:
        """Give vectors to a space that was saved without them.

        They belong to `language`, by default the language with the name of the vectors, and must have been read with
        the same options as those that the space was fitted on.
        """
        self.check_fitted()
        number = self.space_.checked_view(vectors.matrix, vectors.name if language is None else language)
        name, wanted = self.space_.languages[number], self.record_.reading[number]
        if vectors.reading != wanted:
            raise UsageError(
                f"found vectors of {name} that were read with {vectors.reading}, wanted {wanted}, which the space was "
                f"fitted with; read them again."
            )
        self.views_ = (*self.views_[:number], vectors, *self.views_[number + 1 :])
        return self

    def project(self, vectors: NDArray[np.floating], language: str | int) -> NDArray[np.float32]:
        """Map vectors of a language into the shared space; each row is a vector as it was read."""
        self.check_fitted()
        return self.space_.project(vectors, language)

    def aligned(self, language: str | int, *, max_vocabulary: int | None = None) -> Vectors:
        """The words of a language with their vectors in the shared space.

        `max_vocabulary` keeps only that many words, the first ones.
        """
        vectors = self.vectors(language)
        if max_vocabulary is not None:
            vectors = vectors.first(max_vocabulary)
        return vectors.moved(self.project(vectors.matrix, language))

    def _sides(self, source: str | int | None, target: str | int | None) -> tuple[tuple[int, int], list[Vectors]]:
        """The views to translate from and into, and their vectors."""
        self.check_fitted()
        direction = self.space_.direction(source, target)
        return direction, [self.vectors(view) for view in direction]

    def neighbours(
        self,
        rows: NDArray[np.integer] | None = None,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        measure: str = "csls",
        count: int = 5,
        sources: int | None = SOURCES,
        progress: Progress | None = None,
    ) -> Neighbours:
        """Find the best translations of source words, as rows of the target vectors with their scores.

        Parameters
        ----------
        rows
            Rows of the source words; None means all of them.
        source, target
            The languages to translate from and into, by name or number. Of two languages, the default is from the first
            into the second.
        measure
            ``csls``, ``cosine`` and ``inverted-softmax`` compare positions in the shared space. ``likelihood`` ranks
            target words y by log p(x | y) of the factor model, up to a constant that depends on the query.
        count
            How many translations to find for each word.
        sources
            For ``csls`` and ``inverted-softmax``: the number of source words, the most frequent ones, that show which
            targets are hubs, which means near to everything. None uses all, and so does translating all words.
        progress
            Called after each block of targets.
        """
        space, (first, second), (known, others) = self.space_, *self._sides(source, target)
        space.check_measure(measure)
        asked = known.matrix if rows is None else known.matrix[rows]
        search = partial(retrieve, count=count, threads=self.threads, progress=progress)
        if measure == "likelihood":
            queries, points, bias = space.likelihood_points(asked, others.matrix, first, second)
            return search(queries, points, measure="dot", bias=bias)
        hubs = None
        if measure != "cosine" and rows is not None:
            hubs = space.project(known.matrix[:sources], first)
        placed = space.project(asked, first), space.project(others.matrix, second)
        return search(*placed, measure=measure, sources=hubs)

    def mutual_neighbours(
        self,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        measure: str = "csls",
        progress: Progress | None = None,
    ) -> Neighbours:
        """Find pairs of words that are each other's best translation.

        The result has one row for each source word: its best translation, or -1 if the best translation of that is
        another word. The options are those of `neighbours`.
        """
        (first, second), _ = self._sides(source, target)
        best = partial(self.neighbours, measure=measure, count=1, progress=progress)
        there, back = best(source=first, target=second), best(source=second, target=first)
        found = there.rows[:, :1]
        mutual = (found >= 0) & (back.rows[found[:, 0], :1] == np.arange(len(found))[:, None])
        return Neighbours(np.where(mutual, found, -1), np.where(mutual, there.scores, np.float32(-np.inf)))

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
    ) -> list[list[WordTranslation]]:
        """Translate words: for each a list of its best translations, the best first.

        Words are looked up as they are, then in lower case; the list of a word without a vector is empty. The options
        are those of `neighbours`.
        """
        (first, second), (known, others) = self._sides(source, target)
        rows = known.vocabulary.find(words)
        search = partial(self.neighbours, measure=measure, sources=sources, progress=progress)
        found = search(rows[rows >= 0], source=first, target=second, count=min(count, len(others)))
        answers = iter(found.listed(others.words))
        return [next(answers) if row >= 0 else [] for row in rows.tolist()]

    def scorer(
        self,
        source: str | int | None = None,
        target: str | int | None = None,
        *,
        scoring: Scoring | None = None,
        threads: int | None = None,
    ) -> SpaceScorer:
        """Make a `SpaceScorer`, which aligns sentences of two languages of the space.

        `source` and `target` are as in `neighbours`. If `threads` is None, the number of the model is used.

        Examples
        --------
        >>> space.scorer("en", "fr").align_pair("the house", "la maison").links  # doctest: +SKIP
        [(0, 0), (1, 1)]
        """
        languages, views = self._sides(source, target)
        threads = self.threads if threads is None else threads
        return SpaceScorer(self.space_, views, languages=languages, scoring=scoring, threads=threads)

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
        """Find the senses of words: for each a list, with the senses that explain most of its vector first.

        The list of a word without a vector is empty. `source` and `target` are described at `neighbours`; `most`,
        `count` and `least` at `find_senses`; `components` and `seed` at `fit_mixture`. If `dictionaries` are given,
        their entries are used for the mixture instead of those that the space was fitted on.
        """
        languages, views = self._sides(source, target)
        rows = views[0].vocabulary.find(words)
        everything = [self.vectors(view) for view in range(len(self.space_))]
        entries = find_entries(dictionaries, everything).rows if dictionaries else self.entries_
        if entries is None:
            raise UsageError(
                "the space was saved without the dictionary entries that the mixture is fitted on; give some "
                "(`dictionaries`)."
            )
        mixture = fit_mixture(self.space_, everything, entries, components=components, seed=seed, progress=progress)
        search = partial(find_senses, most=most, count=count, least=least, threads=self.threads, progress=progress)
        answers = iter(search(mixture, views, rows[rows >= 0], languages=languages))
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
        """Draw random tuples of related words, one of each language, and return the most probable ones.

        A meaning z is drawn, then a vector of each view around W z + mu with the noise of that view (Vargas et al.
        2019, eq. 1); each vector is shown as the word nearest to it by cosine. Tuples are ranked by the joint density
        of the words' own vectors, as in the program of Vargas et al. The words of a tuple are related, but need not be
        translations of each other (section 4.6 there).

        Parameters
        ----------
        count
            How many tuples to return, those with the highest density; fewer if fewer different ones were drawn.
        draws
            How many tuples to draw.
        noise
            Share of the noise variance to draw with, from 0 to 1: less brings the words of a tuple closer together. If
            the model was fitted with much shrinkage, the shrinkage is part of the noise. Densities are always those of
            the full model.
        seed
            Seed for the draws.
        progress
            Called after each block of words.
        """
        self.check_fitted()
        space = self.space_
        if space.model is None:
            raise UsageError(f"{self.method} has no factor model to draw from; fit the space by ibfa or mbfa.")
        if not 1 <= count <= draws:
            raise UsageError(f"`count` must be 1 to {draws:,}, the number of `draws`. Got {count:,} instead.")
        if not 0.0 <= noise <= 1.0:
            raise UsageError(f"`noise` must lie between 0 and 1. Got {noise} instead.")
        quieter = replace(space.model, noises=tuple(noise * matrix for matrix in space.model.noises))
        rows = np.empty((draws, len(space)), dtype=np.int64)
        nearest: dict[int, NDArray[np.float32]] = {}
        for view, (preparation, drawn) in enumerate(zip(space.preparations, quieter.sample(draws, seed), strict=True)):
            places = preparation.apply(self.vectors(view).matrix)
            rows[:, view] = retrieve(drawn, places, count=1, threads=self.threads, progress=progress).rows[:, 0]
            nearest[view] = places[rows[:, view]]
        density = space.model.log_density(nearest)
        first = np.sort(np.unique(rows, axis=0, return_index=True)[1])  # each tuple once
        best = first[np.argsort(-density[first], kind="stable")[:count]]
        words: list[list[str]] = []
        back: list[list[str]] = []
        for view, column in enumerate(rows[best].T):
            words.append([self.vectors(view).words[row] for row in column])
            if view:
                again = self.neighbours(column, source=view, target=0, count=1, progress=progress).rows[:, 0]
                back.append([self.vectors(0).words[row] if row >= 0 else "" for row in again])
        drawn_words, translated = list(zip(*words, strict=True)), list(zip(*back, strict=True))
        return [Sample(*found) for found in zip(drawn_words, translated, density[best].tolist(), strict=True)]

    @property
    def facts(self) -> dict[str, object]:
        """What the signature of a score says about the space."""
        self.check_fitted()
        record = self.record_
        facts: dict[str, object] = {"space": self.method, "factors": record.factors}
        for name, value in (("exponent", record.exponent), ("shrinkage", record.shrinkage)):
            if value is not None:
                facts[name] = f"{value:g}"
        facts["prepared"] = "+".join(self.prepare) or "no"
        return {**facts, "entries": record.entries, "induced": record.induced, "seed": self.seed}

    def save(self, directory: str | Path, *, vectors: bool = True) -> None:
        """Save the space to `directory`, completely or not at all.

        With `vectors`, the vectors and the dictionary entries are saved too, and the loaded space can be used without
        other files.
        """
        self.check_fitted()
        options = {name: value for name, value in self.get_params().items() if name != "threads"}
        kept = [self.vectors(view) for view in range(len(self.space_))] if vectors else None
        entries = self.entries_ if vectors else None
        write_space(directory, SavedSpace(self.space_, options, self.record_, kept, entries))

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> Self:
        """Load a fitted model that `save` wrote.

        `SpaceModel.load` accepts a model of any method, `load` of another class only models of that class.
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
