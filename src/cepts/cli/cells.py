"""How scores are shown in the cells of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cepts.evaluate import Difference, Interval

LEVEL = 0.95
RANGE = "95 % interval"


def percent(value: float | None, sign: str = "") -> str:
    """A ratio in %; a `sign` of ``+`` also marks positive ones."""
    return "" if value is None else f"{100 * value:{sign}.2f}"


def percent_range(interval: Interval, sign: str = "") -> str:
    """Both ends of an interval in %."""
    return f"{percent(interval.low, sign)} to {percent(interval.high, sign)}"


def short_names(names: Sequence[str]) -> list[str]:
    """File names without their folders, unless they are needed to tell files apart."""
    short = [Path(name).name if name != "-" else "stdin" for name in names]
    return short if len(set(short)) == len(short) else list(names)


def bounds(ranges: Mapping[str, Interval]) -> dict[str, list[float]]:
    """Both ends of each interval, as JSON values."""
    return {metric: [interval.low, interval.high] for metric, interval in ranges.items()}


def compared(gaps: Mapping[str, Difference]) -> dict[str, Any]:
    """Differences of two systems, as JSON values."""
    return {
        metric: {"value": gap.value, "interval": list(asdict(gap.interval).values()), "p_value": gap.p_value}
        for metric, gap in gaps.items()
    }


def gap_cells(gap: Difference) -> list[str]:
    """A difference, its interval and its p-value."""
    return [percent(gap.value, "+"), percent_range(gap.interval, "+"), f"{gap.p_value:.4f}"]
