"""`cepts reduce`: finish a step of a training job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline.jobs import Share


@click.command(
    "reduce",
    cls=Command,
    epilog="""\b
Examples:
  cepts reduce job
  cepts reduce job --range 1/1
  cepts reduce job --status
  cepts reduce job --json""",
)
@click.argument("directory", metavar="DIR")
@option.text("--range", "I/N", "Do a part of it for share I of N of the lexicon, such as 2/8.")
@option.flag("--status", "Do nothing; say what is next and how many steps are left.", dest="only_look")
@option.flag("--json", "Print what was done and what is next as JSON.", dest="as_json")
@option.running
def command(directory: str, **options: Any) -> None:
    """Finish a step of a training job, whose tasks have been run.

    It adds up what 'cepts train --shard' has left in DIR for each shard, and makes the next model of it. The exit code
    is 1 if shards are missing. When the training is finished, the command says so and does nothing.

    With --range, several machines share the work on a large lexicon: run it for each I, in an iteration twice (it adds
    up first, then makes tables), and then without --range, which does whatever is left.
    """
    import json

    from cepts.pipeline.jobs import Share, reduce
    from cepts.pipeline.piece_jobs import command_of

    if options["range"] is not None:
        if options["only_look"]:
            raise UsageError("`only_look` does nothing, so it does not go with `range`; omit one of them.")
        _reduce_ranges(directory, Share.of(options["range"], "range"), options)
        return
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        done, following, left = reduce(directory, **option.given(options, ("only_look", "threads")), progress=bars)
    if options["as_json"]:
        names = {"done": done and str(done), "next": following and str(following)}
        click.echo(json.dumps({**names, "finished": following is None, "left": left}))
        return
    lines = [] if done is None else [f"done     {done}, in {stopwatch.seconds:,.1f} s"]
    if following is None and (counting := command_of(directory)) is not None:
        lines.append(f"next     the command that began the job, cepts {counting}, without --begin")
    elif following is None:
        lines.append(f"trained  the training is finished; align with: cepts align {directory} --shard I/N")
    else:
        lines.append(f"next     {following}: cepts train {directory} --shard I/N, then cepts reduce {directory}")
        if options["only_look"]:
            shards = f"{len(following.missing):,} of {following.shards:,} shards are missing"
            lines.append(f"left     {left:,} steps; {shards} in this one")
    say(*lines, quiet=options["quiet"])


def _reduce_ranges(directory: str, share: Share, options: dict[str, Any]) -> None:
    """Do what comes next for a share of the ranges, and say what is left."""
    import json

    from cepts.pipeline.jobs import reduce_ranges

    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        step = reduce_ranges(directory, share, **option.given(options, ("threads",)), progress=bars)
    if options["as_json"]:
        left = {} if step is None else {"step": str(step), "missing": len(step.missing), "ranges": step.ranges}
        click.echo(json.dumps({**left, "finished": step is None}))
    elif step is None:
        said = f"trained  the training is finished; align with: cepts align {directory} --shard I/N"
        say(said, quiet=options["quiet"])
    else:
        missing = f"{len(step.missing):,} of {step.ranges:,} ranges are missing"
        left_over = missing if step.missing else f"all ranges are done, next is cepts reduce {directory}"
        say(f"done     in {stopwatch.seconds:,.1f} s; {step}: {left_over}", quiet=options["quiet"])
