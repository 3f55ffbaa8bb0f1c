"""Sentence pairs with annotation -> links and segments -> files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from cepts.data import Alignments, Scorer, Segments, SentencePair, as_bitext
from cepts.errors import UsageError
from cepts.extract import AlignedRun, Extraction, rectangles
from cepts.io import each_sentence_pair, open_output
from cepts.io.lines import json_line
from cepts.phrases import PhraseAligner, synthesise
from cepts.phrases.paths import Alternative
from cepts.phrases.tokeniser import tokenised
from cepts.pipeline.align_files import AlignOutputs
from cepts.pipeline.inputs import are_running, check_input, load_phrase_aligner
from cepts.pipeline.lists import count_listed
from cepts.pipeline.loop import Summary, WriterOfRuns, align
from cepts.pipeline.passing import PassingPairs
from cepts.pipeline.phrase_jobs import PhraseWork, aligned_on, begin_aligning
from cepts.pipeline.piece_jobs import begun, check_begin, workplace_on
from cepts.pipeline.reports import Report
from cepts.progress import Progress, Step, Stopwatch, silent

PAIRS_AT_A_TIME = 256


class PairWriter(AbstractContextManager[Any], Protocol):
    """What takes successive pairs with their links and segments, such as `cepts.io.SentencePairWriter`."""

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseLinks:
    """Which links of phrases are written.

    Attributes
    ----------
    links
        ``words`` or ``phrases``, as `links` of `cepts.PhraseAligner`; None is what the model says.
    synthesise
        Whether phrases are made from word links inside chunks (`cepts.phrases.synthesise`), instead of those that the
        model finds. With ``phrases``, these are then the links.
    """

    links: str | None = None
    synthesise: bool = False

    def of_scorer(self) -> str | None:
        """How the aligner itself links words."""
        return "words" if self.synthesise else self.links


class _RunWriter(WriterOfRuns):
    """Gives a writer of pairs the pairs to which links belong."""

    def __init__(
        self, writer: PairWriter, pairs: Sequence[SentencePair] | PassingPairs, made: Synthesiser | None = None
    ) -> None:
        super().__init__(writer)
        self._pairs, self._written, self._made = pairs, 0, made

    def write(self, alignments: Alignments) -> None:
        """Write the next pairs."""
        start, self._written = self._written, self._written + len(alignments)
        given = self._pairs
        pairs = given.pairs(start, self._written) if isinstance(given, PassingPairs) else given[start : self._written]
        if self._made is not None:
            alignments = self._made(pairs, alignments)
        self.writer.write(pairs, alignments, alignments.segments)


class Synthesiser:
    """Makes phrases of the word links of pairs, as section 4.4 of semicrf does with the output of its token aligner.

    Parameters
    ----------
    aligner
        The aligner whose chunker fills in missing chunks.
    links
        ``words`` keeps the word links, with the phrases as segments; ``phrases`` also makes all links of the phrases.
    """

    def __init__(self, aligner: PhraseAligner, links: str = "words") -> None:
        self._aligner, self._links = aligner, links

    def __call__(self, pairs: Sequence[SentencePair], alignments: Alignments) -> Alignments:
        """The alignments with the phrases that the links of chunks form."""
        chunked = self._aligner.annotator_.annotate(pairs, ["chunk"])
        made = [
            synthesise(replace(pair, sure=tuple(alignment.links), possible=None)).sure or ()
            for pair, alignment in zip(chunked, alignments, strict=True)
        ]
        phrases = Alignments.from_links(made)
        segments = rectangles(phrases, every_link=True)
        if alignments.segments is not None:
            own = alignments.segments
            segments = replace(segments, scores=own.scores, path_words=own.path_words)
        return replace(alignments if self._links == "words" else phrases, segments=segments)


def align_pairs(
    scorer: Scorer,
    pairs: Sequence[SentencePair] | PassingPairs,
    writer: PairWriter,
    extraction: Extraction | None = None,
    *,
    made: Synthesiser | None = None,
    scores: str | Path | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
    runs: Iterable[AlignedRun] | None = None,
) -> Summary:
    """Align sentence pairs as `cepts.pipeline.align` does, and write the pairs themselves with what was found.

    `made` makes the phrases, instead of the scorer.
    """
    what: dict[str, Any] = {"scores": scores, "matrices": matrices, "progress": progress, "runs": runs}
    return align(scorer, pairs, _RunWriter(writer, pairs, made), extraction, **what)


def align_pair_files(
    model: str,
    files: tuple[str, str | None],
    writer: PairWriter,
    outputs: AlignOutputs,
    extraction: Extraction | None = None,
    *,
    phrase_links: PhraseLinks | None = None,
    input_format: str = "auto",
    tokenise: str = "auto",
    max_length: int | None = None,
    threads: int | None = None,
    engine: str = "local",
    checkpoint: str | Path | None = None,
    begin: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Summary | Report:
    """Read sentence pairs, and write their links through `writer`, or their best segmentations.

    Parameters
    ----------
    model, max_length, threads
        As in `load_phrase_aligner`.
    files, input_format
        As in `cepts.io.read_sentence_pairs`.
    phrase_links
        Which links of phrases are written; None is the default.
    tokenise, notices
        As in `tokenise_pairs`.
    engine
        Who aligns the shards of pairs, if there is a checkpoint: ``local``, ``dask`` or ``dask:ADDRESS``.
    checkpoint
        Directory that keeps the links of each shard, so that the same call continues after an interruption.
    begin
        Only put the pairs into the checkpoint, where others can align them (see `cepts.pipeline.jobs.train`), and
        return a report of what is next.
    """
    stopwatch = Stopwatch()
    outputs.check()
    for name, given in (("checkpoint", checkpoint is not None), ("engine", engine != "local"), ("begin", begin)):
        if outputs.lists is not None and given:
            raise UsageError(f"`{name}` is for links, and `nbest` lists segmentations instead; omit one of them.")
    chosen = phrase_links or PhraseLinks()
    with ExitStack() as stack:
        text = PassingPairs(lambda report: each_sentence_pair(*files, format=input_format, progress=report))
        stack.enter_context(text)
        aligner = load_phrase_aligner(model, threads=threads, max_length=max_length)
        columns = [*aligner.columns_, *(["chunk"] if chosen.synthesise else [])]
        running = are_running(aligner, text.now, files[0], tokenise=tokenise, notices=notices)

        def prepared(pairs: list[SentencePair], before: int) -> list[SentencePair]:
            check_input(aligner, columns, pairs, files[0], before)
            return tokenised(pairs) if running else pairs

        text.change(prepared)
        pairs: list[SentencePair] | PassingPairs = text.now if text.is_one_part else text
        if chosen.of_scorer() is not None:
            aligner.set_params(links=chosen.of_scorer())
        made = Synthesiser(aligner, chosen.links or "words") if chosen.synthesise else None
        if outputs.lists is None:
            results: dict[str, Any] = {"scores": outputs.scores, "matrices": outputs.matrices, "progress": progress}
            workplace = stack.enter_context(workplace_on(checkpoint, "phrases align", engine, threads))
            if begin:
                check_begin(workplace)
            if checkpoint is not None:
                work = PhraseWork(
                    model=model,
                    links=chosen.of_scorer(),
                    max_length=max_length,
                    extraction=extraction or Extraction(),
                    matrices=outputs.matrices is not None,
                    scores=outputs.scores is not None,
                )
                pairs = every_pair = [*chain(*text)]
                if begin:
                    with workplace.shelf() as shelf:
                        begin_aligning(shelf, work, every_pair)
                    return begun(workplace, stopwatch)
                results["runs"] = stack.enter_context(aligned_on(workplace, work, every_pair, progress))
            return align_pairs(aligner, pairs, writer, extraction, made=made, **results)
        how: dict[str, Any] = {"count": outputs.lists, "direction": outputs.direction, "progress": progress}
        return list_segmentations(aligner, pairs, outputs.links, **how)


def list_segmentations(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair] | PassingPairs,
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    progress: Progress | None = None,
) -> Summary:
    """Write the `count` best segmentations of each pair as JSON lines: of one `direction`, or of both."""
    report = (pairs.counting(progress) if isinstance(pairs, PassingPairs) else progress) or silent
    parts: Iterable[Sequence[SentencePair]] = pairs if isinstance(pairs, PassingPairs) else [pairs]
    summary = Summary(listed=direction)
    with open_output(output) as file:
        for part in parts:
            summary.pairs += len(part)
            summary.of_part(as_bitext(part), aligner.max_length)
            for start in range(0, len(part), PAIRS_AT_A_TIME):
                run = part[start : start + PAIRS_AT_A_TIME]
                lists = aligner.nbest(run, count)
                report(Step(stage="listing", done=start + len(run), total=len(part)))
                for pair, *found in zip(run, *lists, strict=True):
                    file.write(json_line(_listed(pair, found, direction)))
                    count_listed(summary, direction, len(found[0]), len(found[1]))
    return summary


def _listed(pair: SentencePair, found: Sequence[Sequence[Alternative]], direction: str) -> dict[str, object]:
    """A pair with its segmentations of each direction."""
    record: dict[str, object] = {"id": pair.id} if pair.id else {}
    record |= {"source": pair.source.tokens, "target": pair.target.tokens}
    for name, alternatives in zip(("forward", "reverse"), found, strict=True):
        if direction in {name, "both"}:
            record[name] = [_alternative(one) for one in alternatives]
    return record


def _alternative(one: Alternative) -> dict[str, object]:
    return {
        "score": round(one.score, 6),
        "log_probability": round(one.log_probability, 6),
        "segments": [[source, target, round(confidence, 4)] for source, target, confidence in one.segments],
    }
