"""`cepts phrases align`: the phrases of sentences and their paraphrases."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import check_apart, moderate
from cepts.cli.console import ProgressBars, say
from cepts.cli.link_options import (
    base_option,
    check_extraction,
    combine_option,
    extraction_of,
    factoring_options,
    matrices_option,
    threshold_option,
)
from cepts.cli.phrases.common import (
    input_format_option,
    max_length_option,
    model_option,
    quiet_option,
    threads_option,
)
from cepts.cli.summaries import describe
from cepts.errors import UsageError
from cepts.names import WRITABLE_PAIR_FORMATS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline import Summary
    from cepts.pipeline.phrases import PairWriter
    from cepts.progress import Progress, Step

__all__ = ["command"]


@click.command(
    "align",
    epilog="""\b
Examples:
  echo 'Shops are closed up for now ||| Shops are temporarily closed down' | cepts phrases align -
  cepts phrases align old.txt new.txt -o aligned.jsonl
  cepts phrases align pairs.jsonl --model token --format pharaoh
  cepts phrases align pairs.jsonl --combine onmf
  cepts phrases align pairs.jsonl --nbest 5 --combine forward""",
)
@click.argument("source")
@click.argument("target", required=False)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the result goes.  [default: stdout]")
@model_option
@combine_option()
@threshold_option("  [default: 0.4]")
@factoring_options("For onmf: ")
@matrices_option
@click.option(
    "--nbest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="List each direction's N best segmentations instead, as json; with --combine forward or reverse that one's.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", *WRITABLE_PAIR_FORMATS)),
    help="text is for people; json has words, links, segments and the cepts of onmf.  [default: text; json with -o or "
    "--nbest]",
)
@base_option
@click.option("--scores", metavar="FILE", help="Also write each pair's normalised decoding score, forward and reverse.")
@max_length_option
@threads_option
@input_format_option
@quiet_option
def command(source: str, target: str | None, **options: Any) -> None:
    """Align the phrases of sentences and their paraphrases.

    SOURCE and TARGET are files with a sentence a line, tokens separated by blanks, or CoNLL-U; or SOURCE alone is a
    file of 'a ||| b' lines, a two-column TSV, JSON lines or jacana's JSON. All may be compressed (.gz .bz2 .xz .zst);
    - is stdin. As many pairs come out as go in.
    """
    _check(options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        summary = _align(source, target, options, bars)
    for line in describe(summary, stopwatch.seconds, listed="segmentations"):
        say(line, quiet=options["quiet"])


def _check(options: dict[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    check_extraction(options)
    check_apart({"--scores": options["scores"], "--matrices": options["matrices"], "the links": options["output"]})
    if options["nbest"] is None:
        return
    for name in ("threshold", "scores", "matrices"):
        if options[name] is not None:
            raise UsageError(f"`{name}` goes with links, and `nbest` lists segmentations; leave one of them out.")
    if options["combine"] not in {"agreement", "forward", "reverse"}:
        raise UsageError(
            f"`nbest` lists the segmentations of single directions, not of `combine` {options['combine']}; `combine` "
            "forward or reverse chooses one, without it both are listed."
        )
    if options["format_"] not in {None, "json"}:
        raise UsageError(f"`nbest` is written in the format json, not {options['format_']}.")


def _align(source: str, target: str | None, options: dict[str, Any], bars: ProgressBars) -> Summary:
    from cepts.io import read_sentence_pairs
    from cepts.pipeline import AlignOutputs, align_pairs, list_segmentations
    from cepts.pipeline.phrase_inputs import check_input, load_phrase_aligner

    outputs = AlignOutputs(links=options["output"], scores=options["scores"], matrices=options["matrices"])
    outputs.check()
    pairs = read_sentence_pairs(source, target, format=options["input_format"])
    aligner = load_phrase_aligner(options["model"], threads=options["threads"], max_length=options["max_length"])
    check_input(aligner, aligner.columns_, pairs, source)
    progress = _progress(options, bars)
    if options["nbest"] is not None:
        return list_segmentations(
            aligner,
            pairs,
            outputs.links,
            count=options["nbest"],
            direction="both" if options["combine"] == "agreement" else options["combine"],
            progress=progress,
        )
    return align_pairs(
        aligner,
        pairs,
        _writer(options),
        extraction_of(options),
        scores=outputs.scores,
        matrices=outputs.matrices,
        progress=progress,
    )


def _progress(options: dict[str, Any], bars: ProgressBars) -> Progress:
    """The bars, which go away before the first result where results go to the screen."""

    def close(step: Step) -> None:
        bars.close()

    return close if options["output"] == "-" and not _is_file(sys.stdout) else bars


def _is_file(stream: Any) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False


def _writer(options: dict[str, Any]) -> PairWriter:
    format_ = options["format_"] or ("text" if options["output"] == "-" else "json")
    if format_ == "text":
        from cepts.cli.phrases.show import PairText

        return PairText(options["output"])
    from cepts.io import SentencePairWriter

    return SentencePairWriter(options["output"], format=format_, base=int(options["base"]))
