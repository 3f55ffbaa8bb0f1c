"""`cepts doctor`: what this installation has, and what is wrong with it."""

from __future__ import annotations

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.errors import CeptsError


@click.command(
    "doctor",
    cls=Command,
    epilog="""\b
Examples:
  cepts doctor
  cepts doctor --json""",
)
@option.json
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show versions, threads, kernels, optional packages and fonts.

    Put the output into reports of problems. The exit code is 1 where something that every command needs is wrong.
    """
    try:
        from cepts.pipeline.doctor import examine
        from cepts.plot.scripts import script_fonts
    except ImportError as error:
        raise CeptsError(
            f"{error.name or 'a library'} cannot be imported: {error}; install cepts again with its dependencies."
        ) from error
    report = examine(script_fonts())
    show(report, as_json=as_json)
    ctx.exit(1 if report.values["problems"] else 0)
