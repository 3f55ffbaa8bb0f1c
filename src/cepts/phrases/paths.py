"""The paths of a lattice as segments: the best one, and lists of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Segment, Segments, offsets_of
from cepts.phrases.crf import Lattice, marginals


class LatticePath(NamedTuple):
    """The segments of one path, sorted by source, with their probabilities, and how many words it explains."""

    spans: NDArray[np.int32]
    confidence: NDArray[np.float32]
    score: float
    words: int


NO_PATH = LatticePath(np.empty((0, 4), np.int32), np.empty(0, np.float32), 0.0, 0)


def path_of(
    score: float, starts: NDArray[np.int32], spans: NDArray[np.int32], probabilities: NDArray, by_target: bool
) -> LatticePath:
    """A path, given where each observed word's segment starts and which span of the other side it is linked to."""
    first = np.flatnonzero(starts == np.arange(len(starts)))
    linked = first[spans[first, 0] >= 0]
    lengths = np.bincount(starts, minlength=len(starts))[linked]
    start, stop = spans[linked].T
    confidence = probabilities[linked, lengths - 1, start, stop - start - 1].astype(np.float32)
    observed = np.stack([linked, linked + lengths], axis=1)
    sides = [spans[linked], observed] if by_target else [observed, spans[linked]]
    rows = np.concatenate(sides, axis=1).astype(np.int32)
    order = np.lexsort(rows.T[::-1])
    return LatticePath(rows[order], np.minimum(confidence[order], 1.0), score, len(starts))


def joined_paths(paths: Sequence[LatticePath]) -> Segments:
    """The segments of one path a pair."""
    return Segments(
        offsets_of([len(path.spans) for path in paths]),
        np.concatenate([path.spans for path in paths] or [np.empty((0, 4), np.int32)]),
        np.concatenate([path.confidence for path in paths] or [np.empty(0, np.float32)]),
        np.array([path.score for path in paths], dtype=np.float64),
        np.array([path.words for path in paths], dtype=np.int64),
    )


class Alternative(NamedTuple):
    """One path of a direction: its score, the log of its probability among all paths, and its segments.

    A segment's confidence is its probability in the direction, whatever the path.
    """

    score: float
    log_probability: float
    segments: list[Segment]


def best_alternatives(lattice: Lattice, count: int, by_target: bool) -> list[Alternative]:
    """The `count` best paths of a lattice, the best first; fewer where there are fewer."""
    from cepts.kernels.segment_nbest import segment_nbest

    length = len(lattice.null)
    scores, starts = np.empty(count), np.empty((count, length), dtype=np.int32)
    spans = np.empty((count, length, 2), dtype=np.int32)
    listed = segment_nbest(*lattice, scores, starts, spans)
    whole = marginals(lattice)
    segments = joined_paths(
        [path_of(scores[n], starts[n], spans[n], whole.segments, by_target) for n in range(listed)],
    )
    log_probabilities = segments.scores - whole.log_z
    return list(
        map(Alternative._make, zip(segments.scores.tolist(), log_probabilities.tolist(), segments, strict=True)),
    )
