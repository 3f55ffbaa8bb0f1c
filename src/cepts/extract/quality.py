"""One score for each pair: whether its sentences translate each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association

# Cells of at least this value are links whose order counts.
LEAST = 0.3
# Chosen on 6,000 pairs of the Hansards without gold links: the share of links that may cross in good translations, and
# a weight of links that do not cross, so that short sentences are not judged by two or three links.
CROSSING, SMOOTHING, EXPONENT = 0.1, 2.0, 2


def pair_quality(agreement: Association) -> NDArray[np.float64]:
    """A score from 0 to 1 for each matrix: how well the words are matched, lowered if many links cross.

    coverage x (1 - max(0, crossing share - `CROSSING`))^`EXPONENT`, where coverage is the mean over the words of both
    sides of their highest agreement, and the crossing share is that of all pairs of links. Pairs without a matrix have
    0.

    Examples
    --------
    >>> lengths = np.array([2])
    >>> matrix = Association(lengths, lengths, np.array([0, 4]), np.array([0.9, 0.1, 0.0, 0.7], dtype=np.float32))
    >>> float(pair_quality(matrix)[0].round(2))
    0.8
    """
    from cepts.kernels.quality import match_words

    found = np.empty((len(agreement), 3))
    best = np.empty(int(agreement.target_lengths.max(initial=0)))
    links = np.empty(int(np.diff(agreement.offsets).max(initial=0)), dtype=np.int64)
    match_words(
        np.ascontiguousarray(agreement.offsets, dtype=np.int64),
        np.ascontiguousarray(agreement.source_lengths, dtype=np.int64),
        np.ascontiguousarray(agreement.target_lengths, dtype=np.int64),
        np.ascontiguousarray(agreement.values, dtype=np.float32),
        LEAST,
        best,
        links,
        found,
    )
    crossing = found[:, 1] / (found[:, 2] + SMOOTHING)
    quality: NDArray[np.float64] = found[:, 0] * (1.0 - np.maximum(crossing - CROSSING, 0.0)) ** EXPONENT
    return quality
