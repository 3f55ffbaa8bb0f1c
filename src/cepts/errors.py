"""The errors that `cepts` raises on purpose.

Each carries one line that a user can act on: the file, the line, what was found, what was wanted, how to fix it.
The command line prints that line and exits with the error's code.
"""

from __future__ import annotations

__all__ = ["CeptsError", "DataError", "ModelError", "NotFiniteError", "UsageError"]


class CeptsError(Exception):
    """Any error that is the input's or the caller's, not a fault of the program."""

    exit_code = 1


class DataError(CeptsError):
    """The input does not hold what it should."""


class ModelError(CeptsError):
    """A model directory is missing, damaged or of another kind."""


class NotFiniteError(CeptsError):
    """An objective became infinite or not a number."""


class UsageError(CeptsError, ValueError):
    """An argument that cannot work, or arguments that do not go together.

    Messages name parameters as Python does, between backquotes: "`null_prob` must lie between 0 and 1. Got 2 instead."
    The command line shows the option that sets the parameter in its place.
    """

    exit_code = 2
