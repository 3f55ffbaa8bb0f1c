"""`cepts train`: run the tasks of a training job."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option, training_options
from cepts.cli.console import ProgressBars, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.progress import Stopwatch


@click.command(
    "train",
    cls=Command,
    epilog="""\b
Examples:
  cepts train job --shard 3/16
  cepts train job --shard 1/1 --wait
  cepts train job --engine dask
  cepts train job --save model""",
)
@click.argument("directory", metavar="DIR")
@training_options.shard
@option.flag(
    "--wait",
    "With --shard: go on until the training is finished. The process with --shard 1/N also finishes each step, the "
    "others wait for it.",
)
@training_options.engine
@option.text("--save", "DIR", "Save the trained model in this directory.")
@training_options.prune
@option.running
def command(directory: str, **options: Any) -> None:
    """Train the model of a job, or run its next tasks.

    'cepts shard' began the job in DIR, or another command with --checkpoint DIR --begin. Without --shard, all that is
    missing is done, on this machine or on a cluster. With --shard, only the tasks of the next step on this share of the
    shards; when all shares are done, 'cepts reduce' finishes the step. With --wait, N processes do this together until
    the training is finished. What is already there is not done again, so a command that was interrupted can simply be
    repeated.
    """
    from cepts.pipeline.jobs import Share, train
    from cepts.pipeline.piece_jobs import command_of

    if options["shard"] is not None and options["save"] is not None:
        raise UsageError("`save` saves the model of a training that is finished; omit `shard`.")
    if options["prune"] is not None and options["save"] is None:
        raise UsageError("`prune` is about the saved model; give `save` too.")
    if options["wait"] and options["shard"] is None:
        raise UsageError("`wait` is for one of several processes; give `shard` too.")
    share = None if options["shard"] is None else Share.of(options["shard"])
    stopwatch = Stopwatch()
    given = option.given(options, ("engine", "threads", "save", "prune", "wait"))
    try:
        with ProgressBars(quiet=options["quiet"]) as bars:
            step = train(directory, share, **given, progress=bars)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("run the same command again to continue") from None
    seconds = f"in {stopwatch.seconds:,.1f} s"
    if step is None and (counting := command_of(directory)) is not None:
        said = f"done     {seconds}; next is the command that began the job, cepts {counting}, without --begin"
    elif step is None:
        said = f"trained  {seconds}; align with: cepts align {directory}"
    elif step.missing:
        said = f"done     {seconds}; {step}: {len(step.missing):,} of {step.shards:,} shards are missing"
    else:
        said = f"done     {seconds}; {step}: all shards are done, next is cepts reduce {directory}"
    say(said, quiet=options["quiet"])
