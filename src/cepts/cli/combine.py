"""`cepts combine`: the links of two directions to one alignment."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import link_options, option
from cepts.cli.groups import Command


@click.command("combine", cls=Command)
@click.argument("forward")
@click.argument("reverse")
@option.section(
    "Links",
    option.choice(
        "--method",
        link_options.EXTRACTORS,
        "Which links to keep. The heuristics are those of atools in fast_align; agreement and onmf use confidences.",
        dest="combine",
        default="grow-diag-final-and",
        metavar="METHOD",
    ),
    link_options.threshold_option(),
    link_options.factoring_options("For onmf: "),
)
@option.section(
    "Input",
    link_options.format_option(
        "--from",
        "Format of both files; auto tells it from the suffix, or from the first line.",
        dest="input_format",
    ),
    option.flag("--transpose-reverse", "REVERSE has target-source links."),
    option.base(help="Position of the first word of a sentence in Pharaoh links, read and written."),
)
@option.sides
@option.section(
    "Output",
    option.output("File for the links."),
    link_options.format_option("--format", "File format of the links.", default="pharaoh"),
)
def command(forward: str, reverse: str, **options: Any) -> None:
    """Combine the links of two directions into one alignment.

    FORWARD and REVERSE are files of links for the same sentence pairs, both with source-target links (as fast_align
    writes them, also with -r). The inverse A3 file of GIZA++ has target-source links: use --transpose-reverse. The
    confidence of a link is the mean of both directions.

    \b
    Example:
      cepts combine forward.links reverse.links --method intersection > both.links
    """  # noqa: D301
    from cepts.pipeline import LinkFile, combine_links

    link_options.check_extraction(options)
    reading = options["input_format"], options["base"]
    combine_links(
        LinkFile(forward, *reading),
        LinkFile(reverse, *reading),
        extraction=link_options.extraction_of(options),
        sides=(options["source"], options["target"], options["bitext"]),
        **option.given(options, ("output", "transpose_reverse", "format", "base")),
    )
