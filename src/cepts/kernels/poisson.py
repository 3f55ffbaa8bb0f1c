"""Poisson (Kullback-Leibler) factorisation of sparse matrices by EM: eqs. (3), (4) and (12) of nmf_lm.

A matrix of shares (counts over their sum) is read row by row. `here` holds the factors of the rows and `there` those of
the columns, each with the factors of one word or document side by side, so that what is done for one entry of the
matrix is a product and a sum of two runs of memory. Nothing is done for entries that are 0.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import vector_kernel

TINY = np.float32(1e-37)


@vector_kernel
def expect_rows(first, stop, offsets, columns, shares, here, there, weights, least, long, new, sums, row, gained):
    """What each factor has of the rows `first` to `stop`: `here` times the sum of eq. (3), written to `new`.

    The model of an entry is the sum over factors of `weights` x `here` x `there`. Where `long`, the steps from what the
    factors had are raised to the power 7/4. `sums` receives the sum of the rows of `new`; less than `least[i]` of row
    `i` is nothing. `row` and `gained` are scratch, a number a factor. Returns the sum of the entries times the
    logarithm of their model.
    """
    factors = len(weights)
    for a in range(factors):
        sums[a] = 0.0
    log_likelihood = 0.0
    for i in range(first, stop):
        for a in range(factors):
            row[a] = weights[a] * here[i, a]
            gained[a] = np.float32(0)
        for place in range(offsets[i], offsets[i + 1]):
            column = there[columns[place]]
            model = np.float32(0)
            for a in range(factors):
                model += row[a] * column[a]
            model = max(model, TINY)
            share = shares[place]
            ratio = share / model
            for a in range(factors):
                gained[a] += ratio * column[a]
            log_likelihood += np.float64(share) * np.log(np.float64(model))
        enough = least[i]
        for a in range(factors):
            value = row[a] * gained[a]
            row[a] = value if value >= enough else np.float32(0)
        if long:
            # Powers that roots are enough for: any other would cost as much as a whole row of entries.
            for a in range(factors):
                root = np.sqrt(gained[a])
                row[a] *= root * np.sqrt(root)
        for a in range(factors):
            new[i, a] = row[a]
            sums[a] += row[a]
    return log_likelihood
