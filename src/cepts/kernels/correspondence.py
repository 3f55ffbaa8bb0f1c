"""Which words stand for each other inside a pair of spans.

Two spans of n words are *parallel* if at least half of their words match in order: word k of one with word k of the
other. Their words are then linked one by one. In other pairs of spans, words with the same lemma are linked with each
other, and the remaining words of one span with all remaining words of the other; if no words have the same lemma, that
is the whole rectangle.
"""

from __future__ import annotations

from cepts.kernels import kernel
from cepts.kernels.phrase_features import NONE


@kernel
def find_parallel(match, parallel):
    """Fill `parallel[i, j, n - 1]`: whether the spans [i, i + n) and [j, j + n) are parallel; False beyond the ends."""
    length, width, longest = parallel.shape
    for i in range(length):
        for j in range(width):
            matched = 0
            for step in range(longest):
                inside = i + step < length and j + step < width
                if inside:
                    matched += match[i + step, j + step] != NONE
                parallel[i, j, step] = inside and (step == 0 or 2 * matched >= step + 1)


@kernel
def add_word_scores(cells, matched, parallel, emit):
    """Add to each pair of parallel spans of several words the scores of its words that match in order.

    `cells` (I x J) are the scores of pairs of words, `matched` says which match, `emit` (I x Ls x J x Lt) are the
    scores of pairs of spans.
    """
    length, width, longest = parallel.shape
    for i in range(length):
        for j in range(width):
            total = cells[i, j] if matched[i, j] else 0.0
            for step in range(1, longest):
                if i + step >= length or j + step >= width:
                    break
                if matched[i + step, j + step]:
                    total += cells[i + step, j + step]
                if parallel[i, j, step]:
                    emit[i, step, j, step] += total


@kernel
def count_word_pairs(segments, matched, parallel, counts):
    """Fill `counts` (I x J) with how often each pair of words is scored: alone, or as a match in parallel spans.

    `segments` (I x Ls x J x Lt) says how often each pair of spans occurs.
    """
    length, width, longest = parallel.shape
    for i in range(length):
        for j in range(width):
            counts[i, j] = segments[i, 0, j, 0]
    for i in range(length):
        for j in range(width):
            for step in range(1, longest):
                if parallel[i, j, step] and segments[i, step, j, step] > 0.0:
                    for place in range(step + 1):
                        if matched[i + place, j + place]:
                            counts[i + place, j + place] += segments[i, step, j, step]


@kernel
def _link_words(i, size, j, wide, parallel, same, part, links):
    """Add `part` to the links of words in the spans [i, i + size) and [j, j + wide)."""
    if size == wide and parallel[i, j, size - 1]:
        for step in range(size):
            links[i + step, j + step] += part
        return
    for row in range(i, i + size):
        for column in range(j, j + wide):
            linked = same[row, column]
            if not linked:
                # Words that have the same lemma as a word of the other span are linked with that word alone.
                linked = True
                for other in range(j, j + wide):
                    linked = linked and not same[row, other]
                for other in range(i, i + size):
                    linked = linked and not same[other, column]
            if linked:
                links[row, column] += part


@kernel
def word_links(segments, parallel, same, links):
    """Fill `links` (I x J) with the probability that two words are linked, given that of each pair of spans.

    `same` says which words have the same lemma.
    """
    length, longest, width, widest = segments.shape
    for i in range(length):
        for j in range(width):
            links[i, j] = 0.0
    for i in range(length):
        for span in range(min(longest, length - i)):
            for j in range(width):
                for wide in range(min(widest, width - j)):
                    part = segments[i, span, j, wide]
                    if part > 0.0:
                        _link_words(i, span + 1, j, wide + 1, parallel, same, part, links)


@kernel
def path_links(spans, parallel, same, links):
    """Add 1 to the links of words in each segment: rows of `spans` (source start, stop, target start, stop)."""
    for n in range(len(spans)):
        i, j = spans[n, 0], spans[n, 2]
        _link_words(i, spans[n, 1] - i, j, spans[n, 3] - j, parallel, same, 1.0, links)
