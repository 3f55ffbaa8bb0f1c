"""`cepts phrases`: sentences and their paraphrases."""

from __future__ import annotations

import click

from cepts.cli.groups import CommandTable, LazyGroup

__all__ = ["COMMANDS", "command"]

# Command -> (module with the click command `command`, the command's short help).
COMMANDS: CommandTable = {
    "align": ("cepts.cli.phrases.align", "Align the phrases of sentences and their paraphrases."),
    "apply": ("cepts.cli.phrases.apply", "Judge entailment, paraphrases and answers by alignments."),
    "score": ("cepts.cli.phrases.score", "Score the links of sentences and their paraphrases."),
    "train": ("cepts.cli.phrases.train", "Train an aligner on sentence pairs with gold links."),
}


@click.group(
    "phrases",
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    epilog="""\b
Examples:
  echo 'Shops are closed up for now ||| Shops are temporarily closed down' | cepts phrases align -
  cepts phrases train gold.jsonl --save model
  cepts phrases score gold.jsonl predicted.jsonl""",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Align sentences with their paraphrases, phrase to phrase."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
