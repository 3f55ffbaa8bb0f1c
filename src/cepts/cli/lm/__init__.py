"""`cepts lm`: language models that adapt to a topic."""

from __future__ import annotations

import click

from cepts.cli.groups import CommandTable, LazyGroup

__all__ = ["COMMANDS", "command"]

# Command -> (module with the click command `command`, the command's short help).
COMMANDS: CommandTable = {
    "fit": ("cepts.cli.lm.fit", "Fit a language model to a text."),
    "perplexity": ("cepts.cli.lm.perplexity", "How well a model predicts a text."),
    "rescore": ("cepts.cli.lm.rescore", "Choose among the hypotheses of a recogniser."),
    "show": ("cepts.cli.lm.show", "Show the hidden documents of a model."),
    "export": ("cepts.cli.lm.export", "Adapt to a document and write an ARPA file."),
}


@click.group(
    "lm",
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    epilog="""\b
Examples:
  cepts lm fit textbook.txt --background news.arpa --save biology
  cepts lm perplexity biology lecture.txt
  cepts lm rescore biology nbest.tsv -o best.tsv""",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Adapt language models to a topic.

    A model combines n-grams with hidden documents, which are distributions of words that occur together, and with
    caches of earlier words. The history, all content words so far, weights the hidden documents, and so predicts which
    words come next. For dictation, lectures and meetings: lower perplexity, and fewer errors of a recogniser.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
