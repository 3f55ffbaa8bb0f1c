"""How similar the spelling of two words is, and how well the words of one span are covered by another span."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

MEASURES = 8


@kernel
def _occurs(characters, start, count, character):
    """Whether a character is among the `count` characters from `start` on."""
    found = False
    for place in range(start, start + count):
        found = found or characters[place] == character
    return found


@kernel
def spelling_likeness(source, source_offsets, target, target_offsets, used, edits, out):
    """Fill `out` (I x J x `MEASURES`) with the similarities of each source word and each target word.

    These are Jaro-Winkler; Dice's coefficient of bigrams and of trigrams; the common prefix and suffix as shares of the
    longer word; 1 minus the Levenshtein and the Hamming distance as shares of the longer word, where characters beyond
    the end of the shorter word differ; and Jaccard's coefficient of the sets of characters. `source` and `target` are
    the characters of all words, end to end, and are compared as they are. `used` is a buffer of two rows, as long as
    the longest word; `edits` is one of a number more than that.
    """
    for i in range(len(source_offsets) - 1):
        first = source_offsets[i]
        length = source_offsets[i + 1] - first
        for j in range(len(target_offsets) - 1):
            second = target_offsets[j]
            width = target_offsets[j + 1] - second
            for measure in range(MEASURES):
                out[i, j, measure] = 0.0
            shorter = width if width < length else length
            longer = length if width < length else width
            if shorter == 0:
                continue
            prefix = 0
            while prefix < shorter and source[first + prefix] == target[second + prefix]:
                prefix += 1
            suffix = 0
            while suffix < shorter and source[first + length - 1 - suffix] == target[second + width - 1 - suffix]:
                suffix += 1
            out[i, j, 3] = prefix / longer
            out[i, j, 4] = suffix / longer
            # Jaro's similarity, plus a tenth of its difference to 1 for each of up to four common first characters.
            for place in range(longer):
                used[0, place] = used[1, place] = False
            reach = (longer >> 1) - 1 if longer > 3 else 0
            matches = 0
            for place in range(length):
                for other in range(place - reach if place > reach else 0, width):
                    if other > place + reach:
                        break
                    if not used[1, other] and source[first + place] == target[second + other]:
                        used[0, place] = used[1, other] = True
                        matches += 1
                        break
            if matches > 0:
                swapped = 0
                other = 0
                for place in range(length):
                    if used[0, place]:
                        while not used[1, other]:
                            other += 1
                        swapped += source[first + place] != target[second + other]
                        other += 1
                jaro = (matches / length + matches / width + (matches - swapped / 2) / matches) / 3.0
                out[i, j, 0] = jaro + (prefix if prefix < 4 else 4) * 0.1 * (1.0 - jaro)
            # Dice's coefficient of n-grams: twice the shared ones over those of both words.
            for size in range(2, 4):
                grams, others = length - size + 1, width - size + 1
                if grams < 1 or others < 1:
                    continue
                for other in range(others):
                    used[1, other] = False
                shared = 0
                for place in range(grams):
                    for other in range(others):
                        same = 0
                        if not used[1, other]:
                            while same < size and source[first + place + same] == target[second + other + same]:
                                same += 1
                        if same == size:
                            used[1, other] = True
                            shared += 1
                            break
                out[i, j, size - 1] = 2.0 * shared / (grams + others)
            # Levenshtein's distance, row by row; `corner` is the cell above and to the left.
            for other in range(width + 1):
                edits[other] = other
            for place in range(length):
                corner = edits[0]
                edits[0] = place + 1
                for other in range(width):
                    best = corner + (source[first + place] != target[second + other])
                    corner = edits[other + 1]
                    best = corner + 1 if corner + 1 < best else best
                    edits[other + 1] = edits[other] + 1 if edits[other] + 1 < best else best
            out[i, j, 5] = 1.0 - edits[width] / longer
            same = 0
            for place in range(shorter):
                same += source[first + place] == target[second + place]
            out[i, j, 6] = same / longer
            shared = 0
            either = 0
            for place in range(length):
                if not _occurs(source, first, place, source[first + place]):
                    either += 1
                    shared += _occurs(target, second, width, source[first + place])
            for other in range(width):
                if not _occurs(target, second, other, target[second + other]):
                    either += not _occurs(source, first, length, target[second + other])
            out[i, j, 7] = shared / either


@kernel
def span_coverage(likeness, best_target, covered):
    """For each pair of spans, the mean over the words of one of their best likeness to a word of the other.

    `likeness` is I x J; `covered` (2 x I x Ls x J x Lt, all 0) receives the means over source words and over target
    words, at [i, l - 1, j, w - 1] for the spans [i, i + l) and [j, j + w); it stays 0 for spans that go beyond a
    sentence. `best_target` is a buffer for Lt numbers.
    """
    _, length, longest, width, widest = covered.shape
    for i in range(length):
        for j in range(width):
            for span in range(min(longest, length - i)):
                best = 0.0
                total = 0.0
                for wide in range(min(widest, width - j)):
                    value = np.float64(likeness[i + span, j + wide])
                    # The source side: the best of the last word, added to the sum of the shorter span.
                    best = value if value > best else best
                    before = covered[0, i, span - 1, j, wide] * span if span > 0 else 0.0
                    covered[0, i, span, j, wide] = (before + best) / (span + 1)
                    if span == 0 or value > best_target[wide]:
                        best_target[wide] = value
                    total += best_target[wide]
                    covered[1, i, span, j, wide] = total / (wide + 1)
