"""`cepts lm export`: an adapted model as an ARPA file, for other programs."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.groups import Command
from cepts.cli.lm import reading_of, reading_options


@click.command(
    "export",
    cls=Command,
    epilog="""\b
Examples:
  cepts lm export biology slides.txt -o today.arpa
  cepts lm export biology -o biology.arpa.gz""",
)
@click.argument("directory")
@click.argument("document", nargs=-1)
@option.section("Output", option.output("The ARPA file."))
@reading_options
@option.running
def command(directory: str, document: tuple[str, ...], **options: Any) -> None:
    """Adapt a model to a document and write an ARPA file.

    DIRECTORY is what 'cepts lm fit --save' wrote. The model reads the DOCUMENTs, if there are any, and its n-gram
    probabilities at that point are written. They no longer adapt, so that any decoder can use them.
    """
    from cepts.pipeline.lm import export_files

    how = {"reading": reading_of(options), "threads": options["threads"]}
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = export_files(directory, document, options["output"], **how, progress=bars)
    show(report, quiet=options["quiet"])
