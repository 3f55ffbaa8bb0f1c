"""`cepts lm perplexity`: how well a model predicts a text, and what each component contributes."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.lm import reading_of, reading_options
from cepts.names import DOCUMENT_RESETS


@click.command(
    "perplexity",
    epilog="""\b
Examples:
  cepts lm perplexity biology lecture.txt
  cepts lm perplexity biology lectures/ --reset document --by-document""",
)
@click.argument("directory")
@click.argument("text", nargs=-1, required=True)
@reading_options
@option.choice(
    "--reset",
    DOCUMENT_RESETS,
    "When the model forgets what it has read: at the end of each document, or never.",
    default="never",
)
@option.flag(
    "--ends/--no-ends", "Count the ends of sentences as words.  [default: yes]", dest="count_ends", default=True
)
@option.flag("--by-document", "Also list each document.")
@option.threads
@option.json
@option.quiet
def command(directory: str, text: tuple[str, ...], **options: Any) -> None:
    """How well a model predicts a text.

    DIRECTORY is what 'cepts lm fit --save' wrote; TEXTs are files or directories of documents. The table has the
    perplexity of each n-gram model, of their interpolation, of that with one other component, of all together, and of
    all without that component. The weights are those of the model, and the weight of a component that is left out goes
    to the n-gram: nothing is tuned on TEXT. Unknown words are counted but not scored.
    """
    from cepts.pipeline.lm import perplexity_files

    with ProgressBars(quiet=options["quiet"]) as bars:
        report = perplexity_files(
            directory,
            text,
            reset=options["reset"] == "document",
            reading=reading_of(options),
            **option.given(options, ("count_ends", "by_document", "threads")),
            notices=bars.notices,
            progress=bars,
        )
    show(report, as_json=options["as_json"])
