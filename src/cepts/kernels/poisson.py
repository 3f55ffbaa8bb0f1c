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
def expect_rows(
    first, stop, offsets, columns, shares, here, there, weights, least, long, scoring, new, sums, row, gained
):
    """What each factor has of the rows `first` to `stop`: `here` times the sum of eq. (3), written to `new`.

    The model of an entry is the sum over factors of `weights` x `here` x `there`. Where `long`, the steps from what the
    factors had are raised to the power 7/4. `sums` receives the sum of the rows of `new`; less than `least[i]` of row
    `i` is nothing. `row` and `gained` are scratch, a number a factor. Returns, where `scoring`, the sum of the entries
    times the logarithm of their model.
    """
    factors = len(weights)
    for a in range(factors):
        sums[a] = 0.0
    log_likelihood = 0.0
    for i in range(first, stop):
        for a in range(factors):
            row[a] = weights[a] * here[i, a]
            gained[a] = np.float32(0)
        last = offsets[i + 1] - 1
        # Four entries at once, for memory is slower than sums; where fewer are left, the last one again, as nothing.
        for place in range(offsets[i], last + 1, 4):
            second, third, fourth = min(place + 1, last), min(place + 2, last), min(place + 3, last)
            column1 = there[columns[place]]
            column2 = there[columns[second]]
            column3 = there[columns[third]]
            column4 = there[columns[fourth]]
            model1 = model2 = model3 = model4 = np.float32(0)
            for a in range(factors):
                model1 += row[a] * column1[a]
                model2 += row[a] * column2[a]
                model3 += row[a] * column3[a]
                model4 += row[a] * column4[a]
            model1, model2, model3, model4 = max(model1, TINY), max(model2, TINY), max(model3, TINY), max(model4, TINY)
            share1 = shares[place]
            share2 = shares[second] if second > place else np.float32(0)
            share3 = shares[third] if third > second else np.float32(0)
            share4 = shares[fourth] if fourth > third else np.float32(0)
            ratio1, ratio2, ratio3, ratio4 = share1 / model1, share2 / model2, share3 / model3, share4 / model4
            for a in range(factors):
                gained[a] += ratio1 * column1[a] + ratio2 * column2[a] + ratio3 * column3[a] + ratio4 * column4[a]
            if scoring:
                log_likelihood += np.float64(share1) * np.log(model1)
                log_likelihood += np.float64(share2) * np.log(model2)
                log_likelihood += np.float64(share3) * np.log(model3)
                log_likelihood += np.float64(share4) * np.log(model4)
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
