"""Options that name the sentences to which links belong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cepts.errors import UsageError

__all__ = ["refuse_stdin_twice", "sides_options"]

Function = TypeVar("Function", bound=Callable[..., Any])


def sides_options(command: Function) -> Function:
    """Give `command` the options `--source`, `--target` and `--bitext`."""
    for decorate in (
        click.option("--bitext", metavar="FILE", help="Both sides in one file, instead of --source and --target."),
        click.option("--target", metavar="FILE", help="The target sentences, one a line."),
        click.option("--source", metavar="FILE", help="The source sentences, one a line."),
    ):
        command = decorate(command)
    return command


def refuse_stdin_twice(*paths: str | None) -> None:
    """Refuse to read standard input twice."""
    if sum(path == "-" for path in paths) > 1:
        raise UsageError("only one input can be -, standard input.")
