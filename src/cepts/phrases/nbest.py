"""Lists of the best paths of a lattice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepts.data import Segment
from cepts.phrases.crf import Lattice, marginals
from cepts.phrases.paths import joined_paths, path_of


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
