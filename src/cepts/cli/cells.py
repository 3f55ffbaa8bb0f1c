"""How scores are shown in the cells of tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepts.evaluate import Interval

__all__ = ["LEVEL", "percent", "percent_range", "short_names"]

LEVEL = 0.95


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
