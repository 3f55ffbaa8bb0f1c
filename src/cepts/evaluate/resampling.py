"""Intervals by bootstrap and the comparison of two systems by randomisation.

Both work on sums of the counts per sentence pair. The sums are of whole numbers, so float arithmetic keeps
them exact and a seed gives the same digits on every machine, however the samples are cut into chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.evaluate.counts import COLUMNS
from cepts.evaluate.scores import METRICS, Comparison, metrics
from cepts.signature import signature

__all__ = ["Difference", "Interval", "differences", "intervals"]

_CHUNK = 1 << 21  # cells of the resampling matrix held at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval of a score."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the second system differs from the first in one score.

    `value` is second minus first and lies in `interval` by paired bootstrap; `p_value` is the chance of a
    difference at least as large, in either direction, if the two systems did not differ (paired approximate
    randomisation).
    """

    metric: str
    first: float
    second: float
    value: float
    interval: Interval
    p_value: float
    facts: Mapping[str, object]

    @property
    def signature(self) -> str:
        """One line that says what was compared and how."""
        return signature(self.facts)


def intervals(
    comparison: Comparison, *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Interval]:
    """Percentile bootstrap interval of every one of `METRICS`: sentence pairs are drawn with replacement."""
    _check(samples, level)
    values = np.concatenate(
        [metrics(weights @ _columns(comparison)) for weights in _resamples(len(comparison.counts), samples, seed)]
    )
    low, high = _percentiles(values, level)
    return {metric: Interval(float(low[m]), float(high[m])) for m, metric in enumerate(METRICS)}


def differences(
    first: Comparison, second: Comparison, *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Difference]:
    """Compare two systems on the same gold in every one of `METRICS`.

    The interval is of a bootstrap that draws the same sentence pairs for both. The p-value is of approximate
    randomisation (Noreen 1989): each sample exchanges the two systems' links in a random half of the pairs,
    and ``p = (1 + samples with a difference as large) / (1 + samples)``, so it is never 0.
    """
    _check(samples, level)
    if len(first.counts) != len(second.counts):
        raise DataError(
            f"the first system was held against {len(first.counts):,} sentence pairs and the second against "
            f"{len(second.counts):,}; only scores of the same gold can be compared."
        )
    one, two = _columns(first), _columns(second)
    pairs, total_one, total_two, change = len(one), one.sum(axis=0), two.sum(axis=0), two - one
    observed = metrics(total_two) - metrics(total_one)
    drawn = [metrics(times @ two) - metrics(times @ one) for times in _resamples(pairs, samples, seed)]
    low, high = _percentiles(np.concatenate(drawn), level)

    # A second stream, so that neither result depends on how much the other drew.
    rng = np.random.default_rng([seed, 1])
    as_large = np.zeros(len(METRICS), dtype=np.int64)
    for rows in _chunks(pairs, samples):
        exchanged = (rng.random((rows, pairs)) < 0.5).astype(np.float64) @ change
        found = metrics(total_two - exchanged) - metrics(total_one + exchanged)
        as_large += np.count_nonzero(np.abs(found) >= np.abs(observed) - 1e-12, axis=0)
    facts = {
        **first.facts,
        "test": "approximate-randomisation",
        "samples": samples,
        "seed": seed,
        "level": f"{level:g}",
    }
    return {
        metric: Difference(
            metric=metric,
            first=float(metrics(total_one)[m]),
            second=float(metrics(total_two)[m]),
            value=float(observed[m]),
            interval=Interval(float(low[m]), float(high[m])),
            p_value=(1 + int(as_large[m])) / (1 + samples),
            facts={"metric": metric, **facts},
        )
        for m, metric in enumerate(METRICS)
    }


def _check(samples: int, level: float) -> None:
    if samples < 1:
        raise ValueError(f"samples must be at least 1. Got {samples} instead.")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1. Got {level} instead.")


def _columns(comparison: Comparison) -> NDArray[np.float64]:
    """The counts from which the metrics follow, as floats for the matrix product."""
    return comparison.counts[:, : COLUMNS.index("source_covered")].astype(np.float64)


def _chunks(pairs: int, samples: int) -> Iterator[int]:
    """How many samples to make at a time."""
    rows = max(1, _CHUNK // max(pairs, 1))
    for start in range(0, samples, rows):
        yield min(rows, samples - start)


def _resamples(pairs: int, samples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each sentence pair is drawn: a row a sample."""
    rng = np.random.default_rng([seed, 0])
    for rows in _chunks(pairs, samples):
        if not pairs:
            yield np.zeros((rows, 0))
            continue
        yield rng.multinomial(pairs, np.full(pairs, 1 / pairs), size=rows).astype(np.float64)


def _percentiles(values: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    tail = 50 * (1 - level)
    low, high = np.percentile(values, [tail, 100 - tail], axis=0)
    return low, high
