"""Unigram caches: how often the words of a text's own past come again."""

from __future__ import annotations

from cepts.kernels import kernel

LARGEST = 1e200  # of a scale: below overflow


@kernel
def cache_probs(ids, sizes, decays, recent, counts, totals, scales, found):
    """P(word) of each word of `ids` under each cache of the words before it, to the columns of `found`.

    A cache has the last `sizes` words (0: all of them), each with the weight `decays` ** age. `counts` (a row a cache,
    a column a word), `totals` and `scales` are carried on; they grow by the inverse of the decay instead of shrinking
    by it, so that a word costs the same whatever the vocabulary. `recent` holds the words before `ids`, the latest
    last, -1 before the first. An empty cache gives -1, for it has no distribution.
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
