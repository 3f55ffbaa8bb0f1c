"""`cepts spaces align`: links of sentence pairs from a space alone."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli.checks import check_apart, finite
from cepts.cli.console import say
from cepts.cli.link_options import (
    base_option,
    check_extraction,
    combine_option,
    extraction_of,
    factoring_options,
    given,
    links_option,
    matrices_option,
    threshold_option,
)
from cepts.cli.spaces.common import opening, threads_option, vectors_option
from cepts.cli.summaries import describe
from cepts.names import LINK_FORMATS, LINK_MEASURES, PLAIN_BITEXT_FORMATS
from cepts.progress import Stopwatch

__all__ = ["command"]

SCORING = ("measure", "temperature", "null", "diagonal", "support", "max_length")


@click.command(
    "align",
    epilog="""\b
Examples:
  cepts spaces align en-fr en.txt fr.txt -o links.txt
  cepts spaces align en-fr en.txt fr.txt --combine onmf --format json
  cepts spaces align en-fr fr.txt en.txt --from fr --to en --threshold 0.3""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="[TARGET]", required=False)
@click.option("--from", "source", metavar="LANGUAGE", help="Language of SOURCE.  [default: the first]")
@click.option("--to", "target", metavar="LANGUAGE", help="Language of TARGET.  [default: the other one]")
@links_option
@combine_option()
@threshold_option("  [default: 0.5]")
@factoring_options("For onmf: ")
@matrices_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(LINK_FORMATS)),
    default="pharaoh",
    show_default=True,
    help="Format of the links; json also lists the cepts of onmf.",
)
@base_option
@click.option(
    "--measure",
    type=click.Choice(LINK_MEASURES),
    help="How near words are; csls takes their advantage from words that are near to everything.  [default: csls]",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="Higher gives the nearest word more of the mass.  [default: 8; 16 for cosine]",
)
@click.option(
    "--null",
    type=float,
    metavar="X",
    callback=finite,
    help="How near null is to all words; higher gives fewer links.  [default: -0.4; 0.3 for cosine]",
)
@click.option(
    "--diagonal",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="Preference for words at the same place of both sentences; 0 for none.  [default: 4]",
)
@click.option(
    "--support",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="How much links help those beside them; 0 for not at all.  [default: 3]",
)
@click.option("--max-length", type=click.IntRange(1), metavar="N", help="Leave pairs with longer sentences unaligned.")
@click.option(
    "--input-format",
    type=click.Choice(PLAIN_BITEXT_FORMATS),
    default="auto",
    help="Format of the input, where its name does not say it.",
)
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(directory: str, source_file: str, target_file: str | None, **options: Any) -> None:
    """Align the words of sentences by their places in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. SOURCE and TARGET are files with a sentence a line, tokens
    separated by blanks; or SOURCE alone is a file of 'a ||| b' lines or a two-column TSV. No parallel text is needed
    for training, so a single sentence pair will do: for many, 'cepts align' learns from them and is better.
    """
    check_extraction(options)
    check_apart({"--matrices": options["matrices"], "the links": options["output"]})
    from cepts.pipeline import AlignJob, AlignOutputs, BitextFiles, align_files
    from cepts.pipeline.saved_spaces import SpaceScoring
    from cepts.spaces import Scoring

    stopwatch = Stopwatch()
    with opening(directory, options) as files:
        job = AlignJob(
            texts=BitextFiles(source=source_file, target=target_file, format=options["input_format"]),
            scorer=SpaceScoring(
                files=files,
                source=options["source"],
                target=options["target"],
                scoring=Scoring(**given(options, SCORING)),
            ),
            extraction=extraction_of(options),
            outputs=AlignOutputs(
                links=options["output"],
                format=options["format_"],
                base=int(options["base"]),
                matrices=options["matrices"],
            ),
        )
        report = align_files(job, progress=files.progress)
    for line in describe(report.summary, stopwatch.seconds):
        say(line, quiet=options["quiet"])
