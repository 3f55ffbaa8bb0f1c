"""`cepts lm rescore`: n-best lists in, the same lists rescored by a model out."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, print_json, print_table, say
from cepts.cli.lm.common import counted, reading_of, reading_options
from cepts.errors import UsageError
from cepts.names import HYPOTHESIS_FORMATS, RESETS, WRITABLE_HYPOTHESIS_FORMATS
from cepts.progress import Stopwatch

ROWS = {"before": "before", "after": "rescored", "oracle": "best in the lists"}


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
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        chosen = {name: options[name] for name in ("tune", "threads")}
        report = rescore_files(directory, files, how, **chosen, notices=bars.notices, progress=bars)
    found = report.as_dict()
    if options["as_json"]:
        print_json(found)
        return
    say(
        f"rescored {counted(found['utterances'], 'utterance')}, {counted(found['hypotheses'], 'hypothesis')}; "
        f"{counted(found['changed'], 'choice')} changed, in {stopwatch.seconds:,.1f} s",
        quiet=options["quiet"],
    )
    errors = found.get("errors")
    # Where the hypotheses are on stdout, nothing else may be.
    if errors and options["output"] != "-":
        _print_errors(errors)
        click.echo(f"\nsignature  {found['signature']}")
    elif errors:
        say(f"WER      {errors['before']['wer']:.2f} -> {errors['after']['wer']:.2f} %", quiet=options["quiet"])
    if options["tune"]:
        weights = f"--weight {found['weight']:g} --word-bonus {found['word_bonus']:g}"
        click.echo(f"tuned    {weights}  (report errors on other lists)")


def _print_errors(errors: dict[str, Any]) -> None:
    kinds = ("substitutions", "insertions", "deletions")
    rows = []
    for name, title in ROWS.items():
        of_kinds = [f"{errors[name][kind]:,}" for kind in kinds]
        rows.append((title, f"{errors[name]['wer']:.2f}", *of_kinds, f"{errors[name]['utterance_error_rate']:.1f}"))
    print_table(("hypotheses", "WER, %", *kinds, "with errors, %"), rows)
