"""One pair of a file of association matrices, factorised and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from cepts import factor
from cepts.data import Alignment
from cepts.io import Matrices
from cepts.io.files import PathLike
from cepts.plot.criterion import plot_criterion
from cepts.plot.factors import plot_factors


def draw_pair(
    matrices: Matrices,
    pair: int,
    *,
    scale: float = 1.0,
    words: tuple[list[str], list[str]] | None = None,
    gold: Alignment | None = None,
    factors: PathLike | None = None,
    criterion: PathLike | None = None,
    **options: Any,
) -> None:
    """Draw the factors of one pair, and how its number of cepts was chosen, to the given files.

    `words` replace those of the file; `options` are those of `cepts.factor.factorise`, except that
    a number of cepts may be too large for the pair, which then has fewer.
    """
    association = matrices.association.part(pair, pair + 1)
    size, length = int(association.source_lengths[0]), int(association.target_lengths[0])
    nulls = [
        np.zeros(count, dtype=np.float32) if null is None else null * np.float32(scale)
        for null, count in ((association.source_null, size), (association.target_null, length))
    ]
    matrix = association[0] * np.float32(scale)
    if isinstance(options.get("cepts"), int):
        options["cepts"] = min(options["cepts"], size, length)
    found = factor.factorise(matrix, source_null=nulls[0], target_null=nulls[1], **options)
    if words is None and matrices.source is not None and matrices.target is not None:
        words = matrices.source[pair], matrices.target[pair]
    if words is None:
        words = [str(i + 1) for i in range(size)], [str(j + 1) for j in range(length)]
    count = len(found.factors)
    if factors is not None:
        cepts = found.alignments.cepts
        assert cepts is not None
        whole = np.zeros((size + 1, length + 1))
        whole[1:, 1:] = matrix
        whole[1:, 0], whole[0, 1:] = nulls
        plot_factors(
            factors,
            whole,
            _with_null(found.factors.source_posterior, last=1),
            _with_null(found.factors.target_posterior, last=0),
            *words,
            cepts.source,
            cepts.target,
            cept_names=[*(str(cept + 1) for cept in range(count)), "source null", "target null"],
            sure=[] if gold is None else [link for link, sure in zip(gold.links, gold.sure, strict=True) if sure],
            possible=[] if gold is None else gold.links,
            title=f"{count} {'cept' if count == 1 else 'cepts'}, P(noise) = {found.factors.noise:.5f}",
        )
    if criterion is not None:
        numbers = np.arange(1, len(found.aic) + 1)
        curves = {"log-likelihood": found.log_likelihoods, "AIC": found.aic, "BIC": found.bic}
        known = {name: values for name, values in curves.items() if np.isfinite(values).any()}
        chosen = {
            name: int(numbers[np.nanargmax(values)]) for name, values in known.items() if name != "log-likelihood"
        }
        plot_criterion(criterion, numbers, known, chosen=chosen)


def _with_null(posterior: np.ndarray, *, last: int) -> np.ndarray:
    """P(cept | word) with the null word first, and last the null cepts of the source's and the target's null word."""
    words, columns = posterior.shape
    whole = np.zeros((words + 1, columns + 1))
    whole[1:, : columns - 1] = posterior[:, 1:]
    whole[1:, columns - 1 + last] = posterior[:, 0]
    whole[0, columns - last] = 1.0
    return whole
