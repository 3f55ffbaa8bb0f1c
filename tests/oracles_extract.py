"""Slow, plain twins of `cepts.extract`, on sets of links of one sentence pair."""

from __future__ import annotations

import numpy as np

Links = set[tuple[int, int]]


def combine(forward: Links, reverse: Links, method: str) -> Links:
    """The methods as atools of fast_align defines them: each pass tries the candidates in sorted order."""
    union, result = forward | reverse, forward & reverse
    if method == "union":
        return union
    if method == "intersection":
        return result

    def source_covered(i: int) -> bool:
        return any(link[0] == i for link in result)

    def target_covered(j: int) -> bool:
        return any(link[1] == j for link in result)

    def has_neighbour(i: int, j: int) -> bool:
        return any((i + di, j + dj) in result for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))

    while True:
        size = len(result)
        for i, j in sorted(union - result):
            if has_neighbour(i, j) and not (source_covered(i) and target_covered(j)):
                result.add((i, j))
        if len(result) == size:
            break
    if method == "grow-diag":
        return result
    for direction in (forward, reverse):
        for i, j in sorted(direction):
            covered = (source_covered(i), target_covered(j))
            if not (all(covered) if method == "grow-diag-final" else any(covered)):
                result.add((i, j))
    return result


def threshold(matrix: np.ndarray, least: float) -> Links:
    return {(i, j) for i in range(matrix.shape[0]) for j in range(matrix.shape[1]) if matrix[i, j] >= np.float32(least)}


def best_of_each_target(matrix: np.ndarray, null: np.ndarray) -> Links:
    links = set()
    for j in range(matrix.shape[1]):
        partners = sorted((-value, i) for i, value in enumerate(matrix[:, j].tolist()))
        if partners and -partners[0][0] > null[j]:
            links.add((partners[0][1], j))
    return links


def closure(links):
    """The smallest set with `links` that has (i, j) whenever it has (i, b), (a, b) and (a, j), by repetition."""
    closed = set(links)
    while True:
        added = {(i, j) for i, b in closed for a, d in closed if d == b for c, j in closed if c == a} - closed
        if not added:
            return closed
        closed |= added


def consistent_phrases(links, size, length, longest):
    """All pairs of spans with a link inside both and none between the inside of one and the outside of the other."""
    found = []
    for start in range(size):
        for stop in range(start + 1, min(start + longest, size) + 1):
            for left in range(length):
                for right in range(left + 1, min(left + longest, length) + 1):
                    both = [start <= i < stop and left <= j < right for i, j in links]
                    one = [(start <= i < stop) != (left <= j < right) for i, j in links]
                    if any(both) and not any(one):
                        found.append((start, stop, left, right))
    return found


def best_derivation(source, target, table, fallback):
    """The best log-probability of all monotone derivations, by recursion; `table` maps phrase pairs to logarithms."""

    def best(i, j):
        if i == len(source) and j == len(target):
            return 0.0
        ways = [fallback + best(i + 1, j)] if i < len(source) else []
        ways += [fallback + best(i, j + 1)] if j < len(target) else []
        for (one, other), log in table.items():
            if source[i : i + len(one)] == one and target[j : j + len(other)] == other:
                ways.append(log + best(i + len(one), j + len(other)))
        return max(ways)

    return best(0, 0)
