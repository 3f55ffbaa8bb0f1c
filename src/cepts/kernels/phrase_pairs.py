"""Phrase pairs that are consistent with links (Koehn, Och and Marcu, 2003), and monotone coverage of pairs by them."""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel
from cepts.kernels.lookup import find_sorted


@kernel
def _reach(links, source, target, size, length, reach):
    """Fill `reach` with the first and last partner of each source word (rows 0, 1) and target word (2, 3)."""
    for i in range(size):
        reach[0, i] = length
        reach[1, i] = -1
    for j in range(length):
        reach[2, j] = size
        reach[3, j] = -1
    for link in range(links[0], links[1]):
        i, j = source[link], target[link]
        reach[0, i] = min(reach[0, i], j)
        reach[1, i] = max(reach[1, i], j)
        reach[2, j] = min(reach[2, j], i)
        reach[3, j] = max(reach[3, j], i)


@allocating_kernel
def consistent_pairs(offsets, source, target, source_lengths, target_lengths, longest, counts, spans):
    """Find the phrase pairs of all sentence pairs; `counts` receives their number in each.

    A source span and a target span are consistent if a link joins them and no link leaves either for a word outside the
    other. `spans`, unless empty, receives start and stop of both, by source start, source stop and target start.
    """
    widest = 1
    for pair in range(len(counts)):
        widest = max(widest, source_lengths[pair], target_lengths[pair])
    reach = np.empty((4, widest), np.int64)
    filled = 0
    for pair in range(len(counts)):
        size, length = source_lengths[pair], target_lengths[pair]
        _reach((offsets[pair], offsets[pair + 1]), source, target, size, length, reach)
        found = 0
        for start in range(size):
            first, last = length, -1
            for stop in range(start + 1, min(start + longest, size) + 1):
                first = min(first, reach[0, stop - 1])
                last = max(last, reach[1, stop - 1])
                if last < 0:
                    continue
                if last - first >= longest:
                    break
                inside = True
                for j in range(first, last + 1):
                    if reach[3, j] >= 0 and (reach[2, j] < start or reach[3, j] >= stop):
                        inside = False
                        break
                if not inside:
                    continue
                # Target words without links may be part of the phrase at both ends.
                left = first
                while left >= 0 and (left == first or reach[3, left] < 0) and last - left < longest:
                    right = last
                    while right < length and (right == last or reach[3, right] < 0) and right - left < longest:
                        if len(spans):
                            spans[filled, 0] = start
                            spans[filled, 1] = stop
                            spans[filled, 2] = left
                            spans[filled, 3] = right + 1
                            filled += 1
                        found += 1
                        right += 1
                    left -= 1
        counts[pair] = found


@allocating_kernel
def monotone_derivation(source, target, sizes, keys, logs, fallback):
    """The best derivation of a target sentence from left to right by phrase pairs of a table.

    `source` and `target` have the numbers of the phrases that start at each word, with a row for each length, -1 where
    there is none; a key is the number of the source phrase times `sizes[2]` plus that of the target phrase, `keys` are
    those of the table, sorted, and `logs` their log-probabilities. Each word that no phrase pair explains costs
    `fallback`. Returns the log-probability, the numbers of target words and source words that phrase pairs explain, and
    the number of phrase pairs.
    """
    size, length = sizes[0], sizes[1]
    longest = len(source)
    best = np.full((size + 1, length + 1), -np.inf)
    step = np.zeros((size + 1, length + 1, 2), np.int64)
    best[0, 0] = 0.0
    for i in range(size + 1):
        for j in range(length + 1):
            if i > 0 and best[i - 1, j] + fallback > best[i, j]:
                best[i, j] = best[i - 1, j] + fallback
                step[i, j, 0], step[i, j, 1] = 1, 0
            if j > 0 and best[i, j - 1] + fallback > best[i, j]:
                best[i, j] = best[i, j - 1] + fallback
                step[i, j, 0], step[i, j, 1] = 0, 1
            for across in range(1, min(i, longest) + 1):
                phrase = source[across - 1, i - across]
                if phrase < 0:
                    continue
                for down in range(1, min(j, longest) + 1):
                    other = target[down - 1, j - down]
                    before = best[i - across, j - down]
                    if other < 0 or before == -np.inf or before <= best[i, j]:
                        continue
                    place = find_sorted(keys, 0, len(keys), phrase * sizes[2] + other)
                    if place >= 0 and before + logs[place] > best[i, j]:
                        best[i, j] = before + logs[place]
                        step[i, j, 0], step[i, j, 1] = across, down
    words = others = phrases = 0
    i, j = size, length
    while i > 0 or j > 0:
        across, down = step[i, j, 0], step[i, j, 1]
        if across > 0 and down > 0:
            others += across
            words += down
            phrases += 1
        i -= across
        j -= down
    return best[size, length], words, others, phrases
