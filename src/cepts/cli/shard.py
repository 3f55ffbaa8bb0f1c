"""`cepts shard`: begin a training job in a directory."""

from __future__ import annotations

import json
from typing import Any

import click

from cepts.cli import option, training_options
from cepts.cli.console import ProgressBars, say
from cepts.cli.groups import Command
from cepts.progress import Stopwatch


@click.command(
    "shard",
    cls=Command,
    epilog="""\b
Examples:
  cepts shard en.txt fr.txt job
  cepts shard corpus.tmx another --model ibm4 --shard-size 16""",
)
@click.argument("paths", nargs=-1, required=True, metavar="SOURCE [TARGET] DIR")
@option.section("Input", option.bitext_input, option.max_length())
@option.section(
    "Model",
    training_options.model,
    option.text("--load", "DIR", option.again("A trained word model, for --update."), multiple=True),
    option.real(
        "--weight",
        "With --update: how often the counts of a model are added, one --weight for each --load, in the same order.  "
        "[default: 1]",
        above=0,
        dest="weights",
        multiple=True,
    ),
    training_options.update,
    training_options.priors,
)
@training_options.section
@option.section(
    "Shards",
    option.whole("--shard-size", "Token pairs of a shard, in millions.  [default: 2, in large texts up to 8]"),
)
@option.section(
    "Output",
    option.flag("--json", "Print the number of shards, pairs and steps as JSON.", dest="as_json"),
)
@option.running
def command(paths: tuple[str, ...], **options: Any) -> None:
    """Cut sentence pairs into shards, to train a model on them in steps.

    SOURCE and TARGET are as for 'cepts align'. DIR gets the text as numbers of words, the options, and later whatever
    the steps of the training leave; all machines that take part must see it. Go on with 'cepts train DIR', or with
    'cepts train DIR --shard I/N' for each I and then 'cepts reduce DIR', until it says that the training is finished.
    Then 'cepts align DIR' writes the links, or those of a share. They are the same as those of 'cepts align SOURCE
    TARGET'.
    """
    from cepts.errors import UsageError
    from cepts.pipeline.jobs import begin

    if not 2 <= len(paths) <= 3:
        raise UsageError(f"wanted SOURCE, TARGET and DIR, or a file with both sides and DIR. Got {len(paths)} names.")
    if options["load"] and not options["update"]:
        raise UsageError("`load` goes with `update`, which goes on training the model.")
    training_options.check_update(options)
    *files, directory = paths
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        job = begin(
            option.bitext_files(options, files[0], files[1] if len(files) > 1 else None),
            training_options.new_aligner(options),
            directory,
            prior=training_options.prior_of(options),
            cells_in_shard=None if options["shard_size"] is None else options["shard_size"] << 20,
            notices=bars.notices,
            progress=bars,
        )
    text = job.text
    if options["as_json"]:
        click.echo(json.dumps({"shards": text.shards, "pairs": len(text), "steps": job.steps_left()}))
    say(
        f"shards   {text.shards:,} of {len(text):,} pairs, in {stopwatch.seconds:,.1f} s",
        f"next     cepts train {directory}, or cepts train {directory} --shard I/N for each I",
        quiet=options["quiet"],
    )
