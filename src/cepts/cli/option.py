"""Options of commands: how those of each type are made, the options that several commands share, and checks of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from cepts.errors import UsageError
from cepts.names import DECODING_ERRORS, resolve

Decorator = Callable[[Any], Any]

LARGEST = 1_000_000_000
LARGEST_SEED = (1 << 32) - 1


class TableChoice(click.Choice):
    """A choice of the names of a table, such as ``cepts.extract:EXTRACTORS``.

    What somebody adds to the table can be chosen; the table is not imported before it is asked for.
    """

    def __init__(self, table: str) -> None:
        self._table = table
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names."""
        return tuple(resolve(self._table))

    @choices.setter
    def choices(self, names: Sequence[Any]) -> None:
        pass  # click sets them once, to nothing


def _finite(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse `nan` and infinity, which parse as numbers: every comparison with `nan` is false."""
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and not math.isfinite(number):
            raise click.BadParameter(f"wants a number. Got {number}.")
    return value


def _at_most(largest: int) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Refuse whole numbers that are too large for a count."""

    def check(ctx: click.Context, option: click.Parameter, value: int | None) -> int | None:
        if value is not None and value > largest:
            raise click.BadParameter(f"wants at most {largest:,}. Got {value}.")
        return value

    return check


def _option(name: str, dest: str | None, default: Any, **settings: Any) -> Decorator:
    shown = {} if default is None else {"default": default, "show_default": True}
    return click.option(name, *([] if dest is None else [dest]), **{**shown, **settings})


def whole(
    name: str,
    help: str,
    *,
    least: int | None = 1,
    most: int | None = None,
    dest: str | None = None,
    default: int | None = None,
    **settings: Any,
) -> Decorator:
    """An option for a whole number; `dest` is the name of its parameter where it differs from that of the option."""
    limits = int if least is None else click.IntRange(least, most)
    settings = {"metavar": "N", "callback": _at_most(LARGEST), **settings}
    return _option(name, dest, default, help=help, type=limits, **settings)


def real(
    name: str,
    help: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    dest: str | None = None,
    default: float | None = None,
    **settings: Any,
) -> Decorator:
    """An option for a finite number: not below `least`, above `above`, at most `most`, below `below`."""
    low, high = least if above is None else above, most if below is None else below
    limits = click.FloatRange(low, high, min_open=above is not None, max_open=below is not None)
    numbers = float if low is high is None else limits
    settings = {"metavar": "X", "callback": _finite, **settings}
    return _option(name, dest, default, help=help, type=numbers, **settings)


def choice(
    name: str,
    choices: Collection[str] | click.Choice[Any],
    help: str,
    *,
    dest: str | None = None,
    default: Any = None,
    **settings: Any,
) -> Decorator:
    """An option for one of `choices`."""
    kind = choices if isinstance(choices, click.Choice) else click.Choice(tuple(choices))
    return _option(name, dest, default, help=help, type=kind, **settings)


def text(
    name: str, metavar: str, help: str, *, dest: str | None = None, default: str | None = None, **settings: Any
) -> Decorator:
    """An option for any text, such as the name of a file."""
    return _option(name, dest, default, help=help, metavar=metavar, **settings)


def flag(name: str, help: str, *, dest: str | None = None, default: bool | None = None) -> Decorator:
    """An option without a value; or, for names such as ``--noise/--no-noise``, None where neither is given."""
    settings = {"default": default} if "/" in name else {"is_flag": True}
    return click.option(name, *([] if dest is None else [dest]), help=help, **settings)


def stacked(*options: Decorator) -> Decorator:
    """Several options as one decorator, which helps list in this order."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def output(what: str) -> Decorator:
    """The option --output of what goes to stdout otherwise."""
    return click.option("-o", "--output", default="-", metavar="FILE", help=f"Where {what} go.  [default: stdout]")


def base(
    name: str = "--base", help: str = "Number of the first word in Pharaoh links.", default: str | None = "0"
) -> Decorator:
    """An option for the number of a sentence's first word."""
    return _option(name, None, default, help=help, type=click.Choice(["0", "1"]), callback=_number)


def _number(ctx: click.Context, option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)


def seed(help: str = "Seed for random draws.", default: int | None = 0) -> Decorator:
    """The option --seed."""
    return whole("--seed", help, least=0, default=default, callback=_at_most(LARGEST_SEED))


def max_length(default: str = "") -> Decorator:
    """The option --max-length; `default` is what the help says of it."""
    return whole("--max-length", f"Leave pairs with longer sentences unaligned.{default}")


errors = choice("--errors", DECODING_ERRORS, "What to do about invalid UTF-8.", default="strict")
json = flag("--json", "Print JSON instead of text.", dest="as_json")
quiet = click.option("-q", "--quiet", is_flag=True, help="No progress bars and no log output.")
threads = whole("--threads", "Threads.  [default: all processors]")
intervals = stacked(
    whole(
        "--intervals",
        "Samples for 95 % bootstrap intervals, such as 1000.  [default: none]",
        least=0,
        dest="samples",
        default=0,
        show_default=False,
    ),
    seed(),
)
sides = stacked(
    text("--source", "FILE", "The source sentences, one a line."),
    text("--target", "FILE", "The target sentences, one a line."),
    text("--bitext", "FILE", "Both sides in one file, instead of --source and --target."),
)


def given(options: Mapping[str, Any], wanted: Iterable[str] | Callable[..., Any]) -> dict[str, Any]:
    """The options that the user gave and that `wanted` has: names, or a function or a class with parameters."""
    names = signature(wanted).parameters if callable(wanted) else wanted
    return {name: options[name] for name in names if options.get(name) is not None}


def listed(value: str) -> list[str]:
    """The parts of a value with commas between them."""
    return [part.strip() for part in value.split(",")]


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


def check_plot(*paths: str | None) -> None:
    """Refuse figures that cannot be drawn, because of their names or because matplotlib is missing."""
    from cepts.plot.figure import suffix_of

    for path in paths:
        if path is not None:
            suffix_of(path)
