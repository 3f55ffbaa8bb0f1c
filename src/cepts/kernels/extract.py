"""Selecting links: from the links of two directions, or from association matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel


class Links(NamedTuple):
    """The links of sentence pairs, sorted; those of pair `n` are at `offsets[n]:offsets[n + 1]`."""

    offsets: Any
    source: Any
    target: Any
    confidence: Any
    sure: Any


@kernel
def merge_links(first, second, union, origin):
    """Fill `union` with the links that each pair has in either of two runs; returns their number.

    The confidence of a link is the mean over both runs, where a run without the link counts 0. `origin` is 1 for a link
    of the first run, 2 for one of the second, 3 for one of both.
    """
    count = 0
    union.offsets[0] = 0
    for pair in range(len(union.offsets) - 1):
        p, p_end = first.offsets[pair], first.offsets[pair + 1]
        q, q_end = second.offsets[pair], second.offsets[pair + 1]
        while p < p_end or q < q_end:
            if q == q_end:
                runs = 1
            elif p == p_end:
                runs = 2
            elif first.source[p] != second.source[q]:
                runs = 1 if first.source[p] < second.source[q] else 2
            elif first.target[p] != second.target[q]:
                runs = 1 if first.target[p] < second.target[q] else 2
            else:
                runs = 3
            total = np.float32(0)
            either = False
            if runs & 1:
                union.source[count] = first.source[p]
                union.target[count] = first.target[p]
                total += first.confidence[p]
                either |= first.sure[p]
                p += 1
            if runs & 2:
                union.source[count] = second.source[q]
                union.target[count] = second.target[q]
                total += second.confidence[q]
                either |= second.sure[q]
                q += 1
            union.confidence[count] = total / np.float32(2)
            union.sure[count] = either
            origin[count] = runs
            count += 1
        union.offsets[pair + 1] = count
    return count


@kernel
def grow_diagonal(offsets, source, target, origin, final, source_covered, target_covered, kept):
    """Grow the intersection into the union, pair by pair; fills `kept`.

    The links and their `origin` come from `merge_links`. `final` is 0 (grow-diag), 1 (then add every link with an
    uncovered word) or 2 (then add every link of two uncovered words). The two `covered` arrays are buffers for the
    longest source and target sentence.

    Because the links are sorted, two cursors that only move forward find the neighbours above and below a link, and
    no I x J grid is needed.
    """
    for pair in range(len(offsets) - 1):
        start, end = offsets[pair], offsets[pair + 1]
        for p in range(start, end):
            source_covered[source[p]] = False
            target_covered[target[p]] = False
        for p in range(start, end):
            kept[p] = origin[p] == 3
            if kept[p]:
                source_covered[source[p]] = True
                target_covered[target[p]] = True

        growing = True
        while growing:
            growing = False
            above = start
            below = start
            for p in range(start, end):
                i, j = source[p], target[p]
                if kept[p] or (source_covered[i] and target_covered[j]):
                    continue
                near = (p > start and kept[p - 1] and source[p - 1] == i and target[p - 1] == j - 1) or (
                    p + 1 < end and kept[p + 1] and source[p + 1] == i and target[p + 1] == j + 1
                )
                while above < end and (source[above] < i - 1 or (source[above] == i - 1 and target[above] < j - 1)):
                    above += 1
                q = above
                while not near and q < end and source[q] == i - 1 and target[q] <= j + 1:
                    near = kept[q]
                    q += 1
                while below < end and (source[below] < i + 1 or (source[below] == i + 1 and target[below] < j - 1)):
                    below += 1
                q = below
                while not near and q < end and source[q] == i + 1 and target[q] <= j + 1:
                    near = kept[q]
                    q += 1
                if near:
                    kept[p] = True
                    source_covered[i] = True
                    target_covered[j] = True
                    growing = True

        if final == 0:
            continue
        for direction in (1, 2):
            for p in range(start, end):
                if kept[p] or not origin[p] & direction:
                    continue
                i, j = source[p], target[p]
                if final == 1:
                    wanted = not (source_covered[i] and target_covered[j])
                else:
                    wanted = not (source_covered[i] or target_covered[j])
                if wanted:
                    kept[p] = True
                    source_covered[i] = True
                    target_covered[j] = True


@kernel
def best_links(
    offsets,
    source_lengths,
    target_lengths,
    values,
    null,
    by_target,
    best,
    link_offsets,
    source,
    target,
    confidence,
):
    """Link each target word (or each source word) with its best partner, if that exceeds the word's `null` mass.

    Among equal partners the first wins. `best` is a buffer for the longest sentence of that side. Fills
    `link_offsets` and the links; returns their number.
    """
    link = 0
    word = 0
    link_offsets[0] = 0
    for pair in range(len(source_lengths)):
        rows, columns = source_lengths[pair], target_lengths[pair]
        start = offsets[pair]
        words, partners = (columns, rows) if by_target else (rows, columns)
        step, partner_step = (1, columns) if by_target else (columns, 1)
        for n in range(words):
            best[n] = -1
            highest = null[word + n]
            for partner in range(partners):
                value = values[start + n * step + partner * partner_step]
                if value > highest:
                    highest = value
                    best[n] = partner
        word += words
        for i in range(rows):
            for j in range(columns):
                if (best[j] == i) if by_target else (best[i] == j):
                    source[link] = i
                    target[link] = j
                    confidence[link] = values[start + i * columns + j]
                    link += 1
        link_offsets[pair + 1] = link
    return link
