"""Unigram caches: distributions of the words that a text has used so far."""

from __future__ import annotations

from cepts.kernels import kernel

LARGEST = 1e200  # counts are rescaled above this scale, long before they overflow


@kernel
def cache_probs(ids, sizes, decays, recent, counts, totals, scales, found):
    """Fill `found` with P(word): one row for each word of `ids`, one column for each cache.

    A cache holds the last `sizes` words (0: all words), each with weight `decays` ** age. `counts` (one row for each
    cache, one column for each word of the vocabulary), `totals` and `scales` are updated. New words get ever larger
    weights instead of old ones smaller ones, so that a step takes the same time whatever the size of the vocabulary.
    `recent` holds the words before `ids`, the latest last, -1 where there are none; it is updated too. An empty cache
    has no distribution and gives -1.
    """
    length = len(recent)
    for place in range(len(ids)):
        word = ids[place]
        for cache in range(len(sizes)):
            found[place, cache] = counts[cache, word] / totals[cache] if totals[cache] > 0 else -1.0
            scales[cache] /= decays[cache]
            counts[cache, word] += scales[cache]
            totals[cache] += scales[cache]
            size = sizes[cache]
            if size > 0:
                at = place - size
                old = ids[at] if at >= 0 else (recent[length + at] if length + at >= 0 else -1)
                if old >= 0:
                    gone = scales[cache] * decays[cache] ** size
                    counts[cache, old] = max(counts[cache, old] - gone, 0.0)
                    totals[cache] = max(totals[cache] - gone, 0.0)
            if scales[cache] > LARGEST:
                for other in range(counts.shape[1]):
                    counts[cache, other] /= scales[cache]
                totals[cache] /= scales[cache]
                scales[cache] = 1.0
    for place in range(length):
        at = place + len(ids)
        recent[place] = recent[at] if at < length else ids[at - length]
