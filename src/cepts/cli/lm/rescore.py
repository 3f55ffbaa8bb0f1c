"""`cepts lm rescore`: n-best lists in, the same lists rescored by a model out."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.groups import Command
from cepts.cli.lm import reading_of, reading_options
from cepts.errors import UsageError
from cepts.names import HYPOTHESIS_FORMATS, RESETS, WRITABLE_HYPOTHESIS_FORMATS


@click.command(
    "rescore",
    cls=Command,
    epilog="""\b
Examples:
  cepts lm rescore biology dev.tsv --tune
  cepts lm rescore biology nbest.tsv > rescored.tsv
  cepts lm rescore biology nbest.tsv --weight 0.4 --word-bonus 0.8 -o best.tsv
  cepts lm rescore biology kaldi/nbest.1 --adapt slides.txt -o best.trn""",
)
@click.argument("directory")
@click.argument("nbest", nargs=-1, required=True)
@option.section(
    "Input",
    option.choice(
        "--format",
        ("auto", *HYPOTHESIS_FORMATS),
        "Format of the n-best lists; kaldi is a directory with Kaldi archives.",
        default="auto",
    ),
    option.text(
        "--references",
        "FILE",
        "Reference transcripts, with an utterance and its words per line, if the lists do not have them.",
    ),
    option.text("--adapt", "FILE", option.again("Text that the model reads first."), multiple=True),
)
@reading_options
@option.section(
    "Model",
    option.real(
        "--weight", "Weight of the model: total = score + W x log P(hypothesis) + B x words.", metavar="W", default=1.0
    ),
    option.real("--word-bonus", "Bonus for each word.", metavar="B", default=0.0),
    option.real(
        "--own-weight",
        "Weight of the score of the recogniser's own language model, if the lists have it.",
        default=0.0,
    ),
    option.real("--acoustic-scale", "Scale of Kaldi's acoustic costs.", default=0.1),
    option.real(
        "--unknown-penalty",
        "Subtracted from log P for each unknown word, because <unk> stands for many words.  [default: log of the "
        "number of known words]",
    ),
    option.choice(
        "--reset",
        RESETS,
        "When the model forgets what it has read: never; after each talk (when the part of the utterance's name before "
        "the last - or _ changes); or after each utterance.",
        default="never",
    ),
    option.flag(
        "--tune",
        "Find the W and B with the fewest errors on these lists, and write no hypotheses. Report errors on other "
        "lists, because these were used for tuning.",
    ),
)
@option.section(
    "Output",
    option.text("--output", "FILE", "File for the hypotheses.  [default: stdout; nowhere with --json]", short="-o"),
    option.choice(
        "--output-format",
        WRITABLE_HYPOTHESIS_FORMATS,
        "tsv and jsonl have whole lists, the best hypothesis first; kaldi has the model's costs for Kaldi; text and "
        "trn have the best hypotheses alone.  [default: from the file name, otherwise tsv]",
    ),
    option.json,
    option.whole_signature,
)
@option.running
def command(directory: str, **options: Any) -> None:
    """Rescore the hypotheses of a speech recogniser.

    DIRECTORY is what 'cepts lm fit --save' wrote. NBEST are n-best lists of hypotheses with scores, in the order in
    which they were spoken: TSV, JSON lines or Kaldi archives. The best hypothesis of each utterance becomes part of the
    history of the next. If there are reference transcripts, the table has the word error rate before and after
    rescoring, and the lowest one that the lists allow (oracle), with substitutions, insertions and deletions.
    """
    from cepts.pipeline.rescoring import RescoreFiles, RescoreOptions, rescore_files

    if options["as_json"] and options["output"] == "-":
        raise UsageError("--json and the hypotheses would both go to stdout; name a file with --output FILE.")
    if options["output"] is None and not (options["tune"] or options["as_json"]):
        options["output"] = "-"
    files = RescoreFiles(reading=reading_of(options), **option.given(options, RescoreFiles))
    how = RescoreOptions(**option.given(options, RescoreOptions))
    with ProgressBars(quiet=options["quiet"]) as bars:
        chosen = {name: options[name] for name in ("tune", "threads")}
        report = rescore_files(directory, files, how, **chosen, notices=bars.notices, progress=bars)
    show(
        report, as_json=options["as_json"], quiet=options["quiet"] or options["as_json"], signature=options["signature"]
    )
