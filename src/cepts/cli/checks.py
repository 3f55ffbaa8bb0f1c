"""Checks that several commands make before any work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from cepts.errors import UsageError


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


def refuse_stdin_twice(*paths: str | None) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise UsageError("only one input can be -, standard input.")


def check_plot(*paths: str | None) -> None:
    """Refuse figures that cannot be drawn, because of their names or because matplotlib is missing."""
    from cepts.plot.figure import suffix_of

    for path in paths:
        if path is not None:
            suffix_of(path)
