"""`cepts spaces export`: aligned vectors for other programs."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.checks import moderate
from cepts.cli.choices import WRITABLE_VECTOR_FORMATS
from cepts.cli.console import ProgressBars, say
from cepts.cli.spaces.common import OpenSpace, vectors_option

__all__ = ["command"]


@click.command(
    "export",
    epilog="""\b
Examples:
  cepts spaces export en-fr en -o en.aligned.vec.gz
  cepts spaces export en-fr fr -o fr.aligned.npy --max-vocabulary 50000""",
)
@click.argument("directory")
@click.argument("language")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the vectors go.  [default: stdout]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(WRITABLE_VECTOR_FORMATS),
    help="Format of the file.  [default: by its name: .bin is word2vec-binary, .npy is npy, all else word2vec]",
)
@click.option(
    "--max-vocabulary", type=click.IntRange(1), metavar="N", callback=moderate, help="The first N words only."
)
@vectors_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(directory: str, language: str, **options: Any) -> None:
    """Write a language's vectors in the shared space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. The vectors of all its LANGUAGEs can be compared by cosine. With
    .npy the words go to a file beside it.
    """
    from cepts.data import Vectors
    from cepts.io import check_output, write_vectors

    check_output(options["output"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        view = opened.space.view(language)
        vectors = opened.view(view)
        if options["max_vocabulary"] is not None:
            vectors = vectors.first(options["max_vocabulary"])
        placed = Vectors(vectors.vocabulary, opened.space.project(vectors.matrix, view), vectors.name)
        bars.close()
        write_vectors(options["output"], placed, format=options["format_"])
    say(f"vectors  {len(placed):,} words of {language}, width {placed.width}", quiet=options["quiet"])
