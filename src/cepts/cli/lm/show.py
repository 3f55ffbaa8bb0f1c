"""`cepts lm show`: what hidden documents are about."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, figure_notes, say, show
from cepts.cli.groups import Command
from cepts.cli.lm import reading_of, reading_options


@click.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  cepts lm show biology
  cepts lm show biology --words cell --words mendel
  cepts lm show biology --text textbook.txt --plot hidden.png""",
)
@click.argument("directory")
@option.section(
    "Input",
    option.text(
        "--text",
        "FILE",
        option.again("Also estimate P(d) from the histories of this text."),
        dest="texts",
        multiple=True,
    ),
)
@reading_options
@option.section(
    "Hidden documents",
    option.whole(
        "--hidden-document",
        option.again("Show the hidden document with this number.", "  [default: those with the largest P(d)]"),
        least=None,
        multiple=True,
        short="-n",
    ),
    option.text("--words", "WORD", option.again("Show the hidden documents of this word."), multiple=True, short="-w"),
    option.whole("--count", "Number of hidden documents to show.", least=None, default=20),
    option.whole("--top", "Number of words of each.", least=None, default=10),
)
@option.section(
    "Output",
    option.text("--plot", "FILE", "Draw P(word | d) of some hidden documents and P(d) of all (.png .svg .pdf)."),
    option.json,
)
@option.section("Other", option.quiet)
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

        with figure_notes(quiet=options["quiet"]):
            plot_hidden_documents(options["plot"], found.drawn, found.priors, estimated=found.estimated)
        say(f"figure   {options['plot']}", quiet=options["quiet"])
    show(found.report, as_json=options["as_json"])
