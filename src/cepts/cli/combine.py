"""`cepts combine`: the links of two directions to one alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli.choices import FORMATS, METHODS
from cepts.cli.lengths import Sides, can_reread, read_sides, refuse_stdin_twice, sides_options

if TYPE_CHECKING:
    from cepts.data import Alignments

__all__ = ["command"]


@click.command("combine")
@click.argument("forward")
@click.argument("reverse")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="grow-diag-final-and",
    show_default=True,
    help="Which links to keep; as the atools of fast_align define it.",
)
@click.option("--transpose-reverse", is_flag=True, help="REVERSE has target-source links.")
@click.option(
    "--from",
    "input_format",
    type=click.Choice(("auto", *FORMATS)),
    default="auto",
    show_default=True,
    help="Format of both files; auto goes by the suffix, then by the first line.",
)
@click.option(
    "--format", "format", type=click.Choice(FORMATS), default="pharaoh", show_default=True, help="Format to write."
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
def command(
    forward: str,
    reverse: str,
    method: Any,
    transpose_reverse: bool,
    input_format: str,
    format: str,
    base: str,
    source: str | None,
    target: str | None,
    bitext: str | None,
    output: str,
) -> None:
    """Combine the links of two directions.

    FORWARD and REVERSE are link files of the same sentence pairs, both with source-target links (as
    fast_align writes them, with -r too). The inverse A3 file of GIZA has target-source links: add
    --transpose-reverse. A link's confidence becomes the mean of both.

    \b
    Example:
      cepts combine forward.links reverse.links --method intersection > both.links
    """  # noqa: D301
    from cepts.extract import combine
    from cepts.io import write_links

    refuse_stdin_twice(forward, reverse, source, target, bitext)
    sides = read_sides(source, target, bitext)
    options = {"format": input_format, "base": int(base)}
    first, second = _read_both(forward, reverse, sides, transpose_reverse, options)
    combined = combine(first, second, sides.source_lengths, sides.target_lengths, method=method)
    write_links(output, combined, format=format, base=int(base), bitext=sides.bitext)


def _read_both(
    forward: str, reverse: str, sides: Sides, transpose_reverse: bool, options: dict[str, Any]
) -> tuple[Alignments, Alignments]:
    from cepts.io import read_links, swap_sides

    first = read_links(forward, **sides.lengths(), **options)
    second = read_links(reverse, **sides.lengths(swapped=transpose_reverse), **options)
    # NAACL files do not say how many pairs there are; any other file that is too short is refused by name.
    if len(first) < len(second) and can_reread(forward):
        first = read_links(forward, sentences=len(second), **options)
    elif len(second) < len(first) and can_reread(reverse):
        second = read_links(reverse, sentences=len(first), **options)
    return first, swap_sides(second) if transpose_reverse else second
