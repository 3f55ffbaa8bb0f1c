"""Files of sentence pairs -> a model, trained or loaded -> files of links, scores, matrices or lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

from cepts.data import Bitext, Scorer
from cepts.errors import ModelError, UsageError
from cepts.extract import Extraction
from cepts.io import LinkWriter, check_output, read_bitext
from cepts.pipeline.align import Summary, align, check_cepts
from cepts.pipeline.lists import list_alignments
from cepts.progress import Progress
from cepts.store import check_destination
from cepts.words import Aligner


@dataclass(frozen=True, slots=True, kw_only=True)
class BitextFiles:
    """Where sentence pairs are; see `cepts.io.read_bitext`."""

    source: str | Path
    target: str | Path | None = None
    format: str = "auto"
    errors: str = "strict"
    languages: tuple[str, str] | None = None
    columns: tuple[str, str] | None = None

    def read(self, progress: Progress | None = None) -> Bitext:
        """The sentence pairs."""
        how = {field.name: getattr(self, field.name) for field in fields(self)}
        return read_bitext(how.pop("source"), how.pop("target"), **how, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTraining:
    """Train a word aligner on the pairs themselves.

    Attributes
    ----------
    aligner
        Not trained yet.
    save
        Directory in which the trained model is kept.
    checkpoint
        Directory that keeps the state of training, and from which an interrupted training goes on.
    """

    aligner: Aligner
    save: str | Path | None = None
    checkpoint: str | Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOutputs:
    """Where the results of an alignment go.

    Attributes
    ----------
    links, format, base
        Of the links; see `cepts.io.LinkWriter`. Of lists, `format` is that of `cepts.io.NBestWriter`.
    scores, matrices
        Files for these, as in `cepts.pipeline.align`.
    lists
        Write so many of the most probable alignments of each pair instead of links.
    direction
        Of the lists: ``forward``, ``reverse`` or ``both``.
    """

    links: str | Path = "-"
    format: str = "pharaoh"
    base: int = 0
    scores: str | Path | None = None
    matrices: str | Path | None = None
    lists: int | None = None
    direction: str = "both"

    def check(self) -> None:
        """Refuse a place that cannot be written to, before any work."""
        for path in (self.links, self.scores, self.matrices):
            if path is not None:
                check_output(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignJob:
    """All that an alignment of files needs; a scorer that need not be trained comes as a function that loads it."""

    texts: BitextFiles
    scorer: WordTraining | Callable[[], Scorer]
    extraction: Extraction = field(default_factory=Extraction)
    outputs: AlignOutputs = field(default_factory=AlignOutputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignReport:
    """What was done; `not_saved` says why the model could not be kept, though the links were written."""

    summary: Summary
    not_saved: ModelError | None = None


def align_files(job: AlignJob, *, progress: Progress | None = None) -> AlignReport:
    """Read sentence pairs, train or load what scores them, and write their links."""
    outputs = job.outputs
    outputs.check()
    if isinstance(job.scorer, WordTraining) and job.scorer.save is not None:
        check_destination(job.scorer.save)
    bitext = job.texts.read(progress)
    scorer: Scorer
    not_saved: ModelError | None = None
    if isinstance(job.scorer, WordTraining):
        scorer, not_saved = _trained(job.scorer, job.extraction, bitext, progress)
    else:
        scorer = job.scorer()
    if outputs.lists is not None:
        if not isinstance(scorer, Aligner):
            raise UsageError("`nbest` lists the alignments of one word model; give the directory of one.")
        summary = list_alignments(
            scorer,
            bitext,
            outputs.links,
            count=outputs.lists,
            direction=outputs.direction,
            format=outputs.format,
            progress=progress,
        )
        return AlignReport(summary=summary, not_saved=not_saved)
    summary = align(
        scorer,
        bitext,
        LinkWriter(outputs.links, format=outputs.format, base=outputs.base, bitext=bitext),
        job.extraction,
        scores=outputs.scores,
        matrices=outputs.matrices,
        progress=progress,
    )
    return AlignReport(summary=summary, not_saved=not_saved)


def _trained(
    training: WordTraining, extraction: Extraction, bitext: Bitext, progress: Progress | None
) -> tuple[Aligner, ModelError | None]:
    """The trained aligner, and why it could not be saved: links of a long training should not be lost with that."""
    aligner = training.aligner
    if extraction.combine == "onmf":
        check_cepts(extraction.factoring.cepts, bitext, aligner.max_length)
    aligner.fit(bitext, progress=progress, checkpoint=training.checkpoint)
    if training.save is not None:
        try:
            aligner.save(training.save)
        except ModelError as error:
            return aligner, error
    return aligner, None
