"""`cepts lm perplexity`: how well a model predicts a text, and what each component contributes."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.groups import Command
from cepts.cli.lm import reading_of, reading_options
from cepts.names import DOCUMENT_RESETS


@click.command(
    "perplexity",
    cls=Command,
    epilog="""\b
Examples:
  cepts lm perplexity biology lecture.txt
  cepts lm perplexity biology lectures/ --reset document --by-document""",
)
@click.argument("directory")
@click.argument("text", nargs=-1, required=True)
@reading_options
@option.section(
    "Scores",
    option.choice(
        "--reset",
        DOCUMENT_RESETS,
        "When the model forgets what it has read: at the end of each document, or never.",
        default="never",
    ),
    option.flag("--ends/--no-ends", "Count sentence ends as words.  [default: yes]", dest="count_ends", default=True),
    option.flag("--by-document", "Also list each document."),
)
@option.section("Output", option.json, option.whole_signature)
@option.running
def command(directory: str, text: tuple[str, ...], **options: Any) -> None:
    """Measure how well a model predicts a text.

    DIRECTORY is what 'cepts lm fit --save' wrote; TEXTs are files or directories of documents. The table has the
    perplexity of each n-gram model, of their interpolation, of the interpolation with one other component, of the whole
    model, and of the whole model without that component. The weights are those of the model, and the weight of an
    omitted component goes to the n-grams: nothing is tuned on TEXT. Unknown words are counted but not scored.
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
    show(report, as_json=options["as_json"], signature=options["signature"])
