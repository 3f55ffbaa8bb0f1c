"""Whether the confidences of links are what they say: of links given 0.8, about 80 % should be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments
from cepts.errors import UsageError

BINS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """How often links of similar confidence are right.

    Attributes
    ----------
    bounds
        Bin `n` has the confidences from `bounds[n]` to `bounds[n + 1]`; the last bin includes 1.
    counts
        Number of links in each bin.
    confidence
        Their mean confidence; NaN for an empty bin.
    right
        The share of them that the gold links contain, sure or possible; NaN for an empty bin.
    """

    bounds: NDArray[np.float64]
    counts: NDArray[np.int64]
    confidence: NDArray[np.float64]
    right: NDArray[np.float64]

    @property
    def error(self) -> float:
        """Expected calibration error: how far `right` is from `confidence`, as a mean over all links, bin by bin."""
        filled = self.counts > 0
        gaps = np.abs(self.right - self.confidence)[filled]
        return float(np.average(gaps, weights=self.counts[filled])) if filled.any() else 0.0


def reliability(gold: Alignments, links: Alignments, *, bins: int = BINS) -> Reliability:
    """Compare the confidences of links with the shares of them that are right.

    Parameters
    ----------
    gold
        The gold links; a link is right if it is one of them, sure or possible.
    links
        The links of the same sentence pairs, with confidences from 0 to 1.
    bins
        Number of bins of equal width.

    Examples
    --------
    >>> gold = Alignments.from_links([[(0, 0)]])
    >>> float(reliability(gold, Alignments.from_links([[(0, 0), (0, 1)]])).error)
    0.5
    """
    if len(gold) != len(links):
        raise ValueError(f"gold and links must have the same pairs. Got {len(gold):,} and {len(links):,} instead.")
    if bins < 1:
        raise UsageError(f"`bins` must be 1 or more. Got {bins} instead.")
    rows, columns = (1 + max(int(side.max(initial=0)) for side in sides) for sides in _positions(gold, links))
    keys = [(each.pair * rows + each.source) * columns + each.target for each in (gold, links)]
    right = np.isin(keys[1], keys[0])
    confidence = links.confidence.astype(np.float64)
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    sums = [np.bincount(place, values, minlength=bins) for values in (confidence, right)]
    means = [np.divide(total, counts, out=np.full(bins, np.nan), where=counts > 0) for total in sums]
    return Reliability(np.linspace(0.0, 1.0, bins + 1), counts, *means)


def _positions(gold: Alignments, links: Alignments) -> tuple[tuple[NDArray, NDArray], tuple[NDArray, NDArray]]:
    return (gold.source, links.source), (gold.target, links.target)
