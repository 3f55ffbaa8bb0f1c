"""How well counts are predicted by all other counts, by which the strengths of a back-off are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import lazy_property


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Counts, and how well each is predicted when one occurrence is removed.

    Attributes
    ----------
    weight
        The counts of some cells of the finest level.
    rest
        Levels x cells: what remains of the count of the cell, or of its coarser cell, without one occurrence.
    share
        Levels x cells: the share of the predicted word in its coarser one.
    words, totals
        Levels x cells: the number and the total count of the predicting word.
    """

    weight: NDArray[np.float64]
    rest: NDArray[np.float64]
    share: NDArray[np.float64]
    words: NDArray[np.int64]
    totals: NDArray[np.float64]

    @classmethod
    def concatenate(cls, parts: Sequence[LeaveOneOut]) -> LeaveOneOut:
        """All cells of several samples."""
        joined = (np.concatenate([getattr(part, field.name) for part in parts], axis=-1) for field in fields(cls))
        return cls(*joined)

    def with_totals(self, totals: Sequence[NDArray[np.float64]]) -> LeaveOneOut:
        """The same cells, with the totals of their words taken from those of all words of each level."""
        return replace(self, totals=np.array([total[own] for total, own in zip(totals, self.words, strict=True)]))

    @lazy_property
    def _whole(self) -> NDArray[np.float64]:
        """Levels x cells: what remains of the total of the predicting word."""
        return np.maximum(self.totals - np.minimum(self.weight, 1.0), self.rest)

    def likelihood(self, strengths: NDArray[np.float64]) -> float:
        """Weighted log-likelihood of the sample."""
        probability: NDArray[np.float64] | float = 1.0
        for level in range(len(strengths) - 1, -1, -1):
            strength = strengths[level]
            prior = strength * self.share[level] * probability
            probability = (self.rest[level] + prior) / (self._whole[level] + strength)
        # Not `@`: BLAS would start threads, which cost more than they save.
        return float((self.weight * np.log(probability)).sum())
