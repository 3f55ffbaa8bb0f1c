"""`cepts spaces align`: links of sentence pairs from a space alone."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import link_options, option
from cepts.cli.console import say
from cepts.cli.groups import Command
from cepts.cli.spaces import opening, vectors_option
from cepts.names import LINK_MEASURES
from cepts.progress import Stopwatch


@click.command(
    "align",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces align en-fr en.txt fr.txt -o links.txt
  cepts spaces align en-fr en.txt fr.txt --combine onmf --format json
  cepts spaces align en-fr fr.txt en.txt --from fr --to en --threshold 0.3""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="[TARGET]", required=False)
@option.section(
    "Input",
    option.text("--from", "LANGUAGE", "Language of SOURCE.  [default: the first]", dest="source"),
    option.text("--to", "LANGUAGE", "Language of TARGET.  [default: the other]", dest="target"),
    option.bitext_input,
    option.max_length(),
    vectors_option,
)
@option.section(
    "Model",
    option.choice(
        "--measure",
        LINK_MEASURES,
        "How similarity is measured: by cosine, or by cosine corrected for hubs (csls).  [default: csls]",
    ),
    option.real(
        "--temperature",
        "How sharply the most similar word is preferred; a higher value prefers it more.  [default: 8; 16 for cosine]",
        least=0,
    ),
    option.real(
        "--null", "Similarity of null to every word; a higher value gives fewer links.  [default: -0.4; 0.3 for cosine]"
    ),
    option.real(
        "--diagonal",
        "Preference for words at the same relative position in both sentences; 0 for none.  [default: 4]",
        least=0,
    ),
    option.real("--support", "How much links support neighbouring links; 0 for not at all.  [default: 3]", least=0),
)
@option.section(
    "Links",
    link_options.combine_option(),
    link_options.threshold_option("  [default: 0.5]"),
    link_options.factoring_options("For onmf: "),
)
@option.section(
    "Output",
    option.output("File for the links."),
    link_options.format_option(
        "--format", "File format of the links; json also has the cepts of onmf.", default="pharaoh"
    ),
    option.base(),
    link_options.matrices_option,
)
@option.running
def command(directory: str, source_file: str, target_file: str | None, **options: Any) -> None:
    """Align the words of sentences by their vectors in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. SOURCE and TARGET are text files with one sentence per line and
    tokens separated by spaces. Or SOURCE alone is a file with both sides: lines of 'source ||| target', two-column TSV,
    TMX, Parquet, JSON lines or CSV. Nothing is trained on the sentences, so a single pair is enough. For many pairs
    'cepts align' is better, because it learns from them.
    """
    link_options.check_extraction(options)
    option.check_apart({"--matrices": options["matrices"], "the links": options["output"]})
    from cepts.pipeline import AlignJob, AlignOutputs, align_files
    from cepts.spaces import Scoring

    stopwatch = Stopwatch()
    with opening(directory, options) as space:
        job = AlignJob(
            texts=option.bitext_files(options, source_file, target_file),
            scorer=lambda: space.open().scorer(
                options["source"], options["target"], scoring=Scoring(**option.given(options, Scoring))
            ),
            extraction=link_options.extraction_of(options),
            outputs=AlignOutputs(links=options["output"], **option.given(options, ("format", "base", "matrices"))),
        )
        summary = align_files(job, notices=space.notices, progress=space.progress)
    say(*summary.lines(stopwatch.seconds), quiet=options["quiet"])
