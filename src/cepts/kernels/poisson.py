"""Poisson (Kullback-Leibler) factorisation of sparse matrices by EM: eqs. (3), (4) and (12) of nmf_lm.

A matrix of shares (counts over their sum) is read row by row. `here` holds the factors of the rows and `there` those of
the columns; the factors of one word or document are side by side in memory, so that each entry of the matrix needs only
products and sums of two contiguous runs. Entries of 0 need nothing.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import vector_kernel

TINY = np.float32(1e-37)


@vector_kernel
def expect_rows(first, stop, bounds, matrix, model, least, long, scoring, found, scratch):
    """Expected mass of each factor in the rows of some shards: `here` times the sum of eq. (3) of nmf_lm.

    The model of an entry is the sum over factors of `weights` x `here` x `there`. Where `long`, the ratio of the new
    mass to the old one is raised to the power 7/4. A mass below `least[i]` counts as 0 in row `i`.

    Parameters
    ----------
    first, stop, bounds
        The shards `first` to `stop`; shard `s` has the rows from `bounds[s]` to `bounds[s + 1]`.
    matrix, model
        Offsets, columns and shares of a sparse matrix; `here`, `there` and `weights`.
    found
        The masses in each row; for each shard, their sum over its rows and, where `scoring`, the sum of its entries
        times the logarithm of their model.
    scratch
        A buffer of two rows, with one number for each factor.
    """
    offsets, columns, shares = matrix
    here, there, weights = model
    new, sums, logs = found
    row, gained = scratch[0], scratch[1]
    factors = len(weights)
    for shard in range(first, stop):
        for a in range(factors):
            sums[shard, a] = 0.0
        log_likelihood = 0.0
        for i in range(bounds[shard], bounds[shard + 1]):
            for a in range(factors):
                row[a] = weights[a] * here[i, a]
                gained[a] = np.float32(0)
            place, end = offsets[i], offsets[i + 1]
            while place + 4 <= end:  # four entries at once, because memory is slower than arithmetic
                column1 = there[columns[place]]
                column2 = there[columns[place + 1]]
                column3 = there[columns[place + 2]]
                column4 = there[columns[place + 3]]
                model1 = model2 = model3 = model4 = np.float32(0)
                for a in range(factors):
                    model1 += row[a] * column1[a]
                    model2 += row[a] * column2[a]
                    model3 += row[a] * column3[a]
                    model4 += row[a] * column4[a]
                model1, model2, model3, model4 = (
                    max(model1, TINY),
                    max(model2, TINY),
                    max(model3, TINY),
                    max(model4, TINY),
                )
                ratio1, ratio2 = shares[place] / model1, shares[place + 1] / model2
                ratio3, ratio4 = shares[place + 2] / model3, shares[place + 3] / model4
                for a in range(factors):
                    gained[a] += ratio1 * column1[a] + ratio2 * column2[a] + ratio3 * column3[a] + ratio4 * column4[a]
                if scoring:
                    log_likelihood += np.float64(shares[place]) * np.log(model1)
                    log_likelihood += np.float64(shares[place + 1]) * np.log(model2)
                    log_likelihood += np.float64(shares[place + 2]) * np.log(model3)
                    log_likelihood += np.float64(shares[place + 3]) * np.log(model4)
                place += 4
            while place < end:
                column = there[columns[place]]
                model = np.float32(0)
                for a in range(factors):
                    model += row[a] * column[a]
                model = max(model, TINY)
                ratio = shares[place] / model
                for a in range(factors):
                    gained[a] += ratio * column[a]
                if scoring:
                    log_likelihood += np.float64(shares[place]) * np.log(model)
                place += 1
            for a in range(factors):
                value = row[a] * gained[a]
                row[a] = value if value >= least[i] else np.float32(0)
            if long:
                # This power needs only square roots; any other would take as long as a whole row of entries.
                for a in range(factors):
                    root = np.sqrt(gained[a])
                    row[a] *= root * np.sqrt(root)
            for a in range(factors):
                new[i, a] = row[a]
                sums[shard, a] += row[a]
        logs[shard] = log_likelihood
