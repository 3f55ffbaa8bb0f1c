"""Groups of commands whose modules are imported only when a command runs, and messages in terms of their options."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

from cepts.names import resolve

# Where a context keeps the command that runs in it, the innermost one.
NEARLY = 0.1  # difference of likenesses of names that may both be meant
RUNNING = "cepts.cli.running"

# Command -> (where it is: a module with `command`, or module:name; the command's short help).
CommandTable = dict[str, tuple[str, str]]

# Headings of options that come first or last; others stand between them, in the order of a command.
FIRST_SECTIONS = ("Input",)
LAST_SECTIONS = ("Output", "Other")
WIDEST_NAMES = 28  # columns for options; a longer one has its text on the next line
LONGEST_NOTE = 30  # letters of a note in brackets that is kept on one line


@click.pass_context
def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def sections_of(command: click.Command, ctx: click.Context) -> dict[str, list[click.Parameter]]:
    """The options of a command by heading; a command without sections has all of them under ``Options``."""
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
    if not any(getattr(option, "section", None) for option in options):
        return {"Options": list(options)}
    found: dict[str, list[click.Parameter]] = {title: [] for title in FIRST_SECTIONS}
    for option in options:
        found.setdefault(getattr(option, "section", None) or LAST_SECTIONS[-1], []).append(option)
    for title in LAST_SECTIONS:
        found[title] = found.pop(title, [])
    return {title: listed for title, listed in found.items() if listed}


class Command(click.Command):
    """A command whose help lists its options under headings (`cepts.cli.option.section`)."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, all texts in one column."""
        rows = {
            title: [record for option in listed if (record := option.get_help_record(ctx))]
            for title, listed in sections_of(self, ctx).items()
        }
        width = min(max(len(name) for records in rows.values() for name, _ in records), WIDEST_NAMES)
        for title, records in rows.items():
            with formatter.section(title):
                for name, text in records:
                    _write_option(formatter, name, text, width)


def _write_option(formatter: click.HelpFormatter, name: str, text: str, width: int) -> None:
    """Write an option beside its text; names such as grow-diag and short notes in brackets are not broken."""
    kept = re.sub(
        r"\[[^]]*\]$", lambda note: note[0].replace(" ", "\xa0" if len(note[0]) <= LONGEST_NOTE else " "), text
    )
    margin = " " * (formatter.current_indent + width + 2)
    room = max(formatter.width - len(margin), 20)
    lines = textwrap.wrap(kept, room, break_on_hyphens=False, break_long_words=False) or [""]
    lines = [f"{margin}{line}".replace("\xa0", " ") for line in lines]
    if len(name) > width:
        lines.insert(0, "")
    lines[0] = f"{' ' * formatter.current_indent}{name}{lines[0][formatter.current_indent + len(name) :]}".rstrip()
    formatter.write("".join(f"{line}\n" for line in lines))


class LazyGroup(click.Group):
    """A group that knows its commands' names and short helps without importing them.

    Without a command it shows its help. `examples` are lines at the end of that. `sections` are headings with the names
    of the commands below them; commands that are not named there come last, under the last heading.
    """

    def __init__(
        self,
        name: str,
        table: CommandTable,
        *,
        examples: str = "",
        sections: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        settings = {"epilog": f"\b\nExamples:\n{examples}", "subcommand_metavar": "COMMAND ...", **settings}
        super().__init__(name, callback=_show_help, invoke_without_command=True, **settings)
        self.table = table
        self._sections = sections or {"Commands": ()}

    @property
    def sections(self) -> dict[str, list[str]]:
        """The names of all commands, by heading."""
        found = {title: [name for name in names if name in self.table] for title, names in self._sections.items()}
        listed = {name for names in found.values() for name in names}
        found[list(found)[-1]] += [name for name in self.table if name not in listed]
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a name that is not one, suggest those that are spelt similarly."""
        name = args[0]
        if name in self.table or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import SequenceMatcher, get_close_matches

        near = get_close_matches(name, self.table, n=3, cutoff=0.6)
        likenesses = [SequenceMatcher(None, name, one).ratio() for one in near]
        # What is much less alike than the best is not meant.
        near = [one for one, like in zip(near, likenesses, strict=True) if like > max(likenesses) - NEARLY]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)

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
        width = max(map(len, self.table))
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.table[name][1]) for name in names])


def in_options(message: str, command: click.Command, *, values_only: bool = False) -> str:
    """The message with the command's options in place of the parameters that it names in backquotes.

    With `values_only`, a parameter must be written as an argument, `errors=replace` or `dev=`, because errors in data
    also quote keys of JSON.
    """
    names = {
        option.name: max(option.opts, key=len) if isinstance(option, click.Option) else option.human_readable_name
        for option in command.params
    }

    def with_value(found: re.Match[str]) -> str:
        name, value = found.groups()
        return found[0] if name not in names else names[name] if value in ("", "True") else f"{names[name]} {value}"

    message = re.sub(r"`([a-z]\w*)=([^`]*)`", with_value, message)
    return message if values_only else re.sub(r"`([a-z]\w*)`", lambda found: names.get(found[1], found[1]), message)
