"""`cepts lm export`: a model as it is after a document, for other programs."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.console import ProgressBars, say
from cepts.cli.lm.common import documents_option, entry_counts, errors_option, quiet_option, read_for, threads_option

__all__ = ["command"]


@click.command(
    "export",
    epilog="""\b
Examples:
  cepts lm export biology slides.txt -o today.arpa
  cepts lm export biology -o biology.arpa.gz""",
)
@click.argument("directory")
@click.argument("document", nargs=-1)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the ARPA file goes.  [default: stdout]")
@documents_option
@errors_option
@threads_option
@quiet_option
def command(directory: str, document: tuple[str, ...], **options: Any) -> None:
    """Adapt to a document and write an ARPA file.

    DIRECTORY is what 'cepts lm fit --save' wrote. The n-grams are those of the model after it has read the DOCUMENTs,
    or nothing; they change no more, so that any decoder can use them.
    """
    from cepts.io import check_output, write_arpa
    from cepts.lm import load_adapted, static_ngrams
    from cepts.pipeline.lm import memory_of

    check_output(options["output"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        model = load_adapted(directory)
        documents = read_for(model, document, options, bars, []) if document else None
        ngrams = static_ngrams(model, memory_of(model, documents, threads=options["threads"]))
        bars.close()
        write_arpa(ngrams, options["output"])
    sizes = " + ".join(f"{size:,}" for size in entry_counts(ngrams))
    read = "nothing" if documents is None else f"{len(documents.text.ids):,} words"
    say(f"n-grams  {sizes}, after {read}", quiet=options["quiet"])
