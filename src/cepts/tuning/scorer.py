"""A scorer that has learnt from gold links how to read what other scorers say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Bitext, Directions, Runs, Scorer, as_bitext
from cepts.data.lazy import lazy_property
from cepts.errors import DataError, ModelError, UsageError, check_least
from cepts.estimator import Estimator
from cepts.extract import Aligning, needs_whole_text, said_together
from cepts.names import MODEL_KINDS, resolve
from cepts.store import MEMBER, kind_of, load_model, save_model
from cepts.tuning.features import Opinion
from cepts.tuning.general import General, shipped
from cepts.tuning.model import LinkModel, Prior, ScoredRun, Tuning, calibrate, tune
from cepts.tuning.texts import TextFacts

KIND = "tuned"
LEAST_PAIRS = 2
# Token pairs of a run at most: each of them may become a row of more than a hundred features.
CELLS_IN_RUN = 1 << 17


class TunedDirections(Directions):
    """The probabilities of a link model, the same in both directions."""

    name = "a tuned model"

    def __init__(
        self,
        model: LinkModel,
        text: TextFacts,
        places: tuple[NDArray[np.int64], NDArray[np.int64]],
        first: int,
        parts: Sequence[Opinion],
    ) -> None:
        run = ScoredRun(parts, first, text)  # not kept: its features are large
        self.mean = run.mean
        self.agreement = model.probabilities(run, places)
        self.first, self.threshold = first, model.threshold
        self.has_log_probabilities = run.mean.has_log_probabilities

    @lazy_property
    def forward(self) -> Association:
        """P(link)."""
        return self.agreement

    @lazy_property
    def reverse(self) -> Association:
        """P(link)."""
        return self.agreement

    @lazy_property
    def scores(self) -> NDArray[np.float64]:
        """Those of the scorers before tuning."""
        return self.mean.scores

    @lazy_property
    def pulls(self) -> Any:
        """Those of the scorers before tuning."""
        return self.mean.pulls


class TunedScorer(Estimator, Aligning):
    """Aligns by a log-linear model of links that is learnt from gold links, on top of what other scorers say.

    Without much evidence in the gold links, the model remains close to the mixture of the scorers: its weights are
    drawn to those of a general model, how strongly is chosen by cross-validation over the gold pairs, and if the
    cross-validated log-loss is not surely below that of the mixture, the mixture is used.

    Parameters
    ----------
    scorers
        The scorers, which are trained already. There is a general model for an HMM, Model 4 and a second HMM, which
        `cepts align --gold` trains; with other scorers, weights are drawn to 0.
    strength
        How strongly weights are drawn to those of the general model; None chooses it by cross-validation.
    folds
        Number of parts for cross-validation.
    general
        The general model; None is the one of the package, if it has one for these scorers. False starts from the
        mixture of the scorers.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.

    Attributes
    ----------
    model_
        The link model.
    tuning_
        What cross-validation found.
    """

    def __init__(
        self,
        scorers: Sequence[Any],
        *,
        strength: float | None = None,
        folds: int = 5,
        general: General | bool | None = None,
        threads: int | None = None,
    ) -> None:
        self.scorers, self.strength, self.folds, self.general, self.threads = scorers, strength, folds, general, threads
        if not scorers:
            raise UsageError("`scorers` must have at least one scorer. Got none instead.")
        if strength is not None and not strength > 0:
            raise UsageError(f"`strength` must be above 0. Got {strength} instead.")
        check_least(self, 2, "folds")
        check_least(self, 1, "threads")

    @property
    def max_length(self) -> int | None:
        """Pairs with a longer sentence are left unaligned; None if a scorer aligns all pairs."""
        limits = [scorer.max_length for scorer in self.scorers]
        return None if None in limits else max(limits)

    @max_length.setter
    def max_length(self, length: int) -> None:
        for scorer in self.scorers:
            scorer.max_length = length

    @property
    def needs_whole_text(self) -> bool:
        """Whether one of the scorers needs it."""
        return needs_whole_text(*self.scorers)

    def fit(self, pairs: Any, gold: Alignments) -> Self:
        """Learn from the gold links of some sentence pairs, and return the scorer itself.

        Parameters
        ----------
        pairs
            A `Bitext`, or a list of pairs of sentences.
        gold
            Their gold links, as many alignments as there are pairs; those without any link have no gold.
        """
        bitext, links = gold_pairs(as_bitext(pairs), gold)
        runs = self.scored(bitext)
        return self.use(*tune(runs, links, prior=self._prior(runs), strength=self.strength, folds=self.folds))

    def calibrate(self, pairs: Any, gold: Alignments) -> Self:
        """Learn confidences from gold links, leave the links as they are, and return the scorer itself; see `fit`."""
        bitext, links = gold_pairs(as_bitext(pairs), gold)
        return self.use(*calibrate(self.scored(bitext), links))

    def use(self, model: LinkModel, tuning: Tuning | None = None) -> Self:
        """Take a link model instead of learning one, such as a general one, and return the scorer itself."""
        self.model_, self.tuning_ = model, tuning
        return self

    def scored(self, pairs: Any) -> list[ScoredRun]:
        """The pairs with the features of their cells, as `tune` takes them."""
        bitext = as_bitext(pairs)
        text = TextFacts.of(bitext)
        members = [scorer.directions(bitext, in_order=True) for scorer in self.scorers]
        return [ScoredRun(parts, first, text) for first, parts in said_together(members, self.threads, Opinion)]

    def _prior(self, runs: Sequence[ScoredRun]) -> Prior | None:
        names = tuple(str(getattr(scorer, "name", type(scorer).__name__)) for scorer in self.scorers)
        general = shipped().get(names) if self.general is None else self.general
        return general.of(tuple(runs[0].features)) if isinstance(general, General) else None

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Score sentence pairs, run by run; see `cepts.data.Scorer`."""
        self.check_fitted()
        bitext, most = as_bitext(pairs), min(cells or CELLS_IN_RUN, CELLS_IN_RUN)
        members = [scorer.directions(bitext, cells=most, in_order=True) for scorer in self.scorers]
        return Runs(self._makers(bitext, members), members[0].pairs, threads=self.threads)

    def _makers(self, bitext: Bitext, members: Sequence[Runs]) -> Iterator[Callable[[], Directions]]:
        text = TextFacts.of(bitext)
        places = self.model_.lexical.places(text)
        for first, parts in said_together(members, self.threads, Opinion):
            yield partial(TunedDirections, self.model_, text, places, first, parts)

    def knows(self, words: Sequence[str], side: int) -> NDArray[np.bool_]:
        """Which of `words` occur in the training text of a scorer, on the source side (`side` 0) or target side (1)."""
        known = [scorer.knows(words, side) for scorer in self.scorers if hasattr(scorer, "knows")]
        return np.logical_or.reduce(known) if known else np.ones(len(words), dtype=np.bool_)

    def save(self, directory: str | Path, *, prune: float = 0.0) -> None:
        """Save the link model and its scorers in `directory`; `prune` goes to the scorers, see `Aligner.save`."""
        self.check_fitted()
        for scorer in self.scorers:
            if not hasattr(scorer, "save"):
                raise UsageError(f"{type(scorer).__name__} cannot be saved, so that a model tuned with it cannot be.")
        settings, arrays = self.model_.parts()
        options = {"strength": self.strength, "folds": self.folds}
        members = {f"{MEMBER}{n}": partial(_save_member, scorer, prune) for n, scorer in enumerate(self.scorers, 1)}
        settings |= {
            "options": options,
            "tuning": None if self.tuning_ is None else self.tuning_.as_dict(),
            "members": list(members),
        }
        save_model(directory, kind=KIND, settings=settings, arrays=arrays, members=members)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> Self:
        """Load the scorer that `save` wrote to `directory`."""
        saved = load_model(directory, kind=KIND)
        try:
            places = [Path(directory) / name for name in saved.settings["members"]]
            scorers: list[Scorer] = [resolve(MODEL_KINDS[kind_of(place)])(place, threads=threads) for place in places]
            found = cls(scorers, threads=threads, **saved.settings["options"])
            tuning = saved.settings["tuning"]
            found.use(LinkModel.from_parts(saved.settings, saved.arrays), None if tuning is None else Tuning(**tuning))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{directory} is complete, but this version of cepts does not understand the tuned model in it "
                f"({error}); tune it again."
            ) from None
        return found


def _save_member(scorer: Any, prune: float, directory: Path) -> None:
    if prune:
        scorer.save(directory, prune=prune)
    else:
        scorer.save(directory)


def gold_pairs(bitext: Bitext, gold: Alignments) -> tuple[Bitext, Alignments]:
    """The pairs that have gold links, as a bitext of their own, and their links.

    Raises `DataError` if nothing can be learnt from them. If no link is sure, all possible links are taken to be sure.
    """
    if len(gold) != len(bitext):
        raise DataError(f"there are gold links for {len(gold):,} sentence pairs, but {len(bitext):,} pairs.")
    chosen = np.flatnonzero(np.diff(gold.offsets) > 0)
    if len(chosen) < LEAST_PAIRS:
        found = "only 1 sentence pair" if len(chosen) else "no sentence pair"
        raise DataError(
            f"{found} has gold links, but tuning needs at least {LEAST_PAIRS}, to learn from some and judge by others."
        )
    links = gold.take(chosen)
    sizes = bitext.source.lengths[chosen], bitext.target.lengths[chosen]
    outside = np.flatnonzero((links.source >= sizes[0][links.pair]) | (links.target >= sizes[1][links.pair]))
    if len(outside):
        link = outside[0]
        pair = links.pair[link]
        raise DataError(
            f"the gold links of sentence pair {chosen[pair] + 1:,} have {links.source[link]}-{links.target[link]}, but "
            f"the pair has {sizes[0][pair]:,} and {sizes[1][pair]:,} words, counted from 0."
        )
    if len(links.source) == int(np.sum(sizes[0] * sizes[1])):
        raise DataError(
            "the gold links link every word with every word, so that they do not say what is no link; give gold in "
            "which some words are not linked."
        )
    own = Bitext.from_tokens([bitext[pair] for pair in chosen.tolist()])
    if not links.sure.any():
        links = Alignments(links.offsets, links.source, links.target, links.confidence, np.ones_like(links.sure))
    return own, links
