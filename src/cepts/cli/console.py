"""What the commands show: progress bars, tables, JSON. The one place that knows rich."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Literal

import click

from cepts.cli.groups import in_options
from cepts.progress import Step, on_compile

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from cepts.pipeline.reports import Report, Table

FOLDED_WIDTH = 80  # of tables that are folded or cut, where stdout is no terminal
COMPILING = "Compiling kernels for this machine"
COMPILING_NOTICE = (
    COMPILING
    + ", first {kernel}: usually 5 to 20 s. They are kept for later runs; 'cepts warm-up' compiles all at once."
)


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


class ProgressBars:
    """Draws the steps of long computations as bars on stderr; is a `cepts.progress.Progress`.

    Use it as a context manager and pass it as `progress`, and `notices` to what collects them: each is said once, at
    the end, with the options of the command in place of parameters. There is a bar for each stage. Nothing is drawn
    where stderr is no terminal or the user asked for quiet, and nothing of the bars stays on the screen at
    the end. That kernels are being compiled is said once, in a line that stays, also where there is no terminal.

    Parameters
    ----------
    quiet
        Draw and say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.shown = not quiet and sys.stderr.isatty()
        self.notices: list[str] = []
        self._quiet = quiet
        self._told = quiet
        self._listening = ExitStack()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> ProgressBars:
        self._listening.enter_context(on_compile(self._tell_of_compiling))
        if not self.shown:
            return self
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[note]}", style="dim"),
            TimeElapsedColumn(),
            TextColumn("left", style="dim"),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
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
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def __call__(self, step: Step) -> None:
        """Move the bar of the step's stage."""
        if self._bars is None:
            return
        note = " ".join(
            [
                *([f"iteration {step.iteration}"] if step.iteration else []),
                *([f"objective {step.objective:,.6g}"] if step.objective is not None else []),
            ]
        )
        if step.stage not in self._tasks:
            self._finish_iterations()
            self._tasks[step.stage] = self._bars.add_task(step.stage, total=step.total, note=note)
        self._bars.update(self._tasks[step.stage], completed=step.done, total=step.total, note=note)

    def _finish_iterations(self) -> None:
        """Fill the bars of stages that iterate: they may end before their last iteration, when another begins."""
        assert self._bars is not None
        for task in self._bars.tasks:
            if task.fields["note"].startswith("iteration") and not task.finished:
                self._bars.update(task.id, completed=task.total)

    def _tell_of_compiling(self, kernel: str) -> None:
        if self._told:
            return
        self._told = True
        notice = COMPILING_NOTICE.format(kernel=kernel)
        if self._bars is None:
            say(notice)
        else:
            self._bars.console.print(notice)


def show(report: Report, *, as_json: bool = False, quiet: bool = False) -> None:
    """Print what a job found on stdout, and say the rest on stderr unless `quiet`."""
    say(*report.said, quiet=quiet)
    if as_json:
        click.echo(json.dumps(report.values, ensure_ascii=False, indent=2, allow_nan=False))
    for part in () if as_json else report.shown:
        if isinstance(part, str):
            click.echo(_in_options(part))
        else:
            print_table(part)


def print_table(table: Table) -> None:
    """Print a table on stdout, as plain aligned text where that is no terminal or a narrow one."""
    filled = [n for n in range(len(table.columns)) if not table.rows or any(row[n] is not None for row in table.rows)]
    lines = [[table.columns[n] for n in filled]]
    lines += [["" if row[n] is None else str(row[n]) for n in filled] for row in table.rows]
    if table.fit == "fold":
        for columns in _folded(list(zip(*lines, strict=True))):
            click.echo()
            _print_lines(list(zip(*columns, strict=True)), len(columns))
        return
    if table.fit == "cut":
        widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
        room = max(_room(FOLDED_WIDTH + 20) - sum(widths[:-1]) - 3 * len(widths), 20)
        lines[1:] = [[*line[:-1], _cut(line[-1], room)] for line in lines[1:]]
    _print_lines(lines, table.left, table.title)


def _room(plain: int) -> int:
    """Columns of the terminal, or `plain` where stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else plain


def _folded(columns: Sequence[Sequence[str]]) -> list[list[Sequence[str]]]:
    """Columns that fit side by side, each group with the first column, which has their labels."""
    widths = [3 + max(map(width_of, column)) for column in columns]
    groups: list[list[Sequence[str]]] = []
    left = 0
    for column, width in zip(columns[1:], widths[1:], strict=True):
        if not groups or width > left:
            groups.append([columns[0]])
            left = _room(FOLDED_WIDTH) - widths[0]
        groups[-1].append(column)
        left -= width
    return groups


def _cut(text: str, width: int) -> str:
    """As many whole words of `text` as fit."""
    while width_of(text) > width and " " in text:
        text = text.rpartition(" ")[0]
    return text


def _print_lines(lines: Sequence[Sequence[str]], left: int, title: str | None = None) -> None:
    """Print lines of cells, the first of which has the headings."""
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    # Where the table does not fit, numbers would lose their ends.
    if sys.stdout.isatty() and sum(widths) + 3 * len(widths) <= shutil.get_terminal_size().columns:
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
