"""What a long computation tells its caller while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "Step", "silent"]


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
