"""How alike two words are spelt, and how well the words of one span are found in another."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, piece

__all__ = ["span_coverage", "spelling_likeness"]


@piece
def _common_prefix(first, second):
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return count


@piece
def _common_suffix(first, second):
    count = 0
    while count < min(len(first), len(second)) and first[len(first) - 1 - count] == second[len(second) - 1 - count]:
        count += 1
    return count


@piece
def _jaro_winkler(first, second):
    """Jaro's similarity, raised by a tenth of what it lacks for each of up to four common first characters."""
    window = max(0, max(len(first), len(second)) // 2 - 1)
    used = np.zeros(len(second), dtype=np.bool_)
    matched = np.zeros(len(first), dtype=np.bool_)
    matches = 0
    for i in range(len(first)):
        for j in range(max(0, i - window), min(len(second), i + window + 1)):
            if not used[j] and first[i] == second[j]:
                used[j] = True
                matched[i] = True
                matches += 1
                break
    if matches == 0:
        return 0.0
    swapped = 0
    j = 0
    for i in range(len(first)):
        if matched[i]:
            while not used[j]:
                j += 1
            if first[i] != second[j]:
                swapped += 1
            j += 1
    jaro = (matches / len(first) + matches / len(second) + (matches - swapped / 2) / matches) / 3.0
    return jaro + min(4, _common_prefix(first, second)) * 0.1 * (1.0 - jaro)


@piece
def _gram_dice(first, second, size):
    """Dice's coefficient of the n-grams of `size` characters: twice the shared ones, by those of both."""
    grams = len(first) - size + 1
    others = len(second) - size + 1
    if grams < 1 or others < 1:
        return 0.0
    used = np.zeros(others, dtype=np.bool_)
    shared = 0
    for i in range(grams):
        for j in range(others):
            if not used[j]:
                same = True
                for place in range(size):
                    if first[i + place] != second[j + place]:
                        same = False
                        break
                if same:
                    used[j] = True
                    shared += 1
                    break
    return 2.0 * shared / (grams + others)


@kernel
def spelling_likeness(source, source_offsets, target, target_offsets, out):
    """Fill `out` (I x J x 5): Jaro-Winkler, Dice of bigrams and trigrams, common prefix and suffix by the longer word.

    `source` and `target` are the characters of all words end to end; words are compared as they are given.
    """
    for i in range(len(source_offsets) - 1):
        first = source[source_offsets[i] : source_offsets[i + 1]]
        for j in range(len(target_offsets) - 1):
            second = target[target_offsets[j] : target_offsets[j + 1]]
            longer = max(len(first), len(second))
            if len(first) == 0 or len(second) == 0:
                for measure in range(5):
                    out[i, j, measure] = 0.0
                continue
            out[i, j, 0] = _jaro_winkler(first, second)
            for size in range(2, 4):
                out[i, j, size - 1] = _gram_dice(first, second, size)
            out[i, j, 3] = _common_prefix(first, second) / longer
            out[i, j, 4] = _common_suffix(first, second) / longer


@kernel
def span_coverage(likeness, source, target):
    """For each pair of spans, the mean over words of the one of the best likeness to a word of the other.

    `likeness` is I x J; `source` and `target` (I x Ls x J x Lt) take the means over source words and over target words,
    at [i, l - 1, j, w - 1] for the spans [i, i + l) and [j, j + w); places of spans that leave a sentence take 0.
    """
    length, longest, width, widest = source.shape
    source[:] = 0.0
    target[:] = 0.0
    best_target = np.empty(widest)
    for i in range(length):
        for j in range(width):
            for span in range(min(longest, length - i)):
                best = 0.0
                for wide in range(min(widest, width - j)):
                    # The source side: the last word's best, and those of the span without it.
                    best = max(best, likeness[i + span, j + wide])
                    before = source[i, span - 1, j, wide] * span if span > 0 else 0.0
                    source[i, span, j, wide] = (before + best) / (span + 1)
                    value = likeness[i + span, j + wide]
                    best_target[wide] = value if span == 0 else max(best_target[wide], value)
                total = 0.0
                for wide in range(min(widest, width - j)):
                    total += best_target[wide]
                    target[i, span, j, wide] = total / (wide + 1)
