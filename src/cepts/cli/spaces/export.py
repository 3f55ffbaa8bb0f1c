"""`cepts spaces export`: aligned vectors for other programs."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.cli.spaces import opening, vectors_option
from cepts.names import WRITABLE_VECTOR_FORMATS


@click.command(
    "export",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces export en-fr en -o en.aligned.vec.gz
  cepts spaces export en-fr fr -o fr.aligned.npy --max-vocabulary 50000""",
)
@click.argument("directory")
@click.argument("language")
@option.output("File for the vectors.")
@option.choice(
    "--format",
    WRITABLE_VECTOR_FORMATS,
    "File format of the vectors.  [default: word2vec-binary for .bin, npy for .npy, otherwise word2vec]",
)
@option.whole("--max-vocabulary", "Write only the first N words.")
@vectors_option
@option.quiet
def command(directory: str, language: str, **options: Any) -> None:
    """Write the vectors of a language in the shared space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. The exported vectors of all its languages can be compared by
    cosine. With .npy, the words go to a text file with the same name.
    """
    from cepts.pipeline.spaces import export_vectors

    with opening(directory, options) as space:
        report = export_vectors(space, language, **option.given(options, export_vectors))
    show(report, quiet=options["quiet"])
