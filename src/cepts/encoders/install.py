"""Packages that only some encoders need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cepts.errors import UsageError, reason_of


def imported(module: str, package: str, *, extra: str) -> Any:
    """Import a module; raises `UsageError` with how to install its package if it is not there."""
    try:
        return import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
            raise UsageError(
                f"`encoder` needs the package {package}, which is not installed; pip install 'cepts[{extra}]'."
            ) from None
        raise UsageError(
            f"`encoder` needs the package {package}, which cannot be loaded: {reason_of(error)}."
        ) from error
