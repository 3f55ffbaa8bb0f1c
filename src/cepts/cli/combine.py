"""`cepts combine`: the links of two directions to one alignment."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.lengths import refuse_stdin_twice, sides_options
from cepts.cli.link_options import EXTRACTORS, check_extraction, extraction_of, factoring_options, threshold_option
from cepts.names import LINK_FORMATS

__all__ = ["command"]


@click.command("combine")
@click.argument("forward")
@click.argument("reverse")
@click.option(
    "--method",
    "combine",
    type=EXTRACTORS,
    default="grow-diag-final-and",
    show_default=True,
    help="Which links to keep. The heuristics are those of fast_align's atools; agreement and onmf read confidences.",
)
@threshold_option()
@factoring_options("For onmf: ")
@click.option("--transpose-reverse", is_flag=True, help="REVERSE has target-source links.")
@click.option(
    "--from",
    "input_format",
    type=click.Choice(("auto", *LINK_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of both files; auto goes by the suffix, then by the first line.",
)
@click.option(
    "--format",
    "format",
    type=click.Choice(tuple(LINK_FORMATS)),
    default="pharaoh",
    show_default=True,
    help="Format to write.",
)
@click.option(
    "--base",
    type=click.Choice(["0", "1"]),
    default="0",
    show_default=True,
    help="The number of a sentence's first word in Pharaoh files, read and written.",
)
@sides_options
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; standard output without it.")
def command(forward: str, reverse: str, **options: Any) -> None:
    """Combine the links of two directions.

    FORWARD and REVERSE are link files of the same sentence pairs, both with source-target links (as
    fast_align writes them, with -r too). The inverse A3 file of GIZA has target-source links: add
    --transpose-reverse. A link's confidence becomes the mean of both.

    \b
    Example:
      cepts combine forward.links reverse.links --method intersection > both.links
    """  # noqa: D301
    from cepts.pipeline import LinkFile, combine_links

    check_extraction(options)
    places = options["source"], options["target"], options["bitext"]
    refuse_stdin_twice(forward, reverse, *places)
    base = int(options["base"])
    combine_links(
        LinkFile(forward, options["input_format"], base),
        LinkFile(reverse, options["input_format"], base),
        options["output"],
        extraction_of(options),
        sides=places,
        transpose_reverse=options["transpose_reverse"],
        format=options["format"],
        base=base,
    )
