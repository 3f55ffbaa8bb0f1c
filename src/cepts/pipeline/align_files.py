"""Files of sentence pairs -> a model, trained or loaded -> files of links, scores, matrices or lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cepts.data import Bitext, Scorer
from cepts.errors import ModelError, UsageError
from cepts.extract import Extraction
from cepts.io import LinkWriter, check_output
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.lists import list_alignments
from cepts.pipeline.loop import Summary, align, check_cepts
from cepts.pipeline.notices import note_unknown_words
from cepts.progress import Progress
from cepts.store import check_destination
from cepts.words import Aligner


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


def align_files(job: AlignJob, *, notices: list[str] | None = None, progress: Progress | None = None) -> Summary:
    """Read sentence pairs, train or load what scores them, and write their links.

    `notices` gets a line for each thing that looks wrong in the text, or with the loaded model.
    """
    outputs = job.outputs
    outputs.check()
    if isinstance(job.scorer, WordTraining) and job.scorer.save is not None:
        check_destination(job.scorer.save)
    bitext = job.texts.read(notices, progress)
    not_saved: ModelError | None = None
    if isinstance(job.scorer, WordTraining):
        scorer: Scorer = job.scorer.aligner
        not_saved = _train(job.scorer, job.extraction, bitext, progress)
    else:
        scorer = job.scorer()
        if notices is not None:
            note_unknown_words(job.texts.names, scorer, bitext, notices)
    if outputs.lists is None:
        writer = LinkWriter(outputs.links, format=outputs.format, base=outputs.base, bitext=bitext)
        results = {"scores": outputs.scores, "matrices": outputs.matrices}
        summary = align(scorer, bitext, writer, job.extraction, **results, progress=progress)
    elif isinstance(scorer, Aligner):
        how: dict[str, Any] = {"count": outputs.lists, "direction": outputs.direction, "format": outputs.format}
        summary = list_alignments(scorer, bitext, outputs.links, **how, progress=progress)
    else:
        raise UsageError("`nbest` lists the alignments of one word model; give the directory of one.")
    summary.not_saved = not_saved
    return summary


def _train(
    training: WordTraining, extraction: Extraction, bitext: Bitext, progress: Progress | None
) -> ModelError | None:
    """Train an aligner; returns why it could not be saved: links of a long training should not be lost with that."""
    aligner = training.aligner
    if extraction.combine == "onmf":
        check_cepts(extraction.factoring.cepts, bitext, aligner.max_length)
    aligner.fit(bitext, progress=progress, checkpoint=training.checkpoint)
    try:
        if training.save is not None:
            aligner.save(training.save)
    except ModelError as error:
        return error
    return None
