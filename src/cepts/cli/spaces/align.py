"""`cepts spaces align`: links of sentence pairs from a space alone."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import link_options, option
from cepts.cli.console import say
from cepts.cli.spaces import opening, vectors_option
from cepts.names import LINK_MEASURES, PLAIN_BITEXT_FORMATS
from cepts.progress import Stopwatch


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
@option.text("--from", "LANGUAGE", "Language of SOURCE.  [default: the first]", dest="source")
@option.text("--to", "LANGUAGE", "Language of TARGET.  [default: the other one]", dest="target")
@option.output("the links")
@link_options.combine_option()
@link_options.threshold_option("  [default: 0.5]")
@link_options.factoring_options("For onmf: ")
@link_options.matrices_option
@link_options.format_option("--format", "Format of the links; json also lists the cepts of onmf.", default="pharaoh")
@option.base()
@option.choice(
    "--measure",
    LINK_MEASURES,
    "How near words are; csls takes their advantage from words that are near to everything.  [default: csls]",
)
@option.real("--temperature", "Higher gives the nearest word more of the mass.  [default: 8; 16 for cosine]", least=0)
@option.real("--null", "How near null is to all words; higher gives fewer links.  [default: -0.4; 0.3 for cosine]")
@option.real(
    "--diagonal", "Preference for words at the same place of both sentences; 0 for none.  [default: 4]", least=0
)
@option.real("--support", "How much links help those beside them; 0 for not at all.  [default: 3]", least=0)
@option.max_length()
@option.choice(
    "--input-format", PLAIN_BITEXT_FORMATS, "Format of the input, where its name does not say it.", default="auto"
)
@vectors_option
@option.threads
@option.quiet
def command(directory: str, source_file: str, target_file: str | None, **options: Any) -> None:
    """Align the words of sentences by their places in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. SOURCE and TARGET are files with a sentence a line, tokens
    separated by blanks; or SOURCE alone is a file of 'a ||| b' lines or a two-column TSV. No parallel text is needed
    for training, so a single sentence pair will do: for many, 'cepts align' learns from them and is better.
    """
    link_options.check_extraction(options)
    option.check_apart({"--matrices": options["matrices"], "the links": options["output"]})
    from cepts.pipeline import AlignJob, AlignOutputs, BitextFiles, align_files
    from cepts.spaces import Scoring

    stopwatch = Stopwatch()
    with opening(directory, options) as space:
        job = AlignJob(
            texts=BitextFiles(source=source_file, target=target_file, format=options["input_format"]),
            scorer=lambda: space.open().scorer(
                options["source"], options["target"], scoring=Scoring(**option.given(options, Scoring))
            ),
            extraction=link_options.extraction_of(options),
            outputs=AlignOutputs(links=options["output"], **option.given(options, ("format", "base", "matrices"))),
        )
        summary = align_files(job, progress=space.progress)
    say(*summary.lines(stopwatch.seconds), quiet=options["quiet"])
