"""Plain twins of what counts words and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


def edits(reference: Sequence[str], reading: Sequence[str]) -> tuple[int, int, int, int]:
    """Words right, replaced, put in and left out: fewest edits, and of these the most words right, by recursion."""

    @cache
    def best(i: int, j: int) -> tuple[int, int, int, int, int]:
        """Edits, minus hits, and the three kinds of edits, of the first `i` and `j` words."""
        if i == 0 and j == 0:
            return 0, 0, 0, 0, 0
        ways = []
        if i and j:
            cost, hits, replaced, put_in, left_out = best(i - 1, j - 1)
            same = reference[i - 1] == reading[j - 1]
            ways.append((cost + (not same), hits - same, replaced + (not same), put_in, left_out))
        if j:
            cost, hits, replaced, put_in, left_out = best(i, j - 1)
            ways.append((cost + 1, hits, replaced, put_in + 1, left_out))
        if i:
            cost, hits, replaced, put_in, left_out = best(i - 1, j)
            ways.append((cost + 1, hits, replaced, put_in, left_out + 1))
        return min(ways)

    _, hits, replaced, put_in, left_out = best(len(reference), len(reading))
    return -hits, replaced, put_in, left_out


def spread(tokens: Sequence[str], word: str, stretch: int) -> float:
    """Relative variance of the rate of `word` from stretch to stretch, beyond that of a Poisson variable."""
    stretches = [tokens[start : start + stretch] for start in range(0, len(tokens), stretch)]
    counts = [run.count(word) for run in map(list, stretches)]
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    return (variance - mean) / mean**2


def inside_variance(values: Sequence[float], parting: float) -> float:
    """Squared distances of `values` from the means of the two groups, below `parting` and from it on."""
    total = 0.0
    for group in ([value for value in values if value < parting], [value for value in values if value >= parting]):
        mean = sum(group) / len(group)
        total += sum((value - mean) ** 2 for value in group)
    return total
