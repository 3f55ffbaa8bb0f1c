"""What a long computation tells its caller while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = ["Progress", "Step", "of_part", "silent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One report of a running computation.

    `done` of `total` units of `stage` are finished; `objective` is there where the stage optimises something, and
    `iteration` (from 1) where it iterates.
    """

    stage: str
    done: int
    total: int
    iteration: int = 0
    objective: float | None = None
    seconds: float = 0.0


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Report to nobody."""


def of_part(progress: Progress | None, done: int, total: int) -> Progress:
    """What a part of a computation reports to, where `done` of `total` units of the whole lie before it."""
    if progress is None:
        return silent
    return lambda step: progress(replace(step, done=done + step.done, total=total))
