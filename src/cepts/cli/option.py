"""Options of commands: how those of each type are made, the options that several commands share, and checks of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from cepts.errors import UsageError
from cepts.names import BITEXT_FORMATS, DECODING_ERRORS, resolve

Decorator = Callable[[Any], Any]
if TYPE_CHECKING:
    from cepts.pipeline.inputs import BitextFiles

    AnyParamType = click.ParamType[Any]
else:
    AnyParamType = click.ParamType  # generic only in newer versions of click

LARGEST = 1_000_000_000
LARGEST_SEED = (1 << 32) - 1
FAR = 1_000_000
WIDEST_CHOICES = 30  # letters of names to choose from that stand beside an option; more are part of its text


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


class Number(AnyParamType):
    """A finite number within limits, as options give it.

    Parameters
    ----------
    whole
        Accept whole numbers only.
    least, above, most, below
        The limits: from `least` or above `above`, up to `most` or below `below`.
    """

    def __init__(
        self,
        *,
        whole: bool = False,
        least: float | None = None,
        above: float | None = None,
        most: float | None = None,
        below: float | None = None,
    ) -> None:
        self.whole = whole
        self.least, self.above, self.most, self.below = least, above, most, below
        self.name = "whole number" if whole else "number"

    @property
    def limits(self) -> str:
        """The limits in words, such as `from 0 to 1`."""
        if self.least is not None and self.most is not None:
            return f"from {self.least:,} to {self.most:,}"
        lower = f"{self.least:,} or more" if self.least is not None else ""
        lower = f"above {self.above:,}" if self.above is not None else lower
        upper = f"at most {self.most:,}" if self.most is not None else ""
        upper = f"below {self.below:,}" if self.below is not None else upper
        return " and ".join(part for part in (lower, upper) if part)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or an error that says what was wanted."""
        try:
            number = int(value) if self.whole else float(value)
        except ValueError:
            self.fail(f"must be a {self.name}. Got {value!r}.", param, ctx)
        # `nan` and infinity parse as numbers, and every comparison with `nan` is false.
        if not self.whole and not math.isfinite(number):
            self.fail(f"must be a finite number. Got {value}.", param, ctx)
        too_low = (self.least is not None and number < self.least) or (self.above is not None and number <= self.above)
        too_high = (self.most is not None and number > self.most) or (self.below is not None and number >= self.below)
        if too_low or too_high:
            self.fail(f"must be {self.limits}. Got {value}.", param, ctx)
        if self.whole and self.most is None and number > LARGEST:
            self.fail(f"must be at most {LARGEST:,}. Got {value}.", param, ctx)
        return number


class Size(AnyParamType):
    """A number of bytes, such as 500M or 4G."""

    name = "size"
    UNITS: ClassVar = {"K": 10, "M": 20, "G": 30, "T": 40}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of bytes, or an error that says what was wanted."""
        if isinstance(value, int):
            return value
        text = str(value).upper().removesuffix("IB").removesuffix("B")
        try:
            number = float(text[:-1]) * 2 ** self.UNITS[text[-1]]
        except (KeyError, ValueError, IndexError):
            number = -1.0
        if not 0 < number < 2**60:
            self.fail(f"must be a size such as 500M or 4G. Got {value!r}.", param, ctx)
        return int(number)


class Option(click.Option):
    """An option of a command.

    A help text may end in ``[default: ...]``, for a default that depends on other things. Names to choose from are part
    of the help text where they are too many to stand beside the option.
    """

    section: str | None = None  # under which heading the help lists it

    def __init__(self, names: Sequence[str], help: str = "", **settings: Any) -> None:
        text, _, default = help.partition("  [default: ")
        super().__init__(names, help=text, **settings)
        self.said_default = default.removesuffix("]")

    def make_metavar(self, ctx: click.Context) -> str:
        """What stands for the value."""
        return self.metavar or "NAME" if self.listed_choices else super().make_metavar(ctx)

    @property
    def listed_choices(self) -> tuple[str, ...]:
        """The names to choose from, where they are too many to stand beside the option."""
        names = self.type.choices if isinstance(self.type, click.Choice) else ()
        return tuple(names) if names and (self.metavar or len("|".join(names)) > WIDEST_CHOICES) else ()

    @property
    def text(self) -> str:
        """The help text, with the names to choose from where they do not stand beside the option."""
        listed = f" One of {', '.join(self.listed_choices)}." if self.listed_choices else ""
        return f"{self.help or ''}{listed}"

    @property
    def notes(self) -> list[str]:
        """What stands in brackets after the help text: the default, the limits, whether the option is required."""
        shown = self.default if isinstance(self.default, list | tuple) else [self.default]
        default = self.said_default or (", ".join(map(str, shown)) if self.show_default else "")
        limits = self.type.limits if isinstance(self.type, Number) else ""
        # That a count is 1 or more goes without saying, and so does an upper limit far from all useful values.
        bounded = isinstance(self.type, Number) and (self.type.most or self.type.below or FAR) < FAR
        found = [
            f"default: {default}" if default else "",
            limits if bounded else "",
            "required" if self.required else "",
        ]
        return [note for note in found if note]

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its text, for the help."""
        record = super().get_help_record(ctx)
        return record and (record[0], self.text + (f"  [{'; '.join(self.notes)}]" if self.notes else ""))


def _option(name: str, dest: str | None, shown: Any, short: str | None = None, **settings: Any) -> Decorator:
    """An option; `shown` is its default, which helps show, unless `settings` say otherwise."""
    default = {} if shown is None else {"default": shown, "show_default": True}
    names = [*([short] if short else []), name, *([dest] if dest else [])]
    return click.option(*names, cls=Option, **{**default, **settings})


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
    kind = Number(whole=True, least=least, most=most)
    return _option(name, dest, default, help=help, type=kind, **{"metavar": "N", **settings})


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
    kind = Number(least=least, above=above, most=most, below=below)
    return _option(name, dest, default, help=help, type=kind, **{"metavar": "X", **settings})


def size(name: str, help: str) -> Decorator:
    """An option for a number of bytes, such as 4G."""
    return _option(name, None, None, help=help, type=Size(), metavar="SIZE")


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
    """An option for any text, such as the name of a file; `short` is a second, short name."""
    return _option(name, dest, default, help=help, metavar=metavar, **settings)


def flag(
    name: str, help: str, *, dest: str | None = None, default: bool | None = None, short: str | None = None
) -> Decorator:
    """An option without a value; or, for names such as ``--noise/--no-noise``, None where neither is given."""
    settings = {"default": default, "show_default": False} if "/" in name else {"is_flag": True}
    return _option(name, dest, None, short, help=help, **settings)


def constant(name: str, help: str, *, dest: str, value: object) -> Decorator:
    """An option without a value that sets the parameter `dest` to `value`; it is None otherwise."""
    return _option(name, dest, None, help=help, flag_value=value, default=None, type=type(value))


def stacked(*options: Decorator) -> Decorator:
    """Several options as one decorator, which helps list in this order."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def section(title: str, *options: Decorator) -> Decorator:
    """Several options as one decorator, which helps list under a heading, unless they already have one."""

    def decorate(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))  # where click collects the parameters of a command
        function = stacked(*options)(function)
        for added in function.__click_params__[before:]:
            if isinstance(added, Option) and added.section is None:
                added.section = title
        return function

    return decorate


def output(help: str) -> Decorator:
    """The option --output, for what goes to stdout otherwise."""
    return text("--output", "FILE", f"{help}  [default: stdout]", default="-", show_default=False, short="-o")


def base(
    name: str = "--base",
    help: str = "Position of the first word of a sentence in Pharaoh links.",
    default: str | None = "0",
) -> Decorator:
    """An option for the position of a sentence's first word."""
    return _option(name, None, default, help=help, type=click.Choice(["0", "1"]), callback=_number)


def _number(ctx: click.Context, option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)


def seed(help: str = "Seed of the random draws.", default: int | None = 0) -> Decorator:
    """The option --seed."""
    return _option("--seed", None, default, help=help, type=Number(whole=True, least=0, most=LARGEST_SEED), metavar="N")


def max_length(default: str = "") -> Decorator:
    """The option --max-length; `default` is what the help says of it."""
    return whole("--max-length", f"Do not align pairs with a sentence of more than N words.{default}")


def again(help: str, default: str = "") -> str:
    """A help text for an option that can be repeated."""
    return f"{help} Can be repeated.{default}"


errors = choice(
    "--errors",
    DECODING_ERRORS,
    "What to do with invalid UTF-8: stop, or replace it by U+FFFD.",
    default="strict",
)


def _two(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    parts = None if value is None else tuple(listed(value))
    if parts is not None and (len(parts) != 2 or not all(parts)):
        raise click.BadParameter(f"must be two names separated by a comma. Got {value!r}.")
    return parts


bitext_input = stacked(
    choice("--input-format", BITEXT_FORMATS, "Format of the input, if its name does not tell.", default="auto"),
    text("--languages", "A,B", "Source and target language in a TMX, Parquet, JSON lines or CSV file.", callback=_two),
    text("--columns", "A,B", "Source and target column of a Parquet, JSON lines or CSV file.", callback=_two),
    errors,
)


def bitext_files(options: Mapping[str, Any], source: str, target: str | None) -> BitextFiles:
    """The sentence pairs of a command that has the options of `bitext_input`."""
    from cepts.pipeline.inputs import BitextFiles

    given_options = given(options, ("errors", "languages", "columns"))
    return BitextFiles(source=source, target=target, format=options["input_format"], **given_options)


json = flag("--json", "Print JSON instead of a table.", dest="as_json")
whole_signature = flag("--signature", "Print the whole signature of the scores, not a short form.")
quiet = flag("--quiet", "Print no progress and no log output.", short="-q")
threads = whole("--threads", "Number of threads.  [default: all processors]")
running = section("Other", threads, quiet)
intervals = stacked(
    whole(
        "--intervals",
        "Number of bootstrap samples for 95 % confidence intervals, such as 1000.  [default: no intervals]",
        least=0,
        dest="samples",
        default=0,
        show_default=False,
    ),
    seed("Seed of the bootstrap."),
)
sides = section(
    "Input",
    text("--source", "FILE", "Source sentences, one per line."),
    text("--target", "FILE", "Target sentences, one per line."),
    text("--bitext", "FILE", "Both sides in one file, instead of --source and --target."),
)


def given(options: Mapping[str, Any], wanted: Iterable[str] | Callable[..., Any]) -> dict[str, Any]:
    """The options that the user gave and that `wanted` has: names, or a function or a class with parameters."""
    names = signature(wanted).parameters if callable(wanted) else wanted
    return {name: options[name] for name in names if options.get(name) is not None}


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given on the command line, without those that have their defaults."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return {name: value for name, value in options.items() if context.get_parameter_source(name) is not default}


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
    for path in paths:
        if path is not None:
            from cepts.plot.figure import suffix_of

            suffix_of(path)
