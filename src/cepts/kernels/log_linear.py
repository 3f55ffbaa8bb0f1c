"""Scores and expected features of items with real values and categories."""

from __future__ import annotations

from cepts.kernels import kernel, vector_kernel

NEGLIGIBLE = 1e-12


@vector_kernel
def score_items(values, categories, value_weights, category_weights, scores):
    """Fill the score of each item (row): values @ value_weights + the sum of the weights of its categories."""
    for item in range(len(scores)):
        total = 0.0
        for column in range(values.shape[1]):
            total += values[item, column] * value_weights[column]
        for column in range(categories.shape[1]):
            total += category_weights[categories[item, column]]
        scores[item] = total


@kernel
def add_expected(values, categories, weights, value_sums, category_sums):
    """Add each item's features, times its weight (a marginal or a count), to the sums.

    Most segments have almost no probability, so weights up to `NEGLIGIBLE` are skipped.
    """
    for item in range(len(weights)):
        weight = weights[item]
        if weight > NEGLIGIBLE:
            for column in range(values.shape[1]):
                value_sums[column] += values[item, column] * weight
            for column in range(categories.shape[1]):
                category_sums[categories[item, column]] += weight
