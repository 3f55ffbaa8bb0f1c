"""How matrices are factorised: the options, and the scale of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data import Association
    from cepts.factor.orthogonal import Selection

# What a certain link is worth in counts: two lists of 100 alignments that all have it, as in section 5 of onmf.
EVIDENCE = 200.0
# In pairs with more source and target words than this, evidence grows with the length.
LONG = 160
# The lowest confidence of a sure link. Set only on the trial sentences of the Hansards (benchmarks/onmf.py).
SURE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Factoring:
    """How association matrices are factorised into cepts.

    Attributes
    ----------
    cepts, noise, sure, assign, orphans, restarts, seed
        As in `cepts.factor.onmf`.
    spread
        Share of the null mass that goes to neighbouring words, from 0 to below 1; see `cepts.factor.spread`. None is
        the default of the association.
    """

    cepts: Selection | int = "anneal"
    noise: bool = True
    sure: float = SURE
    assign: str = "map"
    orphans: str = "retrain"
    restarts: int = 10
    seed: int = 0
    spread: float | None = None

    def __post_init__(self) -> None:
        if self.spread is not None and not 0 <= self.spread < 1:
            raise UsageError(f"`spread` must be at least 0 and below 1. Got {self.spread} instead.")

    def of_onmf(self) -> dict[str, Any]:
        """The options of `cepts.factor.onmf`, by name."""
        return {
            name: getattr(self, name) for name in ("cepts", "noise", "sure", "assign", "orphans", "restarts", "seed")
        }


def in_counts(association: Association, certain: float | None = 1.0) -> Association:
    """Scale matrices to counts, on a scale where a certain link is worth `EVIDENCE` counts, or more in long pairs.

    AIC and BIC penalise each cept by the number of words in the pair, so in longer sentences a cept needs more words to
    outweigh its penalty. In pairs of more than `LONG` words, the counts therefore grow with the penalty.

    Parameters
    ----------
    association
        Matrices with non-negative entries.
    certain
        The entry of a certain link. None is for matrices that have no such entry: each matrix is first scaled by
        `scaled_to_words`.
    """
    words = association.source_lengths + association.target_lengths
    weights = np.maximum(words / LONG, 1.0)
    if certain is None:
        return scaled_to_words(association).scaled(EVIDENCE * weights)
    return association.scaled(EVIDENCE / certain * weights)


def scaled_to_words(association: Association, weight: float = 1.0) -> Association:
    """Scale each matrix so that its sum plus half its null mass is `weight` times half the words of the pair.

    With a weight of 1, this is the sum of the mean of both directions' posteriors. The sum of a matrix is the number of
    observations, so it matters when the number of cepts is chosen by likelihood. A matrix of zeros stays as it is.
    """
    total = np.zeros(len(association))
    for field, values, offsets in association.masses():
        full = np.flatnonzero(np.diff(offsets) > 0)
        if len(full):
            sums = np.add.reduceat(values, offsets[full], dtype=np.float64)
            total[full] += (1.0 if field == "values" else 0.5) * sums
    wanted = weight * (association.source_lengths + association.target_lengths) / 2
    return association.scaled(np.divide(wanted, total, out=np.ones_like(total), where=total > 0))
