"""`cepts sample`: the example files of the pages."""

from __future__ import annotations

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command


@click.command(
    "sample",
    cls=Command,
    epilog="""\b
Example:
  cepts sample examples""",
)
@click.argument("directory", metavar="DIR")
@option.flag("--force", "Overwrite files of the same names that hold something else.")
@option.json
@option.quiet
def command(directory: str, force: bool, as_json: bool, quiet: bool) -> None:
    """Write the example files of the documentation into a directory.

    DIR is made where it is missing. They are 4.5 MB: a bitext with gold links, word vectors and dictionaries, a text
    for language models, a matrix, sentences with their paraphrases, scripts that use cepts from Python, and the
    licences of all of them.
    """
    from cepts.pipeline.sample import write_sample

    show(write_sample(directory, force=force), as_json=as_json, quiet=quiet)
