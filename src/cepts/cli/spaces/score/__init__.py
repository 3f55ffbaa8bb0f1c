"""`cepts spaces score`: a space on the tasks of word vectors."""

from __future__ import annotations

import click

from cepts.cli.groups import CommandTable, LazyGroup

__all__ = ["COMMANDS", "command"]

COMMANDS: CommandTable = {
    "translation": ("cepts.cli.spaces.score.translation", "Word translation against a test dictionary."),
    "similarity": ("cepts.cli.spaces.score.similarity", "Word similarity against human judgements."),
    "sts": ("cepts.cli.spaces.score.sts", "Sentence similarity against human judgements."),
    "retrieval": ("cepts.cli.spaces.score.retrieval", "Finding the translations of sentences."),
}


@click.group(
    "score",
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    epilog="""\b
Examples:
  cepts spaces score translation en-fr test.txt --both
  cepts spaces score similarity en-fr WS353.txt""",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Score a space on a task.

    Beside each score is the share of the task that the vocabularies cover; the signature says what produced it.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
