"""The k best paths of the lattice of `kernels.segments`, exact, in descending order.

Every state has a list of its k best entries, each with the entry that it came from; a list is merged from the lists of
the states one step before. These are sorted, so the merge leaves one of them at its first entry that is too low.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel


@kernel
def _insert(score, first, second, third, scores, origins):
    """Insert an entry into a descending list, after equal scores; False if it is too low for the list."""
    place = len(scores) - 1
    if not score > scores[place]:
        return False
    while place > 0 and score > scores[place - 1]:
        scores[place] = scores[place - 1]
        for field in range(3):
            origins[place, field] = origins[place - 1, field]
        place -= 1
    scores[place] = score
    origins[place, 0] = first
    origins[place, 1] = second
    origins[place, 2] = third
    return True


@allocating_kernel
def segment_nbest(emit, null, jump, stay, null_next, final, scores, starts, stops):
    """Fill `scores` (k), `starts` (k x I) and `stops` (k x I x 2) with the best paths; return how many there are.

    The rows of `starts` and `stops` are as in `segment_path`, and the first path is the one that it finds: entries are
    tried in the same order, and among equal scores the first found comes first. A score of -inf is no path.
    """
    length, longest, width, widest = emit.shape
    states, count, most_null = len(stay), len(scores), null.shape[1]
    best = np.full((length + 1, states, count), -np.inf)
    entering = np.full((length, width, count), -np.inf)
    # Origin of an entry: length of the segment (below 0 for null), start of its span (null: the state before), rank.
    kept = np.zeros((length + 1, states, count, 3), dtype=np.int32)
    # State before the step, rank there; the third field is not used.
    came_from = np.zeros((length, width, count, 3), dtype=np.int32)
    best[0, 0, 0] = 0.0
    for i in range(length + 1):
        if i > 0:
            for span in range(1, min(most_null, i) + 1):
                for k in range(states):
                    to = null_next[k]
                    for rank in range(count):
                        score = best[i - span, k, rank] + stay[k] + null[i - span, span - 1]
                        if not _insert(score, -span, k, rank, best[i, to], kept[i, to]):
                            break
            for span in range(1, min(longest, i) + 1):
                start = i - span
                for j in range(width):
                    for wide in range(min(widest, width - j)):
                        to = j + wide + 1
                        for rank in range(count):
                            score = entering[start, j, rank] + emit[start, span - 1, j, wide]
                            if not _insert(score, span, j, rank, best[i, to], kept[i, to]):
                                break
        if i < length:
            for k in range(states):
                if best[i, k, 0] > -np.inf:
                    for j in range(width):
                        for rank in range(count):
                            score = best[i, k, rank] + jump[k, j]
                            if not _insert(score, k, rank, 0, entering[i, j], came_from[i, j]):
                                break
    ends = np.zeros((count, 3), dtype=np.int32)
    scores[:] = -np.inf
    for k in range(states):
        for rank in range(count):
            if not _insert(best[length, k, rank] + final[k], k, rank, 0, scores, ends):
                break
    found = 0
    while found < count and scores[found] > -np.inf:
        k, rank = ends[found, 0], ends[found, 1]
        i = length
        while i > 0:
            span, source, place = kept[i, k, rank]
            if span < 0:
                for word in range(i + span, i):
                    starts[found, word] = i + span
                    stops[found, word, 0] = stops[found, word, 1] = -1
                i += span
                k, rank = source, place
            else:
                for word in range(i - span, i):
                    starts[found, word] = i - span
                    stops[found, word, 0] = source
                    stops[found, word, 1] = k
                i -= span
                k, rank = came_from[i, source, place, 0], came_from[i, source, place, 1]
        found += 1
    return found
