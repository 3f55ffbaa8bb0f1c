"""Results of jobs, ready to be shown: tables and lines for people, values for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cepts.evaluate import Difference, Interval

RANGE = "95 % interval"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings; a column is left out if none of its cells has a value.

    The first `left` columns are aligned to the left; the others have numbers. If the table is too wide, `fit` says what
    to do: ``fold`` puts columns into further tables, ``cut`` shortens the last column, ``wrap`` breaks the text of the
    last two columns between words. Without `fit`, a table is folded only on terminals.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    left: int = 1
    title: str | None = None
    fit: Literal["fold", "cut", "wrap"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of a job.

    Attributes
    ----------
    values
        All results, for JSON.
    shown
        The results as lines and tables for people.
    said
        Lines that are not results, such as how long the job took.
    signature
        One line that says exactly what produced the scores; it is also part of `values`.
    """

    values: Any = None
    shown: Sequence[str | Table] = ()
    said: Sequence[str] = ()
    signature: str | None = None


def percent(value: float | None, sign: str = "") -> str | None:
    """A ratio in %; a `sign` of ``+`` also marks positive ones."""
    return None if value is None else f"{100 * value:{sign}.2f}"


def percent_range(interval: Interval | None, sign: str = "") -> str | None:
    """Both ends of an interval in %."""
    return None if interval is None else f"{percent(interval.low, sign)} to {percent(interval.high, sign)}"


def gap_cells(gap: Difference | None) -> tuple[str | None, ...]:
    """A difference, its interval and its p-value."""
    if gap is None:
        return None, None, None
    return percent(gap.value, "+"), percent_range(gap.interval, "+"), f"{gap.p_value:.4f}"


def short_names(names: Sequence[str]) -> list[str]:
    """File names without their directories, unless these are needed to tell files apart."""
    short = [Path(name).name if name != "-" else "stdin" for name in names]
    return short if len(set(short)) == len(short) else list(names)


def counted(number: int, name: str, plural: str | None = None) -> str:
    """A number of things: `1 document`, `2,429 documents`."""
    return f"{number:,} {name if number == 1 else plural or f'{name}s'}"


def bounds(ranges: Mapping[str, Interval]) -> dict[str, list[float]]:
    """Both ends of each interval, as JSON values."""
    return {metric: [interval.low, interval.high] for metric, interval in ranges.items()}


def compared(gaps: Mapping[str, Difference]) -> dict[str, Any]:
    """Differences of two systems, as JSON values."""
    return {
        metric: {"value": gap.value, "interval": list(asdict(gap.interval).values()), "p_value": gap.p_value}
        for metric, gap in gaps.items()
    }


def filled(**values: Any) -> dict[str, Any]:
    """The values that are neither None nor empty."""
    return {name: value for name, value in values.items() if value not in (None, {}, [])}
