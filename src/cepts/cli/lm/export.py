"""`cepts lm export`: an adapted model as an ARPA file, for other programs."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.lm import reading_of, reading_options


@click.command(
    "export",
    epilog="""\b
Examples:
  cepts lm export biology slides.txt -o today.arpa
  cepts lm export biology -o biology.arpa.gz""",
)
@click.argument("directory")
@click.argument("document", nargs=-1)
@click.option("--output", "-o", default="-", metavar="FILE", help="Where the ARPA file goes.  [default: stdout]")
@reading_options
@option.threads
@option.quiet
def command(directory: str, document: tuple[str, ...], **options: Any) -> None:
    """Adapt to a document and write an ARPA file.

    DIRECTORY is what 'cepts lm fit --save' wrote. The n-grams are those of the model after it has read the DOCUMENTs,
    or nothing; they do not change any more, so that any decoder can use them.
    """
    from cepts.pipeline.lm import export_files

    how = {"reading": reading_of(options), "threads": options["threads"]}
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = export_files(directory, document, options["output"], **how, progress=bars)
    show(report, quiet=options["quiet"])
