"""`cepts spaces score retrieval`: finding the translations of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import moderate
from cepts.cli.console import ProgressBars
from cepts.cli.spaces.common import (
    OpenSpace,
    direction_of,
    direction_options,
    read_lines,
    threads_option,
    vectors_option,
)
from cepts.cli.spaces.score.report import at_option, interval_options, json_option, report_precision
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    from cepts.data import Text

__all__ = ["command"]

MEASURES = ("csls", "cosine", "inverted-softmax")


@click.command(
    "retrieval",
    epilog="""\b
Example:
  cepts spaces score retrieval en-it europarl.en europarl.it --measure cosine --measure csls""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="TARGET")
@direction_options
@click.option(
    "--queries",
    type=click.IntRange(1),
    metavar="N",
    default=2000,
    show_default=True,
    callback=moderate,
    help="How many sentences are looked up, drawn at random.",
)
@click.option("--tokenized", is_flag=True, help="Tokens stand between blanks; otherwise sentences are cut here.")
@click.option(
    "--measure",
    "measures",
    type=click.Choice(MEASURES),
    multiple=True,
    default=("csls",),
    help="How near sentences are. May be given again.  [default: csls]",
)
@at_option
@interval_options
@json_option
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars.")
def command(directory: str, source_file: str, target_file: str, **options: Any) -> None:
    """Finding the translations of sentences.

    SOURCE and TARGET have a sentence a line, line n of one the translation of line n of the other. Each of the queries
    is looked up among all sentences of the other side, both ways. Sentence vectors are means of the words' vectors,
    weighted by inverse document frequency.
    """
    from cepts.pipeline.spaces import score_retrieval

    if source_file == target_file == "-":
        raise UsageError("only one of the two files can come from standard input; name the other.")
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        languages = direction_of(opened.space, options["source"], options["target"])
        source, target = (_read(path, options["tokenized"], bars) for path in (source_file, target_file))
        if len(source) != len(target):
            raise DataError(
                f"{source_file} has {len(source):,} lines but {target_file} has {len(target):,}; wanted one target "
                f"line for each source line."
            )
        found = [
            score_retrieval(
                opened.space,
                (opened.view(languages[0]), opened.view(languages[1])),
                (source, target),
                languages=languages,
                measure=measure,
                at=options["at"],
                queries=options["queries"],
                seed=options["seed"],
                name=f"{Path(source_file).name}+{Path(target_file).name}",
                threads=options["threads"],
                progress=bars,
            )
            for measure in dict.fromkeys(options["measures"])
        ]
    report_precision(
        [both[place] for place in (0, 1) for both in found],
        {"sentences": "idf", "tokens": "given" if options["tokenized"] else "simple", **opened.facts},
        unit="sentences",
        samples=options["intervals"],
        seed=options["seed"],
        as_json=options["as_json"],
    )


def _read(path: str, tokenized: bool, bars: ProgressBars) -> Text:
    from cepts.io import read_text
    from cepts.spaces.sentences import simple_text

    if tokenized:
        return read_text(path, progress=bars)
    return simple_text(read_lines(path))
