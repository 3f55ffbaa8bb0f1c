"""What the commands show: progress bars, tables, JSON. The one place that knows rich."""

from __future__ import annotations

import json
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import click

from cepts.cli.groups import in_options
from cepts.errors import FigureWarning
from cepts.progress import Step, on_compile
from cepts.signature import short_signature

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from cepts.pipeline.reports import Report, Table

FOLDED_WIDTH = 80  # of tables that are folded or cut and of signatures, where stdout is no terminal
WIDE_SCREEN = 100  # columns from which bars also show objectives
PLAIN_SECONDS = 10.0  # between two lines of progress where stderr is no terminal
COMPILING = "Compiling kernels for this machine"
COMPILING_SECONDS = 20  # that compiling the kernels of a command usually takes at most
COMPILING_NOTICE = f"{COMPILING}, once, in 5 to {COMPILING_SECONDS} s (see 'cepts warm-up')."
SIGNATURE = "signature  "
GAP = 3  # columns between two columns of a table on a terminal


def width_of(text: str) -> int:
    """Columns that `text` takes on a screen: two for each wide character."""
    from rich.cells import cell_len

    return cell_len(text)


def say(*lines: str, quiet: bool = False) -> None:
    """Tell the user something that is no result: lines on stderr."""
    for line in lines if not quiet else ():
        click.echo(_in_options(line), err=True)


def _in_options(line: str) -> str:
    """A line with the options of the running command in place of parameters."""
    context = click.get_current_context(silent=True)
    return line if context is None else in_options(line, context.command)


@contextmanager
def figure_notes(*, quiet: bool = False) -> Iterator[None]:
    """Say in a line what figures drawn meanwhile lack, such as fonts, instead of Python's warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", FigureWarning)
        yield
    for warning in told:
        if issubclass(warning.category, FigureWarning):
            say(f"note     {warning.message}", quiet=quiet)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def clock(seconds: float | None) -> str:
    """A time such as `0:05` or `1:02:03`; unknown is `-:--`."""
    if seconds is None:
        return "-:--"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def times(elapsed: float, left: float | None) -> str:
    """How long something has taken and will take."""
    return f"elapsed {clock(elapsed)}, left {clock(left)}"


class ProgressBars:
    """Shows the steps of long computations on stderr; is a `cepts.progress.Progress`.

    Use it as a context manager and pass it as `progress`, and `notices` to what collects them: each is said once, at
    the end, with the options of the command in place of parameters. On a terminal there is a bar for each stage, of
    which nothing stays on the screen at the end. Elsewhere there is a line now and then. That kernels are being
    compiled is said once, in a line that stays; on a terminal a bar then shows the seconds and how many kernels have
    been compiled. That work was resumed from a checkpoint is said too.

    Parameters
    ----------
    quiet
        Draw and say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.shown = not quiet and sys.stderr.isatty()
        self.notices: list[str] = []
        self._quiet = quiet
        self._listening = ExitStack()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}
        self._plain = None if quiet or self.shown else _PlainProgress()
        self._wide = True  # enough for objectives
        self._compiled = 0
        self._compiling_seconds = 0.0  # before `_since`, which is when the present compiling began
        self._since: float | None = None

    def __enter__(self) -> ProgressBars:
        self._listening.enter_context(on_compile(self._tell_of_compiling))
        if not self.shown:
            return self
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
        from rich.text import Text

        class Share(ProgressColumn):
            def render(self, task: Task) -> Text:
                return Text("" if task.fields["seconds"] else f"{task.percentage:>3.0f} %")

        class Bar(BarColumn):
            def render(self, task: Task) -> Any:
                if task.fields["seconds"]:
                    task.completed = min(task.fields["seconds"](), COMPILING_SECONDS)
                return super().render(task)

        class Times(ProgressColumn):
            def render(self, task: Task) -> Text:
                if task.fields["seconds"]:
                    seconds = clock(task.fields["seconds"]())
                    return Text(f"elapsed {seconds} of about {clock(COMPILING_SECONDS)}", style="dim")
                elapsed = task.finished_time if task.finished else task.elapsed
                return Text(times(elapsed or 0, 0 if task.finished else task.time_remaining), style="dim")

        screen = Console(stderr=True, highlight=False)
        self._wide = screen.width >= WIDE_SCREEN
        self._bars = Progress(
            TextColumn("{task.description}"),
            Bar(bar_width=14),
            Share(),
            TextColumn("{task.fields[note]}", style="dim"),
            Times(),
            console=screen,
            transient=True,
        )
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        self._listening.close()
        if kind is None:
            say(*(f"note     {notice}" for notice in dict.fromkeys(self.notices)), quiet=self._quiet)

    def close(self) -> None:
        """Take the bars off the screen; later steps draw nothing."""
        self._plain = None
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def __call__(self, step: Step) -> None:
        """Move the bar of the step's stage."""
        if step.line:
            self._say(step.line)
        if step.resumed:
            of_all = f"{step.resumed} of {step.resumed + step.remaining} iterations"
            self._say(f"resumed  {step.stage}: {of_all} were done before")
        if step.parts is not None:
            before, total = step.parts
            where = f"iteration {step.iteration}, shard {before + 1:,} of {total:,}"
            self._say(f"resumed  {step.stage}: {where if step.iteration else f'{before:,} of {total:,} were there'}")
        if self._plain is not None:
            self._plain(step)
        if self._bars is None:
            return
        if self._since is not None:
            # Compiling interrupts a stage; a step of the stage means that it is over, for now.
            self._compiling_seconds, self._since = self._seconds_of_compiling(), None
            self._bars.update(self._tasks[COMPILING], visible=False)
        note = _note_of(step if self._wide else replace(step, objective=None))
        if step.stage not in self._tasks:
            self._finish_iterations()
            self._tasks[step.stage] = self._bars.add_task(
                step.stage, total=step.total, completed=step.done, note=note, seconds=None
            )
        else:
            self._bars.update(self._tasks[step.stage], completed=step.done, total=step.total, note=note)

    def _finish_iterations(self) -> None:
        """Fill the bars of stages that iterate: they may end before their last iteration, when another begins."""
        assert self._bars is not None
        for task in self._bars.tasks:
            if task.fields["note"].startswith("iteration") and not task.finished:
                self._bars.update(task.id, completed=task.total)

    def _say(self, line: str) -> None:
        """Say something that stays on the screen, above the bars if there are some."""
        if self._bars is None:
            say(line, quiet=self._quiet)
        else:
            self._bars.console.print(_in_options(line), soft_wrap=True)

    def _tell_of_compiling(self, kernel: str) -> None:
        self._compiled += 1
        if self._compiled == 1:
            self._say(COMPILING_NOTICE)
        if self._bars is None:
            return
        if COMPILING not in self._tasks:
            self._tasks[COMPILING] = self._bars.add_task(
                "compiling kernels", total=COMPILING_SECONDS, note="", seconds=self._seconds_of_compiling
            )
        if self._since is None:
            self._since = time.monotonic()
        self._bars.update(self._tasks[COMPILING], note=f"{self._compiled} so far", visible=True)

    def _seconds_of_compiling(self) -> float:
        return self._compiling_seconds + (0.0 if self._since is None else time.monotonic() - self._since)


def _note_of(step: Step) -> str:
    """What a step says beside how much is done."""
    parts = [f"iteration {step.iteration}" if step.iteration else "", step.note]
    parts.append("" if step.objective is None else f"objective {step.objective:,.6g}")
    return ", ".join(part for part in parts if part)


class _PlainProgress:
    """A line of progress now and then, where bars cannot be drawn."""

    def __init__(self) -> None:
        self._started: dict[str, tuple[float, int]] = {}  # when each stage began, and how much was done then
        self._last = time.monotonic()

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        started, before = self._started.setdefault(step.stage, (now, step.done))
        if now - self._last < PLAIN_SECONDS or not (step.total or step.note):
            return
        self._last = now
        elapsed, gained = now - started, step.done - before
        left = elapsed * (step.total - step.done) / gained if gained > 0 and step.total else None
        share = f" {step.done / step.total:.0%}".replace("%", " %") if step.total else ""
        parts = [f"{step.stage}{share}", _note_of(step), times(elapsed, left)]
        say(f"progress {', '.join(part for part in parts if part)}")


def show(report: Report, *, as_json: bool = False, quiet: bool = False, signature: bool = False) -> None:
    """Print what a job found on stdout, and say the rest on stderr unless `quiet`.

    The signature of scores is shortened to one line on the screen, unless the whole `signature` is asked for.
    """
    say(*report.said, quiet=quiet)
    if as_json:
        click.echo(json.dumps(report.values, ensure_ascii=False, indent=2, allow_nan=False))
        return
    for part in report.shown:
        if isinstance(part, str):
            click.echo(_in_options(part))
        else:
            print_table(part)
    if report.signature is not None:
        room = len(report.signature) if signature else FOLDED_WIDTH - len(SIGNATURE)
        click.echo(f"\n{SIGNATURE}{short_signature(report.signature, room)}")


def print_table(table: Table) -> None:
    """Print a table on stdout, as plain aligned text where that is no terminal or a narrow one."""
    filled = [n for n in range(len(table.columns)) if not table.rows or any(row[n] is not None for row in table.rows)]
    lines = [[table.columns[n] for n in filled]]
    lines += [["" if row[n] is None else str(row[n]) for n in filled] for row in table.rows]
    if table.fit == "fold":
        for part in _folded(lines):
            click.echo()
            _print_lines(part, len(part[0]))
        return
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    room = line_width(FOLDED_WIDTH + 20) - GAP * len(widths)
    if table.fit == "cut":
        lines[1:] = [[*line[:-1], _cut(line[-1], max(room - sum(widths[:-1]), 20))] for line in lines[1:]]
    elif table.fit == "wrap" and sum(widths) > room:
        share = max((room - sum(widths[:-2])) // 2, 20)
        lines = [row for line in lines for row in _wrapped(line, share)]
    elif table.fit is None and sys.stdout.isatty() and sum(widths) > room:
        for number, part in enumerate(_folded(lines, table.left)):
            if number:
                click.echo()
            _print_lines(part, table.left, None if number else table.title)
        return
    _print_lines(lines, table.left, table.title)


def line_width(plain: int = FOLDED_WIDTH) -> int:
    """Columns of the terminal where stdout is one, or else `plain`."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else plain


def _folded(lines: Sequence[Sequence[str]], left: int = 1) -> list[list[Sequence[str]]]:
    """Tables that fit on the screen, each with some of the columns and with the columns of labels.

    These are the first `left`, or the first alone where they would take half of the room. An interval stays beside its
    value. Rows without a value in any column of a table are left out of it.
    """
    from cepts.pipeline.reports import RANGE

    columns = list(zip(*lines, strict=True))
    widths = [GAP + max(map(width_of, column)) for column in columns]
    room = line_width(FOLDED_WIDTH)
    labels = left if left and sum(widths[:left]) <= room / 2 else 1
    units: list[list[int]] = []
    for place in range(labels, len(columns)):
        if units and columns[place][0] == RANGE:
            units[-1].append(place)
        else:
            units.append([place])
    groups: list[list[int]] = []
    free = 0
    for unit in units:
        width = sum(widths[place] for place in unit)
        if not groups or width > free:
            groups.append(list(range(labels)))
            free = room - sum(widths[:labels])
        groups[-1] += unit
        free -= width
    chosen = [[[line[place] for place in group] for line in lines] for group in groups]
    return [[part[0], *(line for line in part[1:] if any(line[labels:]))] for part in chosen]


def _wrapped(line: Sequence[str], width: int) -> list[list[str]]:
    """A line whose last two cells are broken between words, as several lines."""
    *before, first, second = line
    cells = [_broken(text, width) for text in (first, second)]
    return [
        [*(before if not number else [""] * len(before)), *parts]
        for number, parts in enumerate(zip_longest(*cells, fillvalue=""))
    ]


def _broken(text: str, width: int) -> list[str]:
    """The words of a text, in lines of at most `width` columns where the words allow it."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and width_of(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _cut(text: str, width: int) -> str:
    """As many whole words of `text` as fit."""
    while width_of(text) > width and " " in text:
        text = text.rpartition(" ")[0]
    return text


def _print_lines(lines: Sequence[Sequence[str]], left: int, title: str | None = None) -> None:
    """Print lines of cells, the first of which has the headings."""
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    # Where the table does not fit, numbers would lose their ends.
    if sys.stdout.isatty() and sum(widths) + GAP * len(widths) <= shutil.get_terminal_size().columns:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
        for place, column in enumerate(lines[0]):
            justify: Literal["left", "right"] = "left" if place < left else "right"
            table.add_column(Text(column), justify=justify, no_wrap=True)
        for row in lines[1:]:
            table.add_row(*(Text(cell) for cell in row))
        Console(highlight=False).print(table)
        return
    if title is not None:
        click.echo(title)
    for line in lines:
        padded = (
            cell + " " * (width - width_of(cell)) if place < left else " " * (width - width_of(cell)) + cell
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        click.echo("  ".join(padded).rstrip())
