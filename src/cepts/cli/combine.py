"""`cepts combine`: the links of two directions to one alignment."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.checks import refuse_stdin_twice
from cepts.cli.link_options import (
    EXTRACTORS,
    check_extraction,
    extraction_of,
    factoring_options,
    link_format_option,
    threshold_option,
)


@click.command("combine")
@click.argument("forward")
@click.argument("reverse")
@option.choice(
    "--method",
    EXTRACTORS,
    "Which links to keep. The heuristics are those of fast_align's atools; agreement and onmf read confidences.",
    dest="combine",
    default="grow-diag-final-and",
)
@threshold_option()
@factoring_options("For onmf: ")
@option.flag("--transpose-reverse", "REVERSE has target-source links.")
@link_format_option(
    "--from", "Format of both files; auto goes by the suffix, then by the first line.", dest="input_format"
)
@link_format_option("--format", "Format to write.", default="pharaoh")
@option.base(help="Number of the first word in Pharaoh links, read and written.")
@option.sides
@option.output("the links")
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
    reading = options["input_format"], options["base"]
    combine_links(
        LinkFile(forward, *reading),
        LinkFile(reverse, *reading),
        options["output"],
        extraction_of(options),
        sides=places,
        **option.given(options, ("transpose_reverse", "format", "base")),
    )
