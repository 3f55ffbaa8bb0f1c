"""Lists of the most probable alignments, or segmentations, of each pair -> file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from cepts.data import Bitext, SentencePair, as_bitext
from cepts.io import NBestWriter, open_output
from cepts.phrases import PhraseAligner
from cepts.phrases.nbest import Alternative
from cepts.pipeline.align import Summary
from cepts.progress import Progress, Step, silent
from cepts.words import Aligner

PAIRS_AT_A_TIME = 256


def list_alignments(
    aligner: Aligner,
    bitext: Bitext,
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    format: str = "json",
    progress: Progress | None = None,
) -> Summary:
    """Write the `count` most probable alignments of each pair of `bitext` as a trained aligner finds them."""
    summary = Summary(pairs=len(bitext), listed=direction)
    with NBestWriter(output, format=format, direction=direction, bitext=bitext) as writer:
        for forward, reverse in aligner.nbest_runs(bitext, count, progress=progress):
            writer.write(forward, reverse)
            _count(summary, direction, len(forward.log_probabilities), len(reverse.log_probabilities))
    summary.of_text(bitext, aligner.max_length)
    return summary


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
                file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
                _count(summary, direction, len(found[0]), len(found[1]))
    summary.of_text(as_bitext(pairs), aligner.max_length)
    return summary


def _count(summary: Summary, direction: str, forward: int, reverse: int) -> None:
    summary.forward_listed += forward if direction in {"forward", "both"} else 0
    summary.reverse_listed += reverse if direction in {"reverse", "both"} else 0


def _alternative(one: Alternative) -> dict[str, object]:
    return {
        "score": round(one.score, 6),
        "log_probability": round(one.log_probability, 6),
        "segments": [[source, target, round(confidence, 4)] for source, target, confidence in one.segments],
    }
