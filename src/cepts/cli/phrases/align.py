"""`cepts phrases align`: the phrases of sentences and their paraphrases."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import link_options, option, training_options
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.groups import Command
from cepts.cli.phrases import input_options, model_option, tokenise_option
from cepts.names import PHRASE_LINKS, WRITABLE_PAIR_FORMATS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline import Summary
    from cepts.pipeline.phrases import PairWriter
    from cepts.pipeline.reports import Report
    from cepts.progress import Progress, Step


@click.command(
    "align",
    cls=Command,
    epilog="""\b
Examples:
  echo 'He bought a car ||| He purchased a vehicle' | cepts phrases align -
  cepts phrases align old.txt new.txt -o aligned.jsonl
  cepts phrases align pairs.jsonl --model token --format pharaoh
  cepts phrases align pairs.jsonl --links phrases --format pharaoh
  cepts phrases align pairs.jsonl --combine onmf
  cepts phrases align pairs.jsonl --nbest 5 --combine forward""",
)
@click.argument("source")
@click.argument("target", required=False)
@input_options
@option.section("Input", tokenise_option)
@option.section(
    "Model",
    model_option,
    option.text(
        "--checkpoint",
        "DIR",
        "Keep the links of each part of the text in this directory. If DIR already has some, they are not made again.",
    ),
    training_options.engine_for("aligning"),
    training_options.begin,
)
@option.section(
    "Links",
    option.choice(
        "--links",
        PHRASE_LINKS,
        "Link the words of two phrases where they stand for each other, or all words of one with all of the other. "
        "json and text show the phrases beside the links.  [default: words; phrases if trained with --paper]",
    ),
    option.flag(
        "--synthesise",
        "Make the phrases from word links inside chunks (Yao et al. 2013, section 4.4), instead of those of the model.",
    ),
    link_options.combine_option(),
    link_options.threshold_option("  [default: 0.4]"),
    link_options.factoring_options("For onmf: "),
    option.whole(
        "--nbest",
        "Write the N best segmentations of each direction instead of links, as json; with --combine forward or "
        "reverse, those of that direction.",
    ),
)
@option.section(
    "Output",
    option.output("File for the alignments."),
    option.choice(
        "--format",
        ("text", *WRITABLE_PAIR_FORMATS),
        "File format of the alignments. text is for reading; json has the words, links, phrases (segments) and the "
        "cepts of onmf.  [default: text; json with -o or --nbest]",
    ),
    option.base(),
    option.text("--scores", "FILE", "Also write the normalised decoding score of each pair, forward and reverse."),
    link_options.matrices_option,
)
def command(source: str, target: str | None, **options: Any) -> None:
    """Align the phrases of sentences and their paraphrases.

    SOURCE and TARGET are text files with one sentence per line, or CoNLL-U files. Or SOURCE alone is a file with both
    sides: lines of 'source ||| target', two-column TSV, JSON lines or jacana's JSON. Running English is tokenised; what
    looks tokenised, lists of tokens and sentences with columns stay as they are.
    Files may be compressed (.gz .bz2 .xz .zst), and - is stdin. The output has as many pairs as the input.
    """
    from cepts.pipeline.reports import Report

    _check(options)
    stopwatch = Stopwatch()
    with training_options.resumable(options), ProgressBars(quiet=options["quiet"]) as bars:
        summary = _align(source, target, options, bars)
    if isinstance(summary, Report):
        show(summary, quiet=options["quiet"])
        return
    say(*summary.lines(stopwatch.seconds, "segmentations"), quiet=options["quiet"])


def _check(options: dict[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    link_options.check_extraction(options)
    option.check_apart(
        {"--scores": options["scores"], "--matrices": options["matrices"], "the links": options["output"]}
    )
    if options["nbest"] is not None:
        if options["synthesise"]:
            raise click.UsageError("--nbest lists the model's own segmentations; leave out --synthesise.")
        link_options.check_lists(options, "segmentations", ("json",))


def _align(source: str, target: str | None, options: dict[str, Any], bars: ProgressBars) -> Summary | Report:
    from cepts.pipeline import AlignOutputs
    from cepts.pipeline.phrases import PhraseLinks, align_pair_files

    outputs = AlignOutputs(
        links=options["output"],
        lists=options["nbest"],
        direction=link_options.listed_direction(options),
        **option.given(options, ("scores", "matrices")),
    )
    return align_pair_files(
        options["model"],
        (source, target),
        _writer(options),
        outputs,
        link_options.extraction_of(options),
        phrase_links=PhraseLinks(links=options["links"], synthesise=options["synthesise"]),
        progress=_progress(options, bars),
        notices=bars.notices,
        **{name: options[name] for name in ("input_format", "tokenise", "max_length", "threads", "checkpoint")},
        **option.given(options, ("engine", "begin")),
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
    format_ = options["format"] or ("text" if options["output"] == "-" else "json")
    if format_ == "text":
        from cepts.cli.phrases.show import PairText

        return PairText(options["output"])
    from cepts.io import SentencePairWriter

    return SentencePairWriter(options["output"], format=format_, base=options["base"])
