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
    """Any error that is the input's or the caller's, not a fault of the program."""

    exit_code = 1


class DataError(CeptsError):
    """The input does not hold what it should."""


class ModelError(CeptsError):
    """A model directory is missing, damaged or of another kind."""


class NotFiniteError(CeptsError):
    """An objective became infinite or not a number."""


class DataWarning(UserWarning):
    """The input can be read, but there is something about it that a user should know."""


class UsageError(CeptsError, ValueError):
    """An argument that cannot work, or arguments that do not go together.

    Messages name parameters as Python does, between backquotes: "`null_prob` must lie between 0 and 1. Got 2 instead."
    The command line shows the option that sets the parameter in its place.
    """

    exit_code = 2


def check_choice(parameter: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a `value` of `parameter` that is not among the `allowed` names; suggest one that is spelt similarly."""
    names = tuple(allowed)
    if value not in names:
        from difflib import get_close_matches

        near = get_close_matches(str(value), names, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise UsageError(f"`{parameter}` must be one of {', '.join(names)}. Got {value!r} instead{hint}")


def check_least(options: object, least: float, *names: str) -> None:
    """Refuse values of these parameters of `options` that are below `least` or not finite; None is no value."""
    for name in names:
        value = getattr(options, name)
        if value is not None and not least <= value < math.inf:
            raise UsageError(f"`{name}` must be {least:g} or more. Got {value} instead.")


def printable(text: str) -> str:
    """`text` on one line: control characters and other characters that cannot be seen are escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def clipped(text: str, longest: int = LONGEST_QUOTE) -> str:
    """`text` for a message without quotes: on one line, and at most `longest` characters of it."""
    found = printable(text[: longest + 1])
    return found if len(found) <= longest else found[:longest] + "…"


def shown(text: str) -> str:
    """`text` for a message: quoted, on one line and short."""
    start = text[:LONGEST_QUOTE]
    while len(repr(start)) > LONGEST_QUOTE + 2:
        start = start[:-1]
    return repr(text) if len(start) == len(text) else repr(start + "…")


def listed(names: Iterable[object], most: int = 8) -> str:
    """Names from the input for a message: at most `most` of them, each short."""
    found = [clipped(str(name)) for name in names]
    return ", ".join(found[:most]) + (f" and {len(found) - most:,} more" if len(found) > most else "")


def reason_of(error: BaseException) -> str:
    """The first line of what another library says about a failure; short, and without a full stop."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return clipped(first, LONGEST_REASON).rstrip(".")
