"""Steps from one segment to the next: the states of the lattice and the distortion features of each step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# A jump is the start of the next span minus the stop of the last one: 0 goes on word by word.
EDGES = np.array([-19, -10, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 11, 20])
BINS = len(EDGES) + 1
# Jumps after a segment, from the sentence's start, after a null that remembers; after one that does not; then steps to
# null from a segment, the start, null; then the last step from a segment (by words left: 0, 1, 2, more), from the
# start, from null; then segments of null, by their number of words.
TO_NULL = 3 * BINS + 1
LAST = TO_NULL + 3
NULL_SIZES = LAST + 6
LONGEST_NULL = 16
STEP_WEIGHTS = NULL_SIZES + LONGEST_NULL


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """For a sentence of J words: the weight of each step, and where a step to null leads (see kernels.segments)."""

    jump: NDArray[np.int64]
    stay: NDArray[np.int64]
    final: NDArray[np.int64]
    null_next: NDArray[np.int64]


@lru_cache(maxsize=1024)
def steps_of(width: int, memory: bool, distortion: bool = True) -> Steps:
    """The steps among spans of a sentence of `width` words.

    With `memory` null remembers where the last segment stopped; without it there is one null state, as in the paper.
    Without `distortion` all jumps of a kind share a weight.
    """
    stops = np.arange(width + 1)
    bins = np.searchsorted(EDGES, np.arange(width) - stops[:, None], side="right")
    if not distortion:
        bins[:] = 0
    after_segment = bins.copy()
    after_segment[0] += BINS
    nulls = bins + 2 * BINS if memory else np.full((1, width), 3 * BINS)
    left = np.minimum(width - stops, 3) if distortion else np.zeros(width + 1, dtype=np.int64)
    stay = np.full(width + 1, TO_NULL)
    stay[0] += 1
    final = LAST + left
    final[0] = LAST + 4
    null_states = len(nulls)
    return Steps(
        np.concatenate([after_segment, nulls]).astype(np.int64),
        np.concatenate([stay, np.full(null_states, TO_NULL + 2)]),
        np.concatenate([final, np.full(null_states, LAST + 5)]),
        np.concatenate([width + 1 + stops, width + 1 + stops]) if memory else np.full(width + 2, width + 1),
    )
