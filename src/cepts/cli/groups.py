"""Groups of commands whose modules are imported only when a command runs, and messages in terms of their options."""

from __future__ import annotations

import re
from typing import Any

import click

from cepts.names import resolve

# Where a context keeps the command that runs in it, the innermost one.
RUNNING = "cepts.cli.running"

# Command -> (where it is: a module with `command`, or module:name; the command's short help).
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
        module, _, name = self.table[cmd_name][0].partition(":")
        command: click.Command = resolve(f"{module}:{name or 'command'}")
        ctx.meta[RUNNING] = command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in self.table.items()])


def in_options(message: str, command: click.Command, *, values_only: bool = False) -> str:
    """The message with the command's options in place of the parameters that it names in backquotes.

    With `values_only`, a parameter must stand there with its value, `errors=replace`: errors in data also quote keys
    of JSON.
    """
    names = {
        option.name: max(option.opts, key=len) if isinstance(option, click.Option) else option.human_readable_name
        for option in command.params
    }

    def with_value(found: re.Match[str]) -> str:
        name, value = found.groups()
        return found[0] if name not in names else names[name] if value == "True" else f"{names[name]} {value}"

    message = re.sub(r"`([a-z]\w*)=([^`]+)`", with_value, message)
    return message if values_only else re.sub(r"`([a-z]\w*)`", lambda found: names.get(found[1], found[1]), message)
