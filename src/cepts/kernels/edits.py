"""Edit distance: the fewest substitutions, insertions and deletions of words that turn one sequence into another."""

from __future__ import annotations

from cepts.kernels import kernel


@kernel
def count_edits(references, reference_offsets, hypotheses, hypothesis_offsets, distances, hits, counts):
    """Count the fewest edits between each reference and its hypothesis, and the most hits possible with them.

    Parameters
    ----------
    references, hypotheses
        Word numbers of all pairs, end to end; those of pair `n` start at its offset.
    distances, hits
        Buffers for one row of the table: one number more than the longest hypothesis has words.
    counts
        Filled with one row for each pair: edits and hits (words that are the same).
    """
    for pair in range(len(reference_offsets) - 1):
        first = hypothesis_offsets[pair]
        columns = hypothesis_offsets[pair + 1] - first
        for j in range(columns + 1):
            distances[j] = j
            hits[j] = 0
        for i in range(reference_offsets[pair], reference_offsets[pair + 1]):
            # The cell above and to the left, before the row is overwritten.
            corner, corner_hits = distances[0], hits[0]
            distances[0] += 1
            for j in range(1, columns + 1):
                if references[i] == hypotheses[first + j - 1]:
                    best, best_hits = corner, corner_hits + 1
                else:
                    best, best_hits = corner + 1, corner_hits
                if distances[j] + 1 < best or (distances[j] + 1 == best and hits[j] > best_hits):
                    best, best_hits = distances[j] + 1, hits[j]
                if distances[j - 1] + 1 < best or (distances[j - 1] + 1 == best and hits[j - 1] > best_hits):
                    best, best_hits = distances[j - 1] + 1, hits[j - 1]
                corner, corner_hits = distances[j], hits[j]
                distances[j], hits[j] = best, best_hits
        counts[pair, 0] = distances[columns]
        counts[pair, 1] = hits[columns]
