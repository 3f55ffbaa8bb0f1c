"""The number of cepts is the one at which the penalised likelihood is highest: section 4.1 of onmf.

The paper prints no formula, so here is where it comes from. K cepts have K weights, which with noise add up to 1, K
distributions over I source words and K over J target words: K + K (I - 1) + K (J - 1) = K (I + J - 1) free parameters.
(Without noise it is one less for every K, which changes no choice.) AIC takes 1 from the log-likelihood for each, BIC
half the logarithm of the number of observations, which are all counts of the matrix, its null row and column included.

Of a matrix of two blocks, each a product of margins, the best likelihoods are known: one cept makes the two sides
independent, two cepts or more fit it perfectly. So one can say at which scale of the counts the choice must change.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cepts.factor import SELECTIONS, factorise, onmf
from cepts.kernels import plsa
from oracles_factor import cells_of, entropy, joined, matrices, models


@st.composite
def two_blocks(draw):
    """A matrix of two blocks of one to three rows and columns, and null masses below those of the words."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = [(draw(st.integers(1, 3)), draw(st.integers(1, 3))) for _ in range(2)]
    matrix = np.zeros(np.sum(shapes, axis=0))
    for (rows, columns), place in zip(shapes, ((0, 0), shapes[0]), strict=True):
        block = random.uniform(1, 3, rows)[:, None] * random.uniform(1, 3, columns)
        matrix[place[0] : place[0] + rows, place[1] : place[1] + columns] = block / np.sqrt(block.size)
    share = draw(st.sampled_from([0.0, 0.9]))
    return matrix, share * matrix.sum(axis=1), share * matrix.sum(axis=0)


def log_likelihoods(matrix):
    """Of 1, 2, ... cepts."""
    total = matrix.sum()
    independent = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / total**2
    found = [(matrix[matrix > 0] * np.log(model[matrix > 0])).sum() for model in (independent, matrix / total)]
    return np.array(found + [found[-1]] * (min(matrix.shape) - 2))


def penalties(matrix, nulls, bayes):
    """What 1, 2, ... cepts cost."""
    observations = matrix.sum() + sum(null.sum() for null in nulls)
    price = np.log(max(observations, 1.0)) / 2 if bayes else 1.0
    return price * (sum(matrix.shape) - 1) * np.arange(1, min(matrix.shape) + 1)


def turning_point(matrix, nulls, bayes):
    """The scale of the counts from which on the second cept pays."""
    gain = np.diff(log_likelihoods(matrix))[0]
    scale = 1e4 / gain
    for _ in range(100):
        scale = np.diff(penalties(scale * matrix, [scale * null for null in nulls], bayes))[0] / gain
    return scale


@pytest.mark.parametrize("cepts", SELECTIONS)
@settings(deadline=None, max_examples=60)
@given(two_blocks(), st.sampled_from([0.94, 1.06]))
def test_the_number_of_cepts_is_the_best_by_its_criterion(cepts, made, part):
    """A little below the turning point, and a little above it; one parameter more or less would move it further."""
    bayes = cepts.endswith(("bic", "icl"))
    scale = turning_point(*made[:1], made[1:], bayes)
    assume(scale * made[0].sum() > 3)
    matrix, *nulls = (part * scale * array for array in made)
    likelihoods = log_likelihoods(matrix)
    criterion = likelihoods - penalties(matrix, nulls, bayes)
    wanted = int(criterion.argmax()) + 1
    assert wanted == 1 + (part > 1)

    found = factorise(matrix, source_null=nulls[0], target_null=nulls[1], cepts=cepts, noise=False)
    assert len(found.factors) == wanted
    known = np.isfinite(found.log_likelihoods)
    np.testing.assert_allclose(found.log_likelihoods[known], likelihoods[known], rtol=2e-3)
    np.testing.assert_allclose((found.bic if bayes else found.aic)[known], criterion[known], rtol=2e-3)
    # Neither the only cept nor the two of the two blocks can be mistaken, so ICL and BIC are the same.
    np.testing.assert_allclose(found.icl[:2][known[:2]], found.bic[:2][known[:2]], rtol=1e-3)
    alignments = onmf(joined([matrix], [nulls[0]], [nulls[1]]), cepts=cepts, noise=False, threads=1)
    assert len(alignments.cepts[0]) == wanted


@settings(deadline=None)
@given(st.data(), st.booleans())
def test_entropy_is_that_of_the_oracle(data, noisy):
    matrix = data.draw(matrices())
    model = data.draw(models(matrix.shape, noisy=noisy))
    total = float(matrix.sum(dtype=np.float64))
    kernel_model = plsa.CeptModel(*(part.astype(np.float32) for part in (model.weights, model.source, model.target)))
    cells = cells_of(matrix / total, 1.0)
    row = np.zeros(matrix.shape[1], dtype=np.float32)
    got = plsa.entropy(cells, len(model.weights), kernel_model, model.noise if noisy else -1.0, row)
    assert got == pytest.approx(entropy(matrix.astype(float) / total, model), rel=1e-3, abs=1e-6)


def test_icl_prefers_cepts_that_are_told_apart():
    """Two blocks that overlap in one row: BIC takes three cepts, ICL two, because the third shares all its words."""
    matrix = np.array([[400, 0, 0, 0], [300, 10, 0, 120], [0, 60, 200, 110], [0, 80, 100, 300.0]])
    found = {name: factorise(matrix, cepts=name, noise=False) for name in ("bic", "icl")}
    for name, result in found.items():
        criterion = getattr(result, name)
        assert np.isfinite(criterion).all()
    assert (found["icl"].icl <= found["icl"].bic + 1e-6).all()
    assert np.argmax(found["icl"].icl) < np.argmax(found["bic"].bic)
    assert len(found["icl"].factors) < len(found["bic"].factors)
