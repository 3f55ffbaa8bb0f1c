"""Progress reports of long computations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One report of a running computation.

    `done` of `total` units of `stage` are finished; `iteration` (from 1) is there where the stage iterates. `objective`
    is a value to show, where there is one; it need not be what is maximised. `change` is what decides when EM stops:
    the last change of the objective as a share of its range so far, which is compared with the tolerance. `resumed` is
    the number of iterations that a checkpoint already had, in the step that reports it, with the number `remaining`.
    `note` is anything else to show.
    """

    stage: str
    done: int
    total: int
    iteration: int = 0
    objective: float | None = None
    change: float | None = None
    seconds: float = 0.0
    resumed: int = 0
    remaining: int = 0
    note: str = ""


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Report to nobody."""


# Called with the name of each kernel before it is compiled, by the thread that needs it.
compile_listeners: list[Callable[[str], None]] = []


@contextmanager
def on_compile(notify: Callable[[str], None]) -> Iterator[None]:
    """Within the context, call `notify(name)` before a kernel is compiled, which a warm cache makes needless."""
    compile_listeners.append(notify)
    try:
        yield
    finally:
        compile_listeners.remove(notify)


class Stopwatch:
    """Measures the seconds of work since it was made; those in which kernels were being compiled do not count.

    `Stopwatch.not_counted` is for all stopwatches: the seconds spent on compiling since the program started.
    """

    not_counted: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self._started = time.perf_counter() - Stopwatch.not_counted

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        return max(time.perf_counter() - Stopwatch.not_counted - self._started, 0.0)
