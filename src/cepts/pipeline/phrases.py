"""Sentence pairs with annotation -> links and segments -> files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from cepts.data import Alignments, Scorer, Segments, SentencePair
from cepts.extract import Extraction
from cepts.io import read_sentence_pairs
from cepts.pipeline.align import Summary, WriterContext, WriterOfRuns, align
from cepts.pipeline.align_files import AlignOutputs
from cepts.pipeline.lists import list_segmentations
from cepts.pipeline.phrase_inputs import check_input, load_phrase_aligner
from cepts.progress import Progress


class PairWriter(WriterContext, Protocol):
    """What takes successive pairs with their links and segments, such as `cepts.io.SentencePairWriter`."""

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next pairs."""


class _RunWriter(WriterOfRuns):
    """Gives a writer of pairs the pairs to which links belong."""

    def __init__(self, writer: PairWriter, pairs: Sequence[SentencePair]) -> None:
        super().__init__(writer)
        self._pairs, self._written = pairs, 0

    def write(self, alignments: Alignments) -> None:
        """Write the next pairs."""
        start, self._written = self._written, self._written + len(alignments)
        self.writer.write(self._pairs[start : self._written], alignments, alignments.segments)


def align_pairs(
    scorer: Scorer,
    pairs: Sequence[SentencePair],
    writer: PairWriter,
    extraction: Extraction | None = None,
    *,
    scores: str | Path | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Align sentence pairs as `cepts.pipeline.align` does, and write the pairs themselves with what was found."""
    return align(
        scorer, pairs, _RunWriter(writer, pairs), extraction, scores=scores, matrices=matrices, progress=progress
    )


def align_pair_files(
    model: str,
    files: tuple[str, str | None],
    writer: PairWriter,
    outputs: AlignOutputs,
    extraction: Extraction | None = None,
    *,
    input_format: str = "auto",
    max_length: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Read sentence pairs, and write their links through `writer`, or their best segmentations.

    Parameters
    ----------
    model, max_length, threads
        As in `load_phrase_aligner`.
    files, input_format
        As in `cepts.io.read_sentence_pairs`.
    """
    outputs.check()
    pairs = read_sentence_pairs(*files, format=input_format)
    aligner = load_phrase_aligner(model, threads=threads, max_length=max_length)
    check_input(aligner, aligner.columns_, pairs, files[0])
    if outputs.lists is None:
        results = {"scores": outputs.scores, "matrices": outputs.matrices}
        return align_pairs(aligner, pairs, writer, extraction, **results, progress=progress)
    return list_segmentations(
        aligner, pairs, outputs.links, count=outputs.lists, direction=outputs.direction, progress=progress
    )
