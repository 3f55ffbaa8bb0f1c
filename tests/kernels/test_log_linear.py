from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrases as oracles
from cepts.kernels.log_linear import add_expected, score_items


@st.composite
def tables(draw):
    items, values, columns = draw(st.integers(0, 5)), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    weights = draw(st.integers(1, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return (
        random.normal(size=(items, values)).astype(np.float32),
        random.integers(0, weights, (items, columns), dtype=np.int32),
        random,
        weights,
    )


@settings(deadline=None)
@given(tables())
def test_scores_are_products_with_the_weights(table):
    values, categories, random, count = table
    value_weights, category_weights = random.normal(size=values.shape[1]), random.normal(size=count)
    scores = np.full(len(values), np.nan)
    score_items(values, categories, value_weights, category_weights, scores)
    for item, score in enumerate(scores):
        row = oracles.table_row(values, categories, item, values.shape[1], count)
        np.testing.assert_allclose(score, row[0] @ value_weights + row[1] @ category_weights, atol=1e-12)


@settings(deadline=None)
@given(tables(), st.sampled_from([0.0, 0.5]))
def test_expected_features_are_added_to_what_is_there(table, share):
    values, categories, random, count = table
    marginals = random.random(len(values))
    marginals[random.random(len(values)) < share] = 0.0
    sums = [random.normal(size=values.shape[1]), random.normal(size=count)]
    want = [part.copy() for part in sums]
    for item, marginal in enumerate(marginals):
        row = oracles.table_row(values, categories, item, values.shape[1], count)
        want = [part + marginal * new for part, new in zip(want, row, strict=True)]
    add_expected(values, categories, marginals, *sums)
    for got, part in zip(sums, want, strict=True):
        np.testing.assert_allclose(got, part, atol=1e-12)
