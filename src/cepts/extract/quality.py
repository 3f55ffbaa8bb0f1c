"""One score for each pair: whether its sentences translate each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association


class Curve(NamedTuple):
    """A logistic curve: 0.5 at `middle`, and rising with `slope`."""

    slope: float
    middle: float

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """From 0 to 1, also for infinite values."""
        curve: NDArray[np.float64] = np.exp(-np.logaddexp(0.0, -self.slope * (values - self.middle)))
        return curve


# Chosen by maximum likelihood, without gold links, on pairs 485 to 10,000 of the Hansards of which 20 % were made
# noisy in each of three ways (see benchmarks/tuning.py), by models that were trained on the good and on the noisy text.
WORDS = Curve(2.5, -5.45)  # of the log-probability per word, in the direction in which it is lower
COVERAGE = Curve(18.0, 0.533)
WORST_HALF = Curve(7.5, 0.03)
DISPLACEMENT = Curve(-14.6, 0.627)
# Total value of a matrix to which no displacement is added, see `match_words`.
SMOOTHING = 0.2


def pair_quality(agreement: Association, log_probabilities: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """A score from 0 to 1 for each pair, low if its sentences do not translate each other.

    It is a product of three factors, each of which can alone show that a pair is bad: that the words are probable
    translations of each other, that no half of either sentence lacks partners, and that partners have similar places in
    their sentences. Pairs without a matrix have 0.

    Parameters
    ----------
    agreement
        The agreement of both directions.
    log_probabilities
        Log P(target | source) and log P(source | target) of each pair. If None, the first factor is computed from the
        mean over all words of their highest agreement.

    Examples
    --------
    >>> lengths = np.array([4])
    >>> matrices = [np.eye(4), np.roll(np.eye(4), 2, axis=0)]
    >>> found = [Association(lengths, lengths, np.array([0, 16]), np.ravel(m).astype(np.float32)) for m in matrices]
    >>> [float(pair_quality(matrix)[0].round(3)) for matrix in found]
    [0.999, 0.009]
    """
    from cepts.kernels.quality import match_words

    source_lengths, target_lengths = (
        np.ascontiguousarray(lengths, dtype=np.int64)
        for lengths in (agreement.source_lengths, agreement.target_lengths)
    )
    found = np.empty((len(agreement), 3))
    match_words(
        np.ascontiguousarray(agreement.offsets, dtype=np.int64),
        source_lengths,
        target_lengths,
        np.ascontiguousarray(agreement.values, dtype=np.float32),
        SMOOTHING,
        np.empty(int(source_lengths.max(initial=0))),
        np.empty(int(target_lengths.max(initial=0))),
        found,
    )
    if log_probabilities is None:
        words = COVERAGE(found[:, 0])
    else:
        lengths = np.maximum(np.column_stack([target_lengths, source_lengths]), 1)
        words = WORDS((log_probabilities / lengths).min(axis=1))
    quality: NDArray[np.float64] = words * WORST_HALF(found[:, 1]) * DISPLACEMENT(found[:, 2])
    quality[np.diff(agreement.offsets) == 0] = 0.0
    return quality
