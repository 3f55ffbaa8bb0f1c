"""`cepts lm show`: what hidden documents are about."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.lm import reading_of, reading_options


@click.command(
    "show",
    epilog="""\b
Examples:
  cepts lm show biology
  cepts lm show biology --words cell --words mendel
  cepts lm show biology --text textbook.txt --plot hidden.png""",
)
@click.argument("directory")
@click.option(
    "--hidden-document",
    "-n",
    type=int,
    multiple=True,
    metavar="N",
    help="Show the hidden document with this number; may be given again.  [default: those with the largest P(d)]",
)
@option.whole("--count", "How many to show.", least=None, default=20)
@option.whole("--top", "Words of each.", least=None, default=10)
@click.option(
    "--words", "-w", multiple=True, metavar="WORD", help="Show the hidden documents of this word; may be given again."
)
@option.text(
    "--text",
    "FILE",
    "Also estimate P(d) from the histories of this text; may be given again.",
    dest="texts",
    multiple=True,
)
@reading_options
@option.text("--plot", "FILE", "Draw P(word | d) of some hidden documents and P(d) of all (.png .svg .pdf).")
@option.json
@option.quiet
def command(directory: str, **options: Any) -> None:
    """Show the hidden documents of a model.

    DIRECTORY is what 'cepts lm fit --save' wrote. Each column is a hidden document d: its number, P(d), how many words
    have 50, 90 and 99 % of its probability, and the words with the highest P(word | d).
    """
    from cepts.pipeline.hidden_documents import show_files

    option.check_plot(options["plot"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        chosen = option.given(options, show_files)
        found = show_files(directory, **chosen, reading=reading_of(options), progress=bars)
    if options["plot"] is not None:
        from cepts.plot import plot_hidden_documents

        plot_hidden_documents(options["plot"], found.drawn, found.priors, estimated=found.estimated)
        say(f"figure   {options['plot']}", quiet=options["quiet"])
    show(found.report, as_json=options["as_json"])
