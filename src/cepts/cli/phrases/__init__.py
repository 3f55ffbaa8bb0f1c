"""`cepts phrases`: sentences and their rewordings."""

from __future__ import annotations

import click

from cepts.cli.groups import LazyGroup, Table

__all__ = ["COMMANDS", "command"]

# Command -> (module with the click command `command`, the command's short help).
COMMANDS: Table = {
    "score": ("cepts.cli.phrases.score", "Score the links of sentences and their rewordings."),
}


@click.group(
    "phrases",
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    epilog="""\b
Example:
  cepts phrases score gold.jsonl predicted.jsonl""",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Align sentences with their rewordings, phrase to phrase."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
