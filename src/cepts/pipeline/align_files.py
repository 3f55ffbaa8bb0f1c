"""From files of sentence pairs, with a trained or loaded model, to files of links, scores, matrices or lists."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepts.data import Bitext, Scorer
from cepts.engine import Engine, default_threads, workplace_of
from cepts.errors import ModelError, UsageError
from cepts.extract import Extraction, needs_whole_text
from cepts.factor import EXHAUSTIVE
from cepts.io import check_output
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.jobs import link_writer, shows_sentences, text_on
from cepts.pipeline.lists import list_alignments
from cepts.pipeline.loop import Summary, align, check_cepts
from cepts.pipeline.notices import note_unknown_words, note_unused_priors
from cepts.pipeline.passing import PassingText
from cepts.pipeline.priors import with_dictionary
from cepts.pipeline.tuned import GoldTraining, said
from cepts.progress import Progress, Step
from cepts.store import check_destination
from cepts.words import Aligner, Prior
from cepts.words.memory import MemoryPlan, TextSize
from cepts.words.text import ShelvedText

if TYPE_CHECKING:
    from cepts.encoders import EncoderScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTraining:
    """Train a word aligner on the sentence pairs that are to be aligned.

    Attributes
    ----------
    aligner
        An aligner that is not trained yet.
    save
        Directory for the trained model; None does not save it.
    prune
        The least expected count that is saved.
    checkpoint
        Directory for the state of training, from which an interrupted training continues.
    engine
        Runs the tasks of training: ``local``, or ``dask`` or ``dask:ADDRESS``, which need a checkpoint that all workers
        can read.
    memory
        How many bytes training may use; None is what it needs for speed.
    prior
        Gives what was learnt from earlier texts; see `cepts.pipeline.priors.prior_of`.
    dictionary
        A file of words and their translations, which are added to these counts.
    encoder
        Gives a scorer whose links in the text are added to these counts; see `cepts.encoders.prior`.
    """

    aligner: Aligner
    save: str | Path | None = None
    prune: float = 0.0
    checkpoint: str | Path | None = None
    engine: str = "local"
    prior: Callable[[], Prior] | None = None
    dictionary: str | Path | None = None
    encoder: Callable[[], EncoderScorer] | None = None
    memory: int | None = None

    def plan(self) -> MemoryPlan | None:
        """How the text is cut so that training needs no more memory than it may use."""
        if self.memory is None:
            return None
        return MemoryPlan.within(self.memory, self.aligner.threads or default_threads())


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOutputs:
    """Where the results of an alignment go.

    Attributes
    ----------
    links, format, base
        The file of links, its format, and the number of a sentence's first word; see `cepts.io.LinkWriter`. For lists,
        `format` is one of `cepts.io.NBestWriter`.
    scores, quality, matrices
        Files for scores, qualities and association matrices, as in `cepts.pipeline.align`; None writes none.
    lists
        Write this many of the most probable alignments of each pair instead of links.
    direction
        Which lists to write: ``forward``, ``reverse`` or ``both``.
    """

    links: str | Path = "-"
    format: str = "pharaoh"
    base: int = 0
    scores: str | Path | None = None
    quality: str | Path | None = None
    matrices: str | Path | None = None
    lists: int | None = None
    direction: str = "both"

    @property
    def show_words(self) -> bool:
        """Whether some of the results have the words of the sentences."""
        return self.lists is not None or self.matrices is not None or shows_sentences(self.format)

    def check(self) -> None:
        """Raise an error, before any work, if a file cannot be written."""
        for path in (self.links, self.scores, self.quality, self.matrices):
            if path is not None:
                check_output(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignJob:
    """Everything that `align_files` needs.

    Attributes
    ----------
    texts
        The sentence pairs.
    scorer
        A word aligner to train on them, word aligners to train on them and to tune on gold links, or a function that
        loads a trained scorer.
    extraction
        How links are made from the scores.
    outputs
        Where the results go.
    """

    texts: BitextFiles
    scorer: WordTraining | GoldTraining | Callable[[], Scorer]
    extraction: Extraction = field(default_factory=Extraction)
    outputs: AlignOutputs = field(default_factory=AlignOutputs)


def align_files(job: AlignJob, *, notices: list[str] | None = None, progress: Progress | None = None) -> Summary:
    """Read sentence pairs, train or load a scorer, and write the links.

    Parameters
    ----------
    job
        What to align, how, and where to write the results.
    notices
        A list to which notes for the user are appended, about things that look wrong in the text or with the model.
    progress
        Called after each step.
    """
    with ExitStack() as files:
        return _aligned(job, files, notices, progress)


def _aligned(job: AlignJob, files: ExitStack, notices: list[str] | None, progress: Progress | None) -> Summary:
    """What `align_files` does; `files` closes a text that is not read to its end."""
    outputs = job.outputs
    outputs.check()
    if isinstance(job.scorer, WordTraining | GoldTraining) and job.scorer.save is not None:
        check_destination(job.scorer.save)
    not_saved: ModelError | None = None
    text: Bitext | ShelvedText | PassingText
    if isinstance(job.scorer, WordTraining):
        scorer: Scorer = job.scorer.aligner
        aligner, plan = job.scorer.aligner, job.scorer.plan()
        how: dict[str, Any] = {"bound": aligner.word_bound, "plan": plan, "threads": aligner.threads}
        # The engine comes first: a cluster that cannot be reached should not be found out after hours of reading.
        with workplace_of(job.scorer.engine, aligner.threads, job.scorer.checkpoint) as workplace:
            text = text_on(job.texts, job.scorer.checkpoint, **how, notices=notices, progress=progress)
            if outputs.show_words:
                text.check_words()
            not_saved = _train(job.scorer, job.extraction, text, workplace.engine, plan, notices, progress)
        if notices is not None:
            note_unused_priors(job.texts.names, text.shelf, notices)
    elif isinstance(job.scorer, GoldTraining):
        text = job.texts.read(notices, progress)
        tuned, not_saved = job.scorer.train(text, progress)
        scorer = tuned
    else:
        text = files.enter_context(job.texts.passing(notices, progress))
        scorer = job.scorer()
        if notices is not None:
            note_unknown_words(job.texts.names, scorer, text.now, notices)
        # Random starts of cepts depend on the numbers of pairs.
        random_starts = job.extraction.combine == "onmf" and job.extraction.factoring.cepts in EXHAUSTIVE
        if text.is_one_part or random_starts or needs_whole_text(scorer):
            text = text.whole()
    if outputs.lists is None:
        writer = link_writer(outputs.links, outputs.format, outputs.base, text)
        results: dict[str, Any] = {"scores": outputs.scores, "matrices": outputs.matrices, "progress": progress}
        summary = align(scorer, text, writer, job.extraction, quality=outputs.quality, **results)
    elif isinstance(scorer, Aligner):
        how = {"count": outputs.lists, "direction": outputs.direction, "format": outputs.format}
        summary = list_alignments(scorer, text, outputs.links, **how, progress=progress)
    else:
        raise UsageError("`nbest` lists alignments of a single word model; load one word model.")
    summary.not_saved = not_saved
    if isinstance(job.scorer, GoldTraining) and tuned.tuning_ is not None:
        summary.tuned = said(tuned.tuning_)
    return summary


def _train(
    training: WordTraining,
    extraction: Extraction,
    text: ShelvedText,
    engine: Engine,
    plan: MemoryPlan | None,
    notices: list[str] | None,
    progress: Progress | None,
) -> ModelError | None:
    """Train an aligner; returns the error if it could not be saved, so that the links are not lost with it."""
    aligner = training.aligner
    if extraction.combine == "onmf":
        check_cepts(extraction.factoring.cepts, text, aligner.max_length)
    if plan is not None:
        size = TextSize.of(text, aligner.word_bound)
        plan = plan.for_text(size)
        if progress is not None:
            progress(Step(stage="indexing", done=0, total=1, line=plan.said(size)))
    how: dict[str, Any] = {"lasting": training.checkpoint is not None, "sizes": None if plan is None else plan.sizes}
    prior = None if training.prior is None else training.prior()
    if training.dictionary is not None:
        prior = with_dictionary(prior, training.dictionary, len(text))
    if training.encoder is not None:
        from cepts.pipeline.encoders import with_encoder

        prior = with_encoder(prior, training.encoder, text, lowercase=aligner.lowercase, notices=notices)
    aligner.fit_shelved(text, prior=prior, progress=progress, engine=engine, **how)
    try:
        if training.save is not None:
            aligner.save(training.save, prune=training.prune)
    except ModelError as error:
        return error
    return None
