"""`cepts spaces score translation`: precision against a test dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli.console import ProgressBars
from cepts.cli.spaces.common import (
    OpenSpace,
    check_measure,
    direction_of,
    direction_options,
    measure_option,
    say_notes,
    sources_option,
    threads_option,
    vectors_option,
)
from cepts.cli.spaces.score.report import at_option, interval_options, json_option, report_precision

if TYPE_CHECKING:
    from cepts.data import Dictionary

__all__ = ["command"]


@click.command(
    "translation",
    epilog="""\b
Examples:
  cepts spaces score translation en-fr en-fr.test.txt
  cepts spaces score translation en-fr en-fr.test.txt --both --measure cosine --measure csls --intervals 1000""",
)
@click.argument("directory")
@click.argument("dictionary")
@direction_options
@click.option("--both", is_flag=True, help="Also the other way round, with the same dictionary.")
@measure_option(multiple=True)
@at_option
@sources_option
@interval_options
@json_option
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no notes.")
def command(directory: str, dictionary: str, **options: Any) -> None:
    """Word translation against a test dictionary.

    DICTIONARY has words of the language to translate from in its first column, unless its first line names the
    languages. A word with several translations is one question, and any of them an answer (the protocol of MUSE). Words
    that the space does not know are left out of the precision, which is why their share stands beside it.
    """
    from cepts.io import read_dictionary
    from cepts.pipeline.spaces import score_translations

    notices: list[str] = []
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        space = opened.space
        for measure in options["measures"]:
            check_measure(space, measure)
        forward = direction_of(space, options["source"], options["target"])
        names = [space.languages[view] for view in forward]
        test: Dictionary = read_dictionary(dictionary, languages=names, notices=notices)
        scores = []
        for languages in (forward, forward[::-1]) if options["both"] else (forward,):
            for measure in dict.fromkeys(options["measures"]):
                scores.append(
                    score_translations(
                        space,
                        opened.view(languages[0]),
                        opened.view(languages[1]),
                        test if languages == forward else test.swapped(),
                        languages=languages,
                        measure=measure,
                        at=options["at"],
                        sources=options["sources"],
                        threads=options["threads"],
                        progress=bars,
                    )
                )
    say_notes(notices, quiet=options["quiet"])
    report_precision(
        scores,
        opened.facts,
        unit="words",
        samples=options["intervals"],
        seed=options["seed"],
        as_json=options["as_json"],
    )
