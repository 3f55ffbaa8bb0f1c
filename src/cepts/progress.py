"""Progress reports of long computations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One progress report of a running computation.

    Attributes
    ----------
    stage
        What is being done, such as ``reading`` or ``training hmm``.
    done, total
        How many units of work of the stage are finished, and how many there are.
    iteration
        Number of the current iteration, from 1; 0 if the stage does not iterate.
    objective
        A value to show, if there is one. It need not be what is maximised.
    change
        The last change of the objective as a share of its range so far. EM stops when this falls below the tolerance.
    seconds
        Seconds of work so far.
    resumed, remaining
        When training continues from a checkpoint: how many iterations the checkpoint had, and how many are left.
    parts
        When an iteration or a step continues: how many of its shards or tasks were done before, and how many there are.
    note
        Anything else to show.
    line
        A line to say at once, such as an estimate of what will be needed.
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
    parts: tuple[int, int] | None = None
    note: str = ""
    line: str = ""


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore a progress report."""


# Called with the name of each kernel before it is compiled, by the thread that needs it.
compile_listeners: list[Callable[[str], None]] = []


@contextmanager
def on_compile(notify: Callable[[str], None]) -> Iterator[None]:
    """Within the context, call `notify(name)` before each kernel that has to be compiled.

    Kernels that Numba finds in its cache are not compiled.
    """
    compile_listeners.append(notify)
    try:
        yield
    finally:
        compile_listeners.remove(notify)


class Stopwatch:
    """Measures the seconds of work since it was created, without the time that compiling kernels took.

    `Stopwatch.not_counted`, which all stopwatches share, is the seconds spent on compiling since the program started.
    """

    not_counted: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self._started = time.perf_counter() - Stopwatch.not_counted

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        return max(time.perf_counter() - Stopwatch.not_counted - self._started, 0.0)
