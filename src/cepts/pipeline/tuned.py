"""Aligners that learn from gold links: from files of sentence pairs and gold links to a tuned scorer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepts.data import Alignments, Bitext, Scorer
from cepts.errors import DataError, ModelError
from cepts.extract import ScorerMixture
from cepts.names import DEFAULT_WORD_MODEL, WORD_MODELS, resolve
from cepts.pipeline.inputs import BitextFiles, LinkFile, Sides
from cepts.pipeline.models import load_scorer, new_model
from cepts.pipeline.reports import counted
from cepts.progress import Progress, Step, silent
from cepts.store import check_destination
from cepts.words import Aligner

if TYPE_CHECKING:
    from cepts.tuning import General, TunedScorer, Tuning

# What is trained for tuning if no model is chosen, with the options that differ from their defaults. The third gives
# more cells that may be links.
TUNED_MODELS: tuple[tuple[str, dict[str, Any]], ...] = (("hmm", {}), ("ibm4", {}), ("hmm", {"agreement": False}))


def tuned_scorer(
    scorers: Sequence[Any],
    bitext: Bitext,
    gold: Alignments,
    *,
    default: Callable[[], Any] | None = None,
    general: General | None = None,
    threads: int | None = None,
) -> TunedScorer:
    """Tune trained scorers on the gold links of some sentence pairs.

    Parameters
    ----------
    scorers, general, threads
        As in `TunedScorer`.
    bitext, gold
        As in `TunedScorer.fit`.
    default
        Returns a trained scorer whose links are used, with confidences that are learnt from the gold links, if it
        is not sure that tuning helps; None uses the mixture of `scorers` then.
    """
    from cepts.tuning import TunedScorer

    scorer = TunedScorer(list(scorers), general=general, threads=threads).fit(bitext, gold)
    if default is None or (scorer.tuning_ is not None and scorer.tuning_.strength is not None):
        return scorer
    return TunedScorer([default()], threads=threads).calibrate(bitext, gold)


def members_for_tuning(model: str | None, options: dict[str, Any]) -> list[Aligner]:
    """The untrained word aligners on which a tuned model is built: `model`, or by default several."""
    if model is not None:
        return [new_model(WORD_MODELS, model, options)]
    return [_untrained(name, options, own) for name, own in TUNED_MODELS]


def default_for_tuning(model: str | None, options: dict[str, Any]) -> Aligner | None:
    """The untrained word aligner that is used if tuning does not help; None is the model itself, if one is chosen."""
    return None if model is not None else _untrained(DEFAULT_WORD_MODEL, options, {})


def _untrained(name: str, options: dict[str, Any], own: dict[str, Any]) -> Aligner:
    """A word aligner with those of `options` that it knows, and with its own."""
    known = resolve(WORD_MODELS[name]).parameters()
    aligner: Aligner = new_model(WORD_MODELS, name, {key: options[key] for key in options if key in known} | own)
    return aligner


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTraining:
    """Train word aligners on sentence pairs, and tune them on the gold links of some of these pairs.

    Attributes
    ----------
    aligners
        Word aligners that are not trained yet.
    gold
        The gold links.
    default
        What is trained and used, with confidences that are learnt from the gold links, if tuning does not help; None
        uses the mixture of `aligners` then.
    save
        Directory for the tuned model; None does not save it.
    prune
        The least expected count that is saved.
    """

    aligners: Sequence[Aligner]
    gold: LinkFile
    default: Aligner | None = None
    save: str | Path | None = None
    prune: float = 0.0

    def train(self, bitext: Bitext, progress: Progress | None) -> tuple[TunedScorer, ModelError | None]:
        """The tuned scorer, and the error if it could not be saved, so that the links are not lost with it."""
        from cepts.tuning import gold_pairs

        gold = read_gold(self.gold, bitext)
        gold_pairs(bitext, gold)  # refuses gold that is of no use before the models are trained
        for aligner in self.aligners:
            aligner.fit(bitext, progress=progress)
        default = None if self.default is None else partial(self.default.fit, bitext, progress=progress)
        scorer = _tuned(self.aligners, bitext, gold, progress, self.aligners[0].threads, default)
        try:
            if self.save is not None:
                scorer.save(self.save, prune=self.prune)
        except ModelError as error:
            return scorer, error
        return scorer, None


def tune_files(
    models: Sequence[str | Path],
    texts: BitextFiles,
    gold: LinkFile,
    *,
    save: str | Path,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Tune trained models on the gold links of some sentence pairs, save the result, and return what was found.

    Parameters
    ----------
    models
        Directories of word models; a model that is tuned already is tuned anew.
    texts
        The sentence pairs.
    gold
        Gold links of some of them.
    save
        Directory for the tuned model, which has copies of `models`.
    threads
        Number of threads; None uses one for each processor.
    notices
        A list to which notes for the user are appended.
    progress
        Called after each step.
    """
    check_destination(save)
    bitext = texts.read(notices, progress)
    links = read_gold(gold, bitext)
    scorer = _tuned(members_of(load_scorer(models, threads=threads)), bitext, links, progress, threads)
    scorer.save(save)
    assert scorer.tuning_ is not None
    return scorer.tuning_


def members_of(scorer: Scorer) -> list[Scorer]:
    """The scorers of which a mixture or a tuned scorer is made; another scorer alone."""
    from cepts.tuning import TunedScorer

    if isinstance(scorer, ScorerMixture | TunedScorer):
        return [member for each in scorer.scorers for member in members_of(each)]
    return [scorer]


def _tuned(
    scorers: Sequence[Scorer],
    bitext: Bitext,
    gold: Alignments,
    progress: Progress | None,
    threads: int | None,
    default: Callable[[], Aligner] | None = None,
) -> TunedScorer:
    report: Callable[[Step], None] = progress or silent
    report(Step(stage="tuning", done=0, total=1))
    scorer = tuned_scorer(scorers, bitext, gold, default=default, threads=threads)
    report(Step(stage="tuning", done=1, total=1))
    return scorer


def read_gold(gold: LinkFile, bitext: Bitext) -> Alignments:
    """The gold links of the pairs of a bitext; pairs without links, and those after the last one, have no gold."""
    found = gold.read()
    if len(found) > len(bitext):
        raise DataError(
            f"{gold.path} has gold links for sentence pair {len(found):,}, but the text has only "
            f"{counted(len(bitext), 'pair')}; give the text to which the gold links belong."
        )
    if gold.can_reread:
        # Now that the number of pairs is known, so that messages about links out of range name file and line.
        lengths = bitext.source.lengths[: len(found)], bitext.target.lengths[: len(found)]
        found = gold.read(Sides(None, *lengths))
    return Alignments.concatenate([found, Alignments.from_links([[]] * (len(bitext) - len(found)))])


def said(tuning: Tuning) -> str:
    """What tuning found, as a line for people."""
    links = f"{tuning.sure:,} sure and {tuning.possible:,} only possible links"
    before, after = (f"{100 * value:.1f}" for value in (tuning.aer_before, tuning.aer_after))
    if tuning.strength is None:
        return f"tuned    {tuning.pairs:,} gold pairs ({links}): no sure gain over AER {before} %; links are as before"
    # Log-loss decides, because the error rate over few pairs may be higher by luck.
    decided = "" if tuning.aer_after < tuning.aer_before else ", and a surely lower log-loss"
    return f"tuned    {tuning.pairs:,} gold pairs ({links}): AER {before} % -> {after} % by cross-validation{decided}"
