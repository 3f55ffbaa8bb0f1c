"""Groups of commands whose modules are imported only when a command runs."""

from __future__ import annotations

import importlib
from typing import Any

import click

# Where a context keeps the command that runs in it, the innermost one.
RUNNING = "cepts.cli.running"

# Command -> (module with the click command `command`, the command's short help).
CommandTable = dict[str, tuple[str, str]]


@click.pass_context
def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class LazyGroup(click.Group):
    """A group that knows its commands' names and short helps without importing them.

    Without a command it shows its help. `examples` are lines at the end of that.
    """

    def __init__(self, name: str, table: CommandTable, *, examples: str = "", **settings: Any) -> None:
        settings = {"epilog": f"\b\nExamples:\n{examples}", **settings}
        super().__init__(name, callback=_show_help, invoke_without_command=True, **settings)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.table:
            return None
        command: click.Command = importlib.import_module(self.table[cmd_name][0]).command
        ctx.meta[RUNNING] = command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in self.table.items()])
