"""`cepts convert`: links from one format to another."""

from __future__ import annotations

import click

from cepts.names import DECODING_ERRORS, LINK_FORMATS


@click.command("convert")
@click.argument("links")
@click.option("--to", "to_format", type=click.Choice(tuple(LINK_FORMATS)), required=True, help="Format to write.")
@click.option(
    "--from",
    "from_format",
    type=click.Choice(("auto", *LINK_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of LINKS; auto goes by the suffix, then by the first line.",
)
@click.option(
    "--source",
    metavar="FILE",
    help="Source sentences. With them each link is checked; giza and json show them.",
)
@click.option("--target", metavar="FILE", help="Target sentences, likewise.")
@click.option(
    "--sentences",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of sentence pairs, which naacl does not say.",
)
@click.option(
    "--base",
    type=click.Choice(["0", "1"]),
    default="0",
    show_default=True,
    help="Number of the first word in LINKS (pharaoh, scored).",
)
@click.option(
    "--to-base",
    type=click.Choice(["0", "1"]),
    default="0",
    show_default=True,
    help="Number of the first word in the output (pharaoh, scored).",
)
@click.option("--sure", is_flag=True, help="Leave out links that are only possible.")
@click.option("--reverse", is_flag=True, help="Swap the sides: write target-source links.")
@click.option(
    "--errors",
    type=click.Choice(DECODING_ERRORS),
    default="strict",
    show_default=True,
    help="What to do with bytes of the sentences that are not UTF-8.",
)
@click.option("-o", "--output", metavar="FILE", default="-", show_default=True, help="Where to write.")
def command(
    links: str,
    to_format: str,
    from_format: str,
    source: str | None,
    target: str | None,
    sentences: int | None,
    base: str,
    to_base: str,
    sure: bool,
    reverse: bool,
    errors: str,
    output: str,
) -> None:
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
    from cepts.pipeline.link_files import LinkFile, convert_links

    convert_links(
        LinkFile(links, from_format, int(base)),
        output,
        format=to_format,
        base=int(to_base),
        source=source,
        target=target,
        sentences=sentences,
        sure=sure,
        reverse=reverse,
        errors=errors,
    )
