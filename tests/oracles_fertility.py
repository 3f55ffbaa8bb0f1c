"""Models 3 and 4 straight from their formulas, one alignment at a time, for the tests of `cepts.words.fertility`.

An alignment is a tuple: for each target word its source position, -1 for null.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from math import ceil, comb, exp, factorial, log

import numpy as np
from numpy.typing import NDArray

NEAR = 8
DOUBLINGS = 7
BEGINNING, OTHERS = -2, -1

Alignment = tuple[int, ...]
# The place of a probability in its table, counted by how often an alignment uses it.
Terms = dict[tuple[int, ...], float]


@dataclass
class Pair:
    """One direction's view of a sentence pair: probabilities, and rows of tables by word (the last for unknown)."""

    lexicon: NDArray[np.float64]
    null: NDArray[np.float64]
    words: list[int]
    source_classes: list[int]
    target_classes: list[int]
    fertility: NDArray[np.float64]
    placements: NDArray[np.float64]
    displacements: NDArray[np.float64]
    null_prob: float
    chained: bool

    @property
    def size(self) -> int:
        return self.lexicon.shape[0]

    @property
    def length(self) -> int:
        return self.lexicon.shape[1]


def group(distance: int) -> int:
    """Place of a distance in a table: itself up to NEAR, then one for each doubling."""
    away = abs(distance)
    place = min(away, NEAR)
    while NEAR <= place < NEAR + DOUBLINGS and away > NEAR * 2 ** (place - NEAR):
        place += 1
    return NEAR + DOUBLINGS + (place if distance > 0 else -place)


def share(distance: int) -> float:
    """A distance's part of the probability of its group."""
    away = abs(group(distance) - NEAR - DOUBLINGS) - NEAR
    return 1.0 if away <= 0 else 1.0 / (NEAR * 2 ** (away - 1))


def cepts_of(alignment: Alignment, size: int) -> list[list[int]]:
    return [[j for j, source in enumerate(alignment) if source == i] for i in range(size)]


def placement_terms(pair: Pair, alignment: Alignment) -> list[tuple[tuple[int, ...], float]]:
    """Where in its table each placement of an alignment stands, and its share of that probability."""
    cepts = cepts_of(alignment, pair.size)
    found = []
    if not pair.chained:
        bucket = next((b for b, most in enumerate((8, 16, 32)) if pair.length <= most), 3)
        for i, cept in enumerate(cepts):
            beside = int((i + 0.5) * pair.length / pair.size)
            found += [((bucket, group(j - beside)), share(j - beside)) for j in cept]
        return found
    row, centre = BEGINNING % len(pair.placements), -1
    for i, cept in enumerate(cepts):
        if not cept:
            continue
        found.append(((row, pair.target_classes[cept[0]], group(cept[0] - centre)), share(cept[0] - centre)))
        for j, k in pairwise(cept):
            found.append(((OTHERS % len(pair.placements), pair.target_classes[k], group(k - j)), share(k - j)))
        row, centre = pair.source_classes[i], ceil(sum(cept) / len(cept))
    return found


def log_probability(pair: Pair, alignment: Alignment, *, more_null: bool = False) -> float:
    """Log P(target, alignment | source), minus infinity if null has too many words.

    With `more_null`, each word beyond half of them has the probability of a word of null.
    """
    free = sum(source < 0 for source in alignment)
    if 2 * free > pair.length and not more_null:
        return -np.inf
    allowed = min(free, pair.length // 2)
    total = log(comb(pair.length - allowed, allowed))
    total += free * log(pair.null_prob) + (pair.length - 2 * allowed) * log(1 - pair.null_prob)
    for j, source in enumerate(alignment):
        total += log(pair.null[j] if source < 0 else pair.lexicon[source, j])
    for word, cept in zip(pair.words, cepts_of(alignment, pair.size), strict=True):
        row = pair.fertility[word]
        most = len(row) - 1
        fertility = len(cept)
        total += log(row[fertility]) if fertility < most else log(row[most] * 0.5 ** (fertility - most + 1))
        if not pair.chained:
            total += log(factorial(fertility))
    table = pair.placements if pair.chained else pair.displacements
    return total + sum(log(table[place] * part) for place, part in placement_terms(pair, alignment))


def neighbours(alignment: Alignment, size: int) -> Iterator[Alignment]:
    """All that differ by a move or a swap."""
    for j, source in enumerate(alignment):
        for to in range(-1, size):
            if to != source:
                yield (*alignment[:j], to, *alignment[j + 1 :])
        for k in range(j + 1, len(alignment)):
            if alignment[k] != source:
                swapped = list(alignment)
                swapped[j], swapped[k] = swapped[k], swapped[j]
                yield tuple(swapped)


def all_alignments(pair: Pair) -> Iterator[Alignment]:
    """Every alignment that has a probability."""
    for alignment in product(range(-1, pair.size), repeat=pair.length):
        if log_probability(pair, alignment) > -np.inf:
            yield alignment


@dataclass
class Neighbourhood:
    """Sums over an alignment and its neighbours: posteriors (cepts x words, null apart), counts, log of the sum."""

    posterior: NDArray[np.float64]
    null: NDArray[np.float64]
    fertilities: NDArray[np.float64]
    placements: NDArray[np.float64]
    log_sum: float


def neighbourhood(pair: Pair, alignment: Alignment, candidates: list[set[int]] | None = None) -> Neighbourhood:
    """Sums over an alignment and its neighbours, or those whose links are among the candidates of each word."""
    members = [alignment, *neighbours(alignment, pair.size)]
    if candidates is not None:
        members = [member for member in members if all(map(set.__contains__, candidates, member))]
    scores = np.array([log_probability(pair, member, more_null=candidates is not None) for member in members])
    log_sum = float(np.logaddexp.reduce(scores))
    table = pair.placements if pair.chained else pair.displacements
    found = Neighbourhood(
        np.zeros((pair.size, pair.length)),
        np.zeros(pair.length),
        np.zeros((pair.size, pair.fertility.shape[1])),
        np.zeros(table.shape),
        log_sum,
    )
    for member, score in zip(members, scores, strict=True):
        weight = exp(score - log_sum)
        if weight == 0:
            continue
        for j, source in enumerate(member):
            if source < 0:
                found.null[j] += weight
            else:
                found.posterior[source, j] += weight
        for i, cept in enumerate(cepts_of(member, pair.size)):
            found.fertilities[i, min(len(cept), pair.fertility.shape[1] - 1)] += weight
        for place, _ in placement_terms(pair, member):
            found.placements[place] += weight
    return found
