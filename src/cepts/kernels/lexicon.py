"""From expected counts to lexicons, in both directions at once.

`lexicon[c, 0]` is t(target | source) and `lexicon[c, 1]` is t(source | target) of cell c.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel
from cepts.kernels.lanes import at, put
from cepts.kernels.lookup import backed_off, likeness


@kernel
def gather_rows(lexicon, cells, out):
    """Copy the entries of `cells`: a shard's own part of the lexicon, which may fit into the memory cache."""
    for place in range(len(cells)):
        cell = 2 * np.int64(at(cells, place))
        put(out, 2 * place, at(lexicon, cell))
        put(out, 2 * place + 1, at(lexicon, cell + 1))


@kernel
def add_at(cells, values, out):
    """Add the counts of a shard's cells to those of the whole text, or of fine cells to those of their coarse cells."""
    columns = out.shape[1]
    for place in range(len(cells)):
        cell = columns * np.int64(at(cells, place))
        for column in range(columns):
            put(out, cell + column, at(out, cell + column) + at(values, columns * place + column))


@kernel
def gather_null(given_null, words, rarest, out):
    """P(word | null) of each token; an unknown word (-1) has the probability `rarest`."""
    for token in range(len(words)):
        word = words[token]
        out[token] = given_null[word] if word >= 0 else rarest


@kernel
def add_null_counts(words, offsets, values, times, sums):
    """Add what null explains of each token of the pairs, which occur `times`, to the sum of its word."""
    for pair in range(len(offsets) - 1):
        for token in range(offsets[pair], offsets[pair + 1]):
            sums[words[token]] += np.float64(values[token] * times[pair])


@kernel
def totals(rows, targets, counts, of_source, of_target):
    """Sum the forward counts of each source word's cells, and the reverse counts of each target word's cells."""
    reverse = counts.shape[1] - 1
    of_target[:] = 0.0
    for row in range(len(rows) - 1):
        total = 0.0
        for cell in range(rows[row], rows[row + 1]):
            total += np.float64(counts[cell, 0])
            of_target[targets[cell]] += np.float64(counts[cell, reverse])
        of_source[row] = total


@kernel
def normalise(rows, targets, counts, source_totals, target_totals, lexicon):
    """M-step of Model 1, eq. (25) of ibm12: counts over their totals. `counts[c, -1]` is the reverse direction."""
    reverse = counts.shape[1] - 1
    for row in range(len(rows) - 1):
        total = source_totals[row]
        share = 1.0 / total if total > 0.0 else 0.0
        for cell in range(rows[row], rows[row + 1]):
            lexicon[cell, 0] = counts[cell, 0] * share
            back = target_totals[targets[cell]]
            lexicon[cell, 1] = counts[cell, reverse] / back if back > 0.0 else 0.0


@kernel
def digamma(x):
    """Derivative of log Gamma for x > 0: recurrence up to 6, then the asymptotic series."""
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = square * (
        1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0)))
    )
    return shift + np.log(x) - 0.5 * inverse - series


@allocating_kernel
def normalise_bayes(
    rows, targets, counts, source_totals, target_totals, source_sizes, target_sizes, concentration, lexicon
):
    """Variational M-step with a symmetric Dirichlet prior: exp(psi(c + a) - psi(total + a n)).

    n is the number of cells of the word: the prior covers the words that it co-occurs with.
    """
    reverse = counts.shape[1] - 1
    back = np.empty(len(target_totals))
    for target in range(len(target_totals)):
        back[target] = digamma(target_totals[target] + concentration * max(target_sizes[target], 1))
    for row in range(len(rows) - 1):
        if rows[row] == rows[row + 1]:
            continue
        ahead = digamma(source_totals[row] + concentration * source_sizes[row])
        for cell in range(rows[row], rows[row + 1]):
            upper = digamma(counts[cell, 0] + concentration)
            lexicon[cell, 0] = np.exp(upper - ahead)
            if reverse:
                upper = digamma(counts[cell, reverse] + concentration)
            lexicon[cell, 1] = np.exp(upper - back[targets[cell]])


class CoarseCells(NamedTuple):
    """Cells, the coarser cell of each (none at the coarsest level), and the share of each word in its coarser one."""

    rows: Any
    targets: Any
    coarse_of_cell: Any
    source_share: Any
    target_share: Any


@kernel
def back_off(level, counts, totals, coarse_lexicon, strengths, floor, lexicon):
    """Lexicon of a level, smoothed towards that of the coarser words.

    t(f | e) = (c(e, f) + s t'(f' | e') P(f | f')) / (c(e) + s): the mean of a Dirichlet posterior whose prior is the
    coarser lexicon t' with strength s. Where `coarse_of_cell` is empty, there are no coarser words, and the prior is
    the share of the word in its text. `totals` are those of the source words and of the target words.
    """
    rows, targets = level.rows, level.targets
    source_totals, target_totals = totals
    reverse = counts.shape[1] - 1
    rooted = len(level.coarse_of_cell) == 0
    ahead = back = np.float32(1)
    for row in range(len(rows) - 1):
        for cell in range(rows[row], rows[row + 1]):
            target = targets[cell]
            if not rooted:
                coarse = level.coarse_of_cell[cell]
                ahead = coarse_lexicon[coarse, 0]
                back = coarse_lexicon[coarse, 1]
            prior = np.float64(level.target_share[target] * ahead)
            lexicon[cell, 0] = backed_off(counts[cell, 0], source_totals[row], prior, strengths[0], floor)
            prior = np.float64(level.source_share[row] * back)
            lexicon[cell, 1] = backed_off(counts[cell, reverse], target_totals[target], prior, strengths[1], floor)


@kernel
def fill_discounts(rows, targets, source_discounts, target_discounts, out):
    """The discount of each cell: the smaller one of those of its two words."""
    for row in range(len(rows) - 1):
        for cell in range(rows[row], rows[row + 1]):
            out[cell] = min(source_discounts[row], target_discounts[targets[cell]])


@kernel
def spelling_counts(rows, targets, spellings, least, weight, counts):
    """Add a prior count for similar words, such as numbers, names and cognates: `weight` times their `likeness`.

    A likeness below `least` counts as 0; identical words get the whole weight.
    """
    source_bounds, target_bounds = spellings.source_bounds, spellings.target_bounds
    for row in range(len(rows) - 1):
        start = source_bounds[row]
        if start == source_bounds[row + 1]:
            continue
        for cell in range(rows[row], rows[row + 1]):
            other = targets[cell]
            # Most pairs already differ in the first byte.
            if (
                target_bounds[other] == target_bounds[other + 1]
                or spellings.source[start] != spellings.target[target_bounds[other]]
            ):
                continue
            like = likeness(spellings, row, other, least)
            if like > 0.0:
                for column in range(counts.shape[1]):
                    counts[cell, column] += weight * like
