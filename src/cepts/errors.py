"""The errors that `cepts` raises on purpose.

Each carries one line that a user can act on: the file, the line, what was found, what was wanted, how to fix it.
The command line prints that line and exits with the error's code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

LONGEST_QUOTE = 60  # characters of the input in a message
LONGEST_REASON = 120  # characters of another library's message in ours


class CeptsError(Exception):
    """Base class of errors that are caused by the input or by the caller, not by a bug in cepts."""

    exit_code = 1


class DataError(CeptsError):
    """The input is not as it should be, such as a file with the wrong format or a matrix with the wrong size."""


class ModelError(CeptsError):
    """A model directory is missing or damaged, or holds a model of another kind."""


class NotFiniteError(CeptsError):
    """The objective of a training became infinite or not a number."""


class DataWarning(UserWarning):
    """The input can be read, but there is something about it that a user should know."""


class FigureWarning(UserWarning):
    """A part of a figure is not drawn as it should be, for example because this machine lacks a font."""


class UsageError(CeptsError, ValueError):
    """An argument is not valid, or some arguments do not go together.

    Messages name the Python parameters in backquotes: "`null_prob` must lie between 0 and 1. Got 2 instead." The
    command line names the option in place of the parameter.
    """

    exit_code = 2


def check_choice(parameter: str, value: object, allowed: Iterable[str]) -> None:
    """Raise `UsageError` unless `value` is one of the `allowed` names; suggest a name that is spelt similarly."""
    names = tuple(allowed)
    if value not in names:
        from difflib import get_close_matches

        near = get_close_matches(str(value), names, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise UsageError(f"`{parameter}` must be one of {', '.join(names)}. Got {value!r} instead{hint}")


def check_least(options: object, least: float, *names: str) -> None:
    """Raise `UsageError` if an attribute of `options` with one of these names is below `least` or not finite.

    Attributes that are None are not checked.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and not least <= value < math.inf:
            raise UsageError(f"`{name}` must be {least:g} or more. Got {value} instead.")


def printable(text: str) -> str:
    """Return `text` on one line, with control characters and other invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def clipped(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Return `text` for use in a message: on one line, and cut to `longest` characters."""
    found = printable(text[: longest + 1])
    return found if len(found) <= longest else found[:longest] + "…"


def shown(text: str) -> str:
    """Return `text` for use in a message: in quotes, on one line, and cut to `LONGEST_QUOTE` characters."""
    start = text[:LONGEST_QUOTE]
    while len(repr(start)) > LONGEST_QUOTE + 2:
        start = start[:-1]
    return repr(text) if len(start) == len(text) else repr(start + "…")


def listed(names: Iterable[object], most: int = 8) -> str:
    """Join names from the input for use in a message: at most `most` of them, each shortened."""
    found = [clipped(str(name)) for name in names]
    return ", ".join(found[:most]) + (f" and {len(found) - most:,} more" if len(found) > most else "")


def reason_of(error: BaseException) -> str:
    """Return the first line of another library's error message, shortened and without a full stop."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return clipped(first, LONGEST_REASON).rstrip(".")
