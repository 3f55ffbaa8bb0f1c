"""`cepts spaces score`: a space on the tasks of word vectors."""

from __future__ import annotations

import click

from cepts.cli.groups import LazyGroup, Table

__all__ = ["COMMANDS", "command"]

COMMANDS: Table = {
    "translation": ("cepts.cli.spaces.score.translation", "Word translation against a test dictionary."),
    "similarity": ("cepts.cli.spaces.score.similarity", "Word similarity against people's judgements."),
    "sts": ("cepts.cli.spaces.score.sts", "Sentence similarity against people's judgements."),
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

    Beside each figure stands how much of the task the vocabularies cover; the signature says what produced it.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
