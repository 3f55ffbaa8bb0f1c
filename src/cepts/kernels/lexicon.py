"""From expected counts to lexicons, in both directions at once.

`lexicon[c, 0]` is t(target | source) and `lexicon[c, 1]` is t(source | target) of cell c.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.lookup import backed_off, likeness


@kernel
def gather_rows(lexicon, cells, out):
    """Copy the entries of `cells`: a shard's own part of the lexicon, small enough for the cache."""
    for place in range(len(cells)):
        cell = cells[place]
        out[place, 0] = lexicon[cell, 0]
        out[place, 1] = lexicon[cell, 1]


@kernel
def add_at(cells, values, out):
    """Add the counts of a shard's cells to those of the whole text."""
    for place in range(len(cells)):
        cell = cells[place]
        for column in range(out.shape[1]):
            out[cell, column] += values[place, column]


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
    """M-step of eq. (25): counts over their totals. `counts[c, -1]` are those of the reverse direction."""
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


@kernel
def normalise_bayes(
    rows, targets, counts, source_totals, target_totals, source_sizes, target_sizes, concentration, lexicon
):
    """Variational M-step under a symmetric Dirichlet prior: exp(psi(c + a) - psi(total + a n)).

    n is the number of cells of the word: the prior spreads over the words that it was ever seen with.
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


@kernel
def add_to_coarse(coarse_of_cell, counts, out):
    """Add up the counts of fine cells in their coarse cells."""
    for cell in range(len(coarse_of_cell)):
        coarse = coarse_of_cell[cell]
        for column in range(counts.shape[1]):
            out[coarse, column] += counts[cell, column]


@kernel
def back_off(
    first,
    last,
    rows,
    targets,
    counts,
    source_totals,
    target_totals,
    coarse_of_cell,
    coarse_lexicon,
    source_share,
    target_share,
    strengths,
    floor,
    lexicon,
):
    """Lexicon of rows `first` to `last`, each distribution drawn towards that of its coarser words.

    t(f | e) = (c(e, f) + s t'(f' | e') P(f | f')) / (c(e) + s): the mean of a Dirichlet posterior whose prior is the
    coarser lexicon t' with strength s. Where `coarse_of_cell` is empty the words have no coarser ones and the prior
    is the share of the word in its text.
    """
    reverse = counts.shape[1] - 1
    rooted = len(coarse_of_cell) == 0
    ahead = np.float32(1)
    back = np.float32(1)
    for row in range(first, last):
        for cell in range(rows[row], rows[row + 1]):
            target = targets[cell]
            if not rooted:
                coarse = coarse_of_cell[cell]
                ahead = coarse_lexicon[coarse, 0]
                back = coarse_lexicon[coarse, 1]
            lexicon[cell, 0] = backed_off(
                counts[cell, 0],
                source_totals[row],
                np.float64(target_share[target] * ahead),
                strengths[0],
                floor,
            )
            lexicon[cell, 1] = backed_off(
                counts[cell, reverse],
                target_totals[target],
                np.float64(source_share[row] * back),
                strengths[1],
                floor,
            )


@kernel
def spelling_counts(rows, targets, source_bytes, source_bounds, target_bytes, target_bounds, least, weight, counts):
    """Give cells of like-spelt words a prior count: their common prefix over the longer word, from `least` on.

    Identical words get the whole `weight`; numbers, names and cognates are what this is for.
    """
    for row in range(len(rows) - 1):
        start = source_bounds[row]
        length = source_bounds[row + 1] - start
        if length == 0:
            continue
        for cell in range(rows[row], rows[row + 1]):
            other = targets[cell]
            # Most pairs end here, at the first byte.
            if (
                target_bounds[other] == target_bounds[other + 1]
                or source_bytes[start] != target_bytes[target_bounds[other]]
            ):
                continue
            like = likeness(
                source_bytes,
                start,
                start + length,
                target_bytes,
                target_bounds[other],
                target_bounds[other + 1],
                least,
            )
            if like > 0.0:
                for column in range(counts.shape[1]):
                    counts[cell, column] += weight * like
