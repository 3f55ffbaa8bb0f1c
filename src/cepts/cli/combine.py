"""`cepts combine`: the links of two directions to one alignment."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import link_options, option


@click.command("combine")
@click.argument("forward")
@click.argument("reverse")
@option.choice(
    "--method",
    link_options.EXTRACTORS,
    "Which links to keep. The heuristics are those of fast_align's atools; agreement and onmf read confidences.",
    dest="combine",
    default="grow-diag-final-and",
)
@link_options.threshold_option()
@link_options.factoring_options("For onmf: ")
@option.flag("--transpose-reverse", "REVERSE has target-source links.")
@link_options.format_option(
    "--from", "Format of both files; auto goes by the suffix, then by the first line.", dest="input_format"
)
@link_options.format_option("--format", "Format to write.", default="pharaoh")
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

    link_options.check_extraction(options)
    reading = options["input_format"], options["base"]
    combine_links(
        LinkFile(forward, *reading),
        LinkFile(reverse, *reading),
        extraction=link_options.extraction_of(options),
        sides=(options["source"], options["target"], options["bitext"]),
        **option.given(options, ("output", "transpose_reverse", "format", "base")),
    )
