"""`cepts convert`: links from one format to another."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.groups import Command
from cepts.cli.link_options import format_option
from cepts.names import LINK_COUNT_FORMATS, LINK_FORMATS


@click.command("convert", cls=Command)
@click.argument("links")
@option.section(
    "Input",
    format_option(
        "--from", "Format of LINKS; auto tells it from the suffix, or from the first line.", dest="from_format"
    ),
    option.base(help="Position of the first word of a sentence in LINKS (pharaoh, scored)."),
    option.text(
        "--source", "FILE", "Source sentences, one per line: links are checked against them; giza and json show them."
    ),
    option.text("--target", "FILE", "Target sentences, one per line."),
    option.whole("--sentences", "Number of sentence pairs, which a naacl file does not tell.", least=0),
    option.errors,
)
@option.section(
    "Links",
    option.flag("--sure", "Drop possible links; keep sure links only."),
    option.flag("--reverse", "Swap the sides: write target-source links."),
)
@option.section(
    "Output",
    option.choice("--to", (*LINK_FORMATS, *LINK_COUNT_FORMATS), "File format to write.", dest="format", required=True),
    option.output("File for the links."),
    option.base("--to-base", "Position of the first word of a sentence in the output (pharaoh, scored)."),
)
def command(links: str, **options: Any) -> None:
    """Convert links from one file format to another.

    \b
    pharaoh  0-0 1?2                      one line per pair; ? is a possible link
    scored   0-0:0.9731 1?2:0.4100        the same with confidences
    naacl    1 1 1 S                      sentence, source, target, S or P; from 1
    giza     NULL ({ }) house ({ 1 2 })   three lines per pair
    json     {"links": [{"source": 0, "target": 0, ...}]}
    priors   LEX house maison 12          counts for eflomal (only written)

    Files may be compressed (.gz .bz2 .xz .zst), and - is stdin.

    \b
    Examples:
      cepts convert gold.wa --to pharaoh --sentences 447 -o gold.links
      cepts convert links.gz --to giza --source en.txt --target fr.txt -o links.A3
      cepts convert all.links --to priors --source en.txt --target fr.txt
    """  # noqa: D301
    from cepts.pipeline import LinkFile
    from cepts.pipeline.link_files import convert_links

    reading = LinkFile(links, options["from_format"], options.pop("base"))
    convert_links(reading, options.pop("output"), base=options["to_base"], **option.given(options, convert_links))
