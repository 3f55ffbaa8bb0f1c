"""`cepts tune`: a word model learns from gold links."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.names import LINK_FORMATS
from cepts.progress import Stopwatch


@click.command(
    "tune",
    cls=Command,
    epilog="""\b
Examples:
  cepts tune model en.txt fr.txt gold.wa --save tuned
  cepts tune model en.txt fr.txt gold.wa --with newer --save tuned""",
)
@click.argument("model")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@click.argument("gold")
@option.section(
    "Input",
    option.bitext_input,
    option.text(
        "--with",
        "DIR",
        option.again("Another word model of the same text, to be used beside MODEL."),
        dest="others",
        multiple=True,
    ),
    option.choice("--gold-format", ("auto", *LINK_FORMATS), "File format of GOLD.  [default: auto]", default="auto"),
    option.base(),
)
@option.section(
    "Output",
    option.text("--save", "DIR", "Directory for the tuned model, which has a copy of MODEL.", required=True),
)
@option.running
def command(model: str, texts: tuple[str, ...], gold: str, **options: Any) -> None:
    """Tune a word model on gold links, such as corrected ones.

    MODEL is a directory that 'cepts align --save' wrote. SOURCE and TARGET are sentences, as for 'cepts align', of
    which some have gold links in GOLD; pairs without links there have no gold. 'cepts align --load DIR' then uses what
    was learnt. How far the model may change is chosen by cross-validation over the gold pairs.
    """
    from cepts.pipeline.inputs import LinkFile
    from cepts.pipeline.tuned import said, tune_files

    if len(texts) > 2:
        raise UsageError(f"wanted SOURCE and TARGET, or one file with both, before GOLD. Got {len(texts)} files.")
    stopwatch = Stopwatch()
    links = LinkFile(gold, options["gold_format"], **option.given(options, ("base",)))
    with ProgressBars(quiet=options["quiet"]) as bars:
        found = tune_files(
            [model, *options["others"]],
            option.bitext_files(options, texts[0], texts[1] if len(texts) > 1 else None),
            links,
            **option.given(options, ("save", "threads")),
            notices=bars.notices,
            progress=bars,
        )
    say(
        said(found),
        f"model    {options['save']}  (use it with --load; made in {stopwatch.seconds:,.1f} s)",
        quiet=options["quiet"],
    )
