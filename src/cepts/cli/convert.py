"""`cepts convert`: links from one format to another."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.link_options import format_option
from cepts.names import LINK_FORMATS


@click.command("convert")
@click.argument("links")
@option.choice("--to", LINK_FORMATS, "Format to write.", dest="format", required=True)
@format_option("--from", "Format of LINKS; auto goes by the suffix, then by the first line.", dest="from_format")
@option.text("--source", "FILE", "Source sentences. With them each link is checked; giza and json show them.")
@option.text("--target", "FILE", "Target sentences, likewise.")
@option.whole("--sentences", "Number of sentence pairs, which naacl does not say.", least=0)
@option.base(help="Number of the first word in LINKS (pharaoh, scored).")
@option.base("--to-base", "Number of the first word in the output (pharaoh, scored).")
@option.flag("--sure", "Leave out links that are only possible.")
@option.flag("--reverse", "Swap the sides: write target-source links.")
@option.errors
@option.output("the links")
def command(links: str, **options: Any) -> None:
    """Convert the file LINKS between the link formats.

    \b
    pharaoh  0-0 1?2                      a pair a line, `?` possible
    scored   0-0:0.9731 1?2:0.4100        with confidences
    naacl    1 1 1 S                      sentence, source, target, tier; from 1
    giza     NULL ({ }) house ({ 1 2 })   three lines a pair
    json     {"links": [{"source": 0, "target": 0, ...}]}

    LINKS and the output may be `-` (standard input, output) and compressed (.gz .bz2 .xz .zst).

    \b
    Examples:
      cepts convert gold.wa --to pharaoh --sentences 447 -o gold.links
      cepts convert links.gz --to giza --source text.en --target text.fr -o links.A3
    """  # noqa: D301
    from cepts.pipeline import LinkFile
    from cepts.pipeline.link_files import convert_links

    reading = LinkFile(links, options["from_format"], options.pop("base"))
    convert_links(reading, options.pop("output"), base=options["to_base"], **option.given(options, convert_links))
