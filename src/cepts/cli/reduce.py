"""`cepts reduce`: finish a step of a training job."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say
from cepts.cli.groups import Command
from cepts.progress import Stopwatch


@click.command(
    "reduce",
    cls=Command,
    epilog="""\b
Examples:
  cepts reduce job
  cepts reduce job --status
  cepts reduce job --json""",
)
@click.argument("directory", metavar="DIR")
@option.flag("--status", "Do nothing; say what is next and how many steps are left.", dest="only_look")
@option.flag("--json", "Print what was done and what is next as JSON.", dest="as_json")
@option.running
def command(directory: str, **options: Any) -> None:
    """Finish a step of a training job, whose tasks have been run.

    It adds up what 'cepts train --shard' has left in DIR for each shard, and makes the next model of it. The exit code
    is 1 if shards are missing. When the training is finished, the command says so and does nothing.
    """
    import json

    from cepts.pipeline.jobs import reduce
    from cepts.pipeline.piece_jobs import command_of

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
