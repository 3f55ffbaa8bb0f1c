"""`cepts spaces align`: links of sentence pairs from a space alone."""

from __future__ import annotations

import time
from typing import Any

import click

from cepts.cli.align import describe, found_links
from cepts.cli.checks import check_apart, finite
from cepts.cli.choices import FORMATS
from cepts.cli.console import ProgressBars, say
from cepts.cli.factor import check_restarts, factoring_options
from cepts.cli.link_options import (
    base_option,
    check_combination,
    check_matrices,
    combine_option,
    links_option,
    matrices_option,
    threshold_option,
)
from cepts.cli.spaces.common import OpenSpace, direction_of, threads_option, vectors_option

__all__ = ["command"]

FACTORING = ("cepts", "sure", "restarts", "seed")
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
@combine_option
@threshold_option("  [default: 0.5]")
@factoring_options("For onmf: ")
@matrices_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="pharaoh",
    show_default=True,
    help="Format of the links; json also lists the cepts of onmf.",
)
@base_option
@click.option(
    "--measure",
    type=click.Choice(["csls", "cosine"]),
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
    type=click.Choice(["auto", "text", "pipes", "tsv"]),
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
    _check(options)
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _align(directory, source_file, target_file, options, bars, started)


def _check(options: dict[str, Any]) -> None:
    check_combination(options, FACTORING)
    if options["combine"] == "onmf":
        check_restarts(options)
    check_matrices(options["matrices"])
    check_apart({"--matrices": options["matrices"], "the links": options["output"]})


def _align(
    directory: str,
    source_file: str,
    target_file: str | None,
    options: dict[str, Any],
    bars: ProgressBars,
    started: float,
) -> None:
    from cepts.io import check_output, read_bitext
    from cepts.pipeline.space_links import LEAST_SHARE, align_in_space
    from cepts.spaces.associate import Scoring

    for path in (options["output"], options["matrices"]):
        if path is not None:
            check_output(path)
    scoring = Scoring(**{name: options[name] for name in SCORING if options[name] is not None})
    opened = OpenSpace(directory, options["vectors"], bars)
    languages = direction_of(opened.space, options["source"], options["target"])
    bitext = read_bitext(source_file, target_file, format=options["input_format"], progress=bars)
    summary = align_in_space(
        opened.space,
        [opened.view(language) for language in languages],
        bitext,
        options["output"],
        languages=languages,
        scoring=scoring,
        combine=options["combine"],
        threshold=LEAST_SHARE if options["threshold"] is None else options["threshold"],
        factoring={name: options[name] for name in FACTORING if options[name] is not None},
        format=options["format_"],
        base=int(options["base"]),
        matrices=options["matrices"],
        threads=options["threads"],
        progress=bars,
    )
    bars.close()
    for line in describe(summary, found_links(summary), scoring.max_length, time.perf_counter() - started):
        say(line, quiet=options["quiet"])
