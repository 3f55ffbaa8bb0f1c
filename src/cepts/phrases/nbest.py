"""Lists of the best paths of each direction of a trained phrase aligner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cepts.data import Segment, SentencePair
from cepts.engine import map_shards
from cepts.errors import UsageError
from cepts.phrases.aligner import PAIRS_AT_A_TIME, _joined, _segments
from cepts.phrases.crf import Lattice, lattice_of, marginals

if TYPE_CHECKING:
    from cepts.phrases.aligner import PhraseAligner

__all__ = ["Alternative", "nbest"]


class Alternative(NamedTuple):
    """One path of a direction: its score, the log of its probability among all paths, and its segments.

    A segment's confidence is its probability in the direction, whatever the path.
    """

    score: float
    log_probability: float
    segments: list[Segment]


def nbest(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], count: int
) -> tuple[list[list[Alternative]], list[list[Alternative]]]:
    """The `count` best paths of each pair, the best first, forward and reverse.

    Fewer where there are fewer; none of a pair that the aligner leaves unaligned. The first is the path of
    ``align(combine="forward")``, or ``"reverse"``.
    """
    if count < 1:
        raise UsageError(f"count must be 1 or more. Got {count} instead.")
    aligner.check_fitted()
    runs = range(0, len(pairs), PAIRS_AT_A_TIME)
    forward: list[list[Alternative]] = []
    reverse: list[list[Alternative]] = []

    def of_run(start: int) -> list[list[list[Alternative]]]:
        return _lists(aligner, aligner.prepared(pairs[start : start + PAIRS_AT_A_TIME], start), count)

    for found in map_shards(of_run, runs, threads=aligner.threads):
        forward += found[0]
        reverse += found[1]
    return forward, reverse


def _lists(aligner: PhraseAligner, pairs: Sequence[SentencePair], count: int) -> list[list[list[Alternative]]]:
    maker, sizes = aligner.maker(), aligner.layout_.sizes
    lists: list[list[list[Alternative]]] = [[], []]
    for pair in pairs:
        features = maker.features(pair) if aligner.fits(pair) else None
        for found, weights, shape in zip(lists, aligner.weights_, aligner.shapes(), strict=True):
            if features is None:
                found.append([])
            else:
                found.append(_alternatives(lattice_of(features, weights, sizes, shape), count, shape.by_target))
    return lists


def _alternatives(lattice: Lattice, count: int, by_target: bool) -> list[Alternative]:
    from cepts.kernels.segment_nbest import segment_nbest

    length = len(lattice.null)
    scores, starts = np.empty(count), np.empty((count, length), dtype=np.int32)
    spans = np.empty((count, length, 2), dtype=np.int32)
    listed = segment_nbest(*lattice.arguments, scores, starts, spans)
    whole = marginals(lattice)
    segments = _joined(
        [_segments(scores[n], starts[n], spans[n], whole.segments, by_target) for n in range(listed)],
    )
    log_probabilities = segments.scores - whole.log_z
    return list(
        map(Alternative._make, zip(segments.scores.tolist(), log_probabilities.tolist(), segments, strict=True)),
    )
