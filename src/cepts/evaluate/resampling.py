"""Bootstrap intervals of scores, and comparisons of two systems by approximate randomisation.

Both work on sums of counts per unit: a sentence pair, a word to translate. The counts are whole numbers, so the sums
are exact and a seed gives the same digits on every machine, whatever the size of the chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, UsageError
from cepts.signature import Signed

LEVEL = 0.95

_CHUNK = 1 << 21  # cells of the resampling matrix held at a time


class Countable(Signed):
    """Base class of scores that are computed from sums of counts over units, so that units can be resampled."""

    __slots__ = ()

    # What the units are.
    unit: ClassVar[str] = "sentence pairs"
    counts: NDArray[np.int64]

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The scores that have intervals."""
        raise NotImplementedError

    def unit_counts(self) -> NDArray[np.float64]:
        """Numbers, one row for each unit, from whose sums the scores are computed."""
        return self.counts.astype(np.float64)

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores for `sums` of rows of `unit_counts`, along the last axis of both."""
        raise NotImplementedError

    @property
    def metrics(self) -> dict[str, float]:
        """The scores of all units, by name."""
        return dict(zip(self.metric_names, self.metrics_of(self.unit_counts().sum(axis=0)).tolist(), strict=True))


class Metric:
    """An attribute with the value of one of the `metrics`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, scored: Countable, owner: type) -> float:
        return scored.metrics[self.name]


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap percentile interval of a score, from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Signed):
    """How the second system differs from the first in one score.

    `value` is second minus first, `interval` its paired bootstrap interval. `p_value` is the probability of a
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


def intervals(scored: Countable, *, samples: int = 1000, seed: int = 0, level: float = LEVEL) -> dict[str, Interval]:
    """Compute the bootstrap percentile interval of every score.

    Parameters
    ----------
    scored
        What `compare`, `score_phrases` and similar functions return. Its units, such as sentence pairs, are drawn with
        replacement.
    samples
        Number of bootstrap samples.
    seed
        Seed of the samples.
    level
        Confidence level of the intervals, such as 0.95.
    """
    counts = scored.unit_counts()
    values = [scored.metrics_of(times @ counts) for times in _resamples(len(counts), samples, seed)]
    return dict(zip(scored.metric_names, _percentiles(values, level), strict=True))


def differences(
    first: Countable, second: Countable, *, samples: int = 1000, seed: int = 0, level: float = LEVEL
) -> dict[str, Difference]:
    """Compare two systems that were scored on the same gold data, in every score.

    The bootstrap of the interval draws the same units for both systems. The p-value is that of approximate
    randomisation (Noreen, 1989): each sample exchanges the results of the two systems in a random half of the units,
    and ``p = (1 + samples with a difference as large) / (1 + samples)``, so it is never 0. `samples`, `seed` and
    `level` are as for `intervals`.
    """
    one, two = first.unit_counts(), second.unit_counts()
    if len(one) != len(two):
        raise DataError(
            f"the first system was scored on {len(one):,} {first.unit} and the second on "
            f"{len(two):,}; only scores on the same gold data can be compared."
        )
    if one.shape != two.shape or first.metric_names != second.metric_names:
        raise ValueError(f"both systems must be scored in the same way. Got {first.facts} and {second.facts} instead.")
    metrics, units = first.metrics_of, len(one)
    total_one, total_two, change = one.sum(axis=0), two.sum(axis=0), two - one
    value_one, value_two = metrics(total_one), metrics(total_two)
    observed = value_two - value_one
    drawn = [metrics(times @ two) - metrics(times @ one) for times in _resamples(units, samples, seed)]
    bounds = _percentiles(drawn, level)

    # A second stream, so that neither result depends on how many numbers the other drew.
    rng = np.random.default_rng([seed, 1])
    as_large = np.zeros(len(first.metric_names), dtype=np.int64)
    for rows in _chunks(units, samples):
        exchanged = (rng.random((rows, units)) < 0.5).astype(np.float64) @ change
        found = metrics(total_two - exchanged) - metrics(total_one + exchanged)
        as_large += np.count_nonzero(np.abs(found) >= np.abs(observed) - 1e-12, axis=0)
    how = {"test": "approximate-randomisation", "samples": samples, "seed": seed, "level": f"{level:g}"}
    return {
        metric: Difference(
            metric=metric,
            first=float(value_one[m]),
            second=float(value_two[m]),
            value=float(observed[m]),
            interval=bounds[m],
            p_value=(1 + int(as_large[m])) / (1 + samples),
            facts={"metric": metric, **first.facts, **how},
        )
        for m, metric in enumerate(first.metric_names)
    }


@dataclass(frozen=True, slots=True)
class Resampled:
    """Intervals of the scores of several systems, and how each further system differs from the first.

    `facts` is what the signature says about the samples.
    """

    intervals: list[dict[str, Interval]]
    differences: list[dict[str, Difference]]
    facts: dict[str, object]


def resample(systems: Sequence[Countable], *, samples: int = 1000, seed: int = 0, level: float = LEVEL) -> Resampled:
    """Compute intervals for all `systems`, and the differences of each further system from the first.

    The result is empty if `samples` is 0. The parameters are those of `intervals`.
    """
    if not samples:
        return Resampled([], [], {})
    ranges = [intervals(system, samples=samples, seed=seed, level=level) for system in systems]
    gaps = [differences(systems[0], other, samples=samples, seed=seed, level=level) for other in systems[1:]]
    facts: dict[str, object] = {"bootstrap": samples, "seed": seed, "level": f"{level:g}"}
    if gaps:
        facts["test"] = "approximate-randomisation"
    return Resampled(ranges, gaps, facts)


def _chunks(units: int, samples: int) -> Iterator[int]:
    """How many samples to make at a time."""
    rows = max(1, _CHUNK // max(units, 1))
    for start in range(0, samples, rows):
        yield min(rows, samples - start)


def _resamples(units: int, samples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each unit is drawn: one row per sample."""
    if samples < 1:
        raise UsageError(f"`samples` must be 1 or more. Got {samples} instead.")
    rng = np.random.default_rng([seed, 0])
    for rows in _chunks(units, samples):
        if not units:
            yield np.zeros((rows, 0))
            continue
        yield rng.multinomial(units, np.full(units, 1 / units), size=rows).astype(np.float64)


def _percentiles(values: Sequence[NDArray[np.float64]], level: float) -> list[Interval]:
    if not 0 < level < 1:
        raise UsageError(f"`level` must lie between 0 and 1. Got {level} instead.")
    tail = 50 * (1 - level)
    bounds = np.percentile(np.concatenate(values), [tail, 100 - tail], axis=0)
    return [Interval(*pair) for pair in bounds.T.tolist()]
