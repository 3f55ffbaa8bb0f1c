"""`cepts merge`: several trained models into one."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.progress import Stopwatch


@click.command(
    "merge",
    cls=Command,
    epilog="""\b
Examples:
  cepts merge model newer --save merged
  cepts merge model newer --weight 1 --weight 0.5 --save merged""",
)
@click.argument("models", nargs=-1, required=True, metavar="MODEL MODEL...")
@option.text("--save", "DIR", "Directory for the merged model.", required=True)
@option.real(
    "--weight",
    "How often the counts of a model are added: one --weight for each MODEL, in the same order.  [default: 1]",
    above=0,
    dest="weights",
    multiple=True,
)
@option.running
def command(models: tuple[str, ...], **options: Any) -> None:
    """Merge word models that were trained on different texts.

    Each MODEL is a directory that 'cepts align --save' wrote. Their expected counts are added, so the models must be of
    the same kind and have been trained with the same options. To merge models and go on training, use 'cepts align
    --update' with several --load.
    """
    from cepts.pipeline.priors import merge_models

    if len(models) < 2:
        raise UsageError("wanted two or more models to merge. Got one.")
    stopwatch = Stopwatch()
    merged = merge_models(models, **option.given(options, merge_models))
    words = f"{len(merged.source_):,} + {len(merged.target_):,} words"
    say(
        f"merged   {len(models):,} models, {words}, in {stopwatch.seconds:,.1f} s",
        f"model    {options['save']}  (use it with --load)",
        quiet=options["quiet"],
    )
