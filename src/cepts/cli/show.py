"""`cepts show`: a sentence pair and its links as a picture."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import link_options, option
from cepts.cli.console import figure_notes, line_width, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.names import PAIR_FORMS


@click.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  cepts show en.txt fr.txt links.txt --pair 3
  cepts show corpus.tmx links.jsonl --pair 12 --numbers
  cepts show en.txt fr.txt gold.wa --plot pair.svg""",
)
@click.argument("files", metavar="TEXT [TEXT] LINKS", nargs=-1)
@option.section(
    "Input",
    option.whole("--pair", "Which sentence pair, from 1.", default=1),
    link_options.format_option("--format", "Format of LINKS; auto goes by the suffix, then by the first line."),
    option.base(help="Number of the first word in LINKS (pharaoh, scored)."),
    option.bitext_input,
)
@option.section(
    "Output",
    option.flag("--numbers", "Show the confidence of each link in %; a `?` marks possible links."),
    option.whole("--width", "Columns that the grid may take.  [default: those of the terminal, or 80]"),
    option.text("--plot", "FILE", "Draw the pair to FILE (.png .svg .pdf) instead of printing it."),
    option.choice(
        "--form", PAIR_FORMS, "For --plot: rows of words with lines between them or through cepts, or a matrix."
    ),
)
@option.section("Other", option.quiet)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Show a sentence pair and its links as a grid.

    TEXT is a file of sentence pairs, or two files with one sentence per line; LINKS has the links of the same pairs.
    The grid has a row for each source word, a column for each target word, and a mark where they are linked: a square
    for a sure link, a circle for a possible one, filled if the confidence is 0.75 or more. A grid that is too wide
    continues below. Right-to-left sentences run from right to left; the order of the letters within a word depends on
    the terminal.
    """
    if len(files) not in {2, 3}:
        raise UsageError(f"wanted TEXT [TEXT] LINKS, which are two or three files. Got {len(files)}.")
    if options["form"] is not None and options["plot"] is None:
        raise UsageError("`form` goes with `plot`, which is not given.")
    for name in ("numbers", "width"):
        if options[name] and options["plot"] is not None:
            raise UsageError(f"`{name}` goes with the printed grid, not with `plot`.")
    option.check_plot(options["plot"])
    from cepts.pipeline.inputs import LinkFile
    from cepts.pipeline.link_files import read_pair

    *texts, links = files
    bitext = option.bitext_files(options, texts[0], texts[1] if len(texts) > 1 else None)
    found = read_pair(bitext, LinkFile(links, options["format"], options["base"]), options["pair"] - 1)
    if options["plot"] is not None:
        from cepts.plot import plot_pair

        with figure_notes(quiet=options["quiet"]):
            plot_pair(options["plot"], *found, form=options["form"] or "lines")
        say(f"figure   {options['plot']}", quiet=options["quiet"])
        return
    from cepts.cli.grid import legend, pair_lines

    width = options["width"] or line_width()
    lines = pair_lines(*found, width=width, numbers=options["numbers"])
    notes = [] if options["numbers"] else legend([found.alignment], width=width)
    for line in [*lines, *([""] if notes else []), *notes]:
        click.echo(line)
