"""Judging whole sentence pairs by their alignments: entailment, paraphrase, answers (semicrf, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.aligner import PhraseAligner
from cepts.pipeline.phrases import aligned_runs
from cepts.progress import Progress
from cepts.sentences import Segment, SentencePair
from cepts.types import Alignment

__all__ = ["JUDGEMENT_SCORES", "DecodingScores", "pair_scores"]


class DecodingScores(NamedTuple):
    """The normalised decoding score of a pair: score a state of the best path, forward and reverse, and of both."""

    forward: float
    reverse: float
    both: float


Judge = Callable[[SentencePair, Alignment, Sequence[Segment], DecodingScores], float]


def _decoding(pair: SentencePair, links: Alignment, segments: Sequence[Segment], scores: DecodingScores) -> float:
    """The paper's: score of the best paths of both directions, divided by their states."""
    return scores.both


def _target(pair: SentencePair, links: Alignment, segments: Sequence[Segment], scores: DecodingScores) -> float:
    """Confidence of each target word's best link, on the mean: how much of the target the source says."""
    return _covered(links.target, links.confidence, len(pair.target))


def _both(pair: SentencePair, links: Alignment, segments: Sequence[Segment], scores: DecodingScores) -> float:
    """The same of both sides, multiplied: how much each sentence says of the other."""
    return _covered(links.source, links.confidence, len(pair.source)) * _target(pair, links, segments, scores)


# Name -> how an alignment becomes one number, higher for yes.
JUDGEMENT_SCORES: dict[str, Judge] = {
    "decoding": _decoding,
    "target-coverage": _target,
    "coverage": _both,
}


def pair_scores(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], score: str = "decoding", *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """The score of each pair by a function of `JUDGEMENT_SCORES`; a pair that cannot be aligned has the lowest."""
    judge = JUDGEMENT_SCORES[score]
    found = []
    for run in aligned_runs(aligner, pairs, progress=progress):
        ways = run.decoded.forward_path.normalised_scores, run.decoded.reverse_path.normalised_scores
        rows = np.stack([*ways, run.segments.normalised_scores], axis=1).tolist()
        for number, (pair, row) in enumerate(zip(run.pairs, rows, strict=True)):
            scores = DecodingScores(*row)
            found.append(judge(pair, run.links[number], run.segments[number], scores) if aligner.fits(pair) else np.nan)
    values = np.array(found, dtype=np.float64)
    missing = np.isnan(values)
    values[missing] = 0.0 if missing.all() else values[~missing].min()
    return values


def _covered(positions: NDArray[np.int32], confidence: NDArray[np.float32], words: int) -> float:
    best = np.zeros(words)
    np.maximum.at(best, positions, confidence)
    return float(best.mean())
