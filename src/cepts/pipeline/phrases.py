"""Sentence pairs with annotation -> links and segments -> files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from cepts.data import Alignments, Scorer, Segments, SentencePair, as_bitext
from cepts.extract import Extraction
from cepts.io import open_output, read_sentence_pairs
from cepts.io.lines import json_line
from cepts.phrases import PhraseAligner
from cepts.phrases.paths import Alternative
from cepts.pipeline.align_files import AlignOutputs
from cepts.pipeline.inputs import check_input, load_phrase_aligner, tokenise_pairs
from cepts.pipeline.lists import count_listed
from cepts.pipeline.loop import Summary, WriterOfRuns, align
from cepts.progress import Progress, Step, silent

PAIRS_AT_A_TIME = 256


class PairWriter(AbstractContextManager[Any], Protocol):
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
    tokenise: str = "auto",
    max_length: int | None = None,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Read sentence pairs, and write their links through `writer`, or their best segmentations.

    Parameters
    ----------
    model, max_length, threads
        As in `load_phrase_aligner`.
    files, input_format
        As in `cepts.io.read_sentence_pairs`.
    tokenise, notices
        As in `tokenise_pairs`.
    """
    outputs.check()
    pairs = read_sentence_pairs(*files, format=input_format)
    aligner = load_phrase_aligner(model, threads=threads, max_length=max_length)
    check_input(aligner, aligner.columns_, pairs, files[0])
    pairs = tokenise_pairs(aligner, pairs, files[0], tokenise=tokenise, notices=notices)
    if outputs.lists is None:
        results = {"scores": outputs.scores, "matrices": outputs.matrices}
        return align_pairs(aligner, pairs, writer, extraction, **results, progress=progress)
    return list_segmentations(
        aligner, pairs, outputs.links, count=outputs.lists, direction=outputs.direction, progress=progress
    )


def list_segmentations(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair],
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    progress: Progress | None = None,
) -> Summary:
    """Write the `count` best segmentations of each pair as JSON lines: of one `direction`, or of both."""
    report = progress or silent
    summary = Summary(pairs=len(pairs), listed=direction)
    with open_output(output) as file:
        for start in range(0, len(pairs), PAIRS_AT_A_TIME):
            run = pairs[start : start + PAIRS_AT_A_TIME]
            lists = aligner.nbest(run, count)
            report(Step(stage="listing", done=start + len(run), total=len(pairs)))
            for pair, *found in zip(run, *lists, strict=True):
                record: dict[str, object] = {"id": pair.id} if pair.id else {}
                record |= {"source": pair.source.tokens, "target": pair.target.tokens}
                for name, listed in zip(("forward", "reverse"), found, strict=True):
                    if direction in {name, "both"}:
                        record[name] = [_alternative(one) for one in listed]
                file.write(json_line(record))
                count_listed(summary, direction, len(found[0]), len(found[1]))
    summary.of_text(as_bitext(pairs), aligner.max_length)
    return summary


def _alternative(one: Alternative) -> dict[str, object]:
    return {
        "score": round(one.score, 6),
        "log_probability": round(one.log_probability, 6),
        "segments": [[source, target, round(confidence, 4)] for source, target, confidence in one.segments],
    }
