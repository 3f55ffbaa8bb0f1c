"""Checks that several commands make before any work: of numbers, and of two results for one file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import click

from cepts.errors import UsageError

__all__ = ["check_apart", "finite", "moderate"]

LARGEST = 1_000_000_000


def finite(ctx: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan` and infinity, which parse as numbers: every comparison with `nan` is false."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"wants a number. Got {value}.")
    return value


def moderate(ctx: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """Refuse whole numbers that are too large for a count."""
    if value is not None and value > LARGEST:
        raise click.BadParameter(f"wants at most {LARGEST:,}. Got {value}.")
    return value


def check_apart(results: Mapping[str, str | None]) -> None:
    """Refuse two results that would go to the same file, where the second would overwrite the first.

    `results` maps the name of a result to its file, if it has one.
    """
    for (one, first), (other, second) in combinations(results.items(), 2):
        if first is None or second is None or _place(first) != _place(second):
            continue
        # A device, such as /dev/null, takes both.
        if first == "-" or not Path(first).exists() or Path(first).is_file():
            where = "stdout" if first == "-" else first
            raise UsageError(f"{one} and {other} would both go to {where}; name another file for one of them.")


def _place(path: str) -> str:
    return path if path == "-" else os.path.realpath(path)
