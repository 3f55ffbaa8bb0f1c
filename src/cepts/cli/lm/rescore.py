"""`cepts lm rescore`: n-best lists in, the same lists rescored by a model out."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, show
from cepts.cli.lm import reading_of, reading_options
from cepts.errors import UsageError
from cepts.names import HYPOTHESIS_FORMATS, RESETS, WRITABLE_HYPOTHESIS_FORMATS


@click.command(
    "rescore",
    epilog="""\b
Examples:
  cepts lm rescore biology dev.tsv --tune
  cepts lm rescore biology nbest.tsv --weight 0.4 --word-bonus 0.8 -o rescored.tsv
  cepts lm rescore biology kaldi/nbest.1 --adapt slides.txt --reset talk -o text --output-format text""",
)
@click.argument("directory")
@click.argument("nbest", nargs=-1, required=True)
@click.option("--output", "-o", metavar="FILE", help="Where the hypotheses go; - is stdout.")
@option.choice(
    "--format",
    ("auto", *HYPOTHESIS_FORMATS),
    "Format of the lists; kaldi is a directory with Kaldi's archives.",
    default="auto",
)
@option.choice(
    "--output-format",
    WRITABLE_HYPOTHESIS_FORMATS,
    "Whole lists, the best hypothesis first (tsv, jsonl), the model's costs for Kaldi (kaldi), or the best "
    "hypotheses alone (text, trn).  [default: by the name of the file, else tsv]",
)
@option.real(
    "--weight", "Weight of the model: total = score + W x log P(hypothesis) + B x words.", metavar="W", default=1.0
)
@option.real("--word-bonus", "Bonus for each word.", metavar="B", default=0.0)
@option.real(
    "--own-weight",
    "Weight of the score that the recogniser's own language model gave, where the lists have it.",
    default=0.0,
)
@option.real("--acoustic-scale", "Scale of Kaldi's acoustic costs.", default=0.1)
@option.real(
    "--unknown-penalty",
    "Subtracted from log P for each word that the model does not know, as <unk> stands for many of them.  "
    "[default: log of the number of known words]",
)
@option.choice(
    "--reset",
    RESETS,
    "When the history starts anew: never, with each talk (where the names of utterances change before their last "
    "- or _), or with each utterance.",
    default="never",
)
@option.text("--adapt", "FILE", "A text that the history starts with; may be given again.", multiple=True)
@reading_options
@option.text(
    "--references",
    "FILE",
    "Reference transcripts, an utterance and its words a line, where the lists do not have them.",
)
@option.flag(
    "--tune",
    "Find the W and B with the fewest errors on these lists, and write nothing. Errors on the lists that chose W "
    "and B say little: report errors on other lists.",
)
@option.threads
@option.json
@option.quiet
def command(directory: str, **options: Any) -> None:
    """Choose among the hypotheses of a recogniser.

    DIRECTORY is what 'cepts lm fit --save' wrote. NBEST are lists of hypotheses with scores, in the order in which they
    were spoken: TSV, JSON lines or Kaldi's. The best hypothesis of each utterance is part of the history of the next.
    Where there are references, word error rates before and after are shown, and the lowest that the lists allow.
    """
    from cepts.pipeline.rescoring import RescoreFiles, RescoreOptions, rescore_files

    if options["as_json"] and options["output"] == "-":
        raise UsageError("--json and the hypotheses would both go to stdout; name a file by --output FILE.")
    files = RescoreFiles(reading=reading_of(options), **option.given(options, RescoreFiles))
    how = RescoreOptions(**option.given(options, RescoreOptions))
    with ProgressBars(quiet=options["quiet"]) as bars:
        chosen = {name: options[name] for name in ("tune", "threads")}
        report = rescore_files(directory, files, how, **chosen, notices=bars.notices, progress=bars)
    show(report, as_json=options["as_json"], quiet=options["quiet"] or options["as_json"])
