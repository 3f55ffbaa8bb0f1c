"""What jobs have found, ready to be shown: tables and lines for people, values for programs."""

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
    """Rows of cells under headings; a column is left out where none of its cells has a value.

    The first `left` columns are flush left; the others hold numbers. Where the table is too wide, `fit` says what to
    do: ``fold`` puts columns into further tables, ``cut`` shortens the words of the last column, ``wrap`` breaks the
    text of the last two columns between words. Without it, a table is folded on terminals only.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    left: int = 1
    title: str | None = None
    fit: Literal["fold", "cut", "wrap"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a job found.

    Attributes
    ----------
    values
        All of it, for JSON.
    shown
        Lines and tables for people.
    said
        What is no result, such as how long it took.
    signature
        One line that says exactly what produced the scores, for people; `values` have it too.
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
    """File names without their folders, unless they are needed to tell files apart."""
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
    """The values that there are: neither None nor empty."""
    return {name: value for name, value in values.items() if value not in (None, {}, [])}
