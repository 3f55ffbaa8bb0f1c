"""`cepts phrases train`: from sentence pairs with gold links to an aligner."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.cells import percent
from cepts.cli.checks import finite, moderate
from cepts.cli.console import ProgressBars, print_table, say, say_notes
from cepts.cli.lengths import refuse_stdin_twice
from cepts.cli.link_options import base_option
from cepts.cli.phrases.common import input_format_option, max_length_option, quiet_option, threads_option
from cepts.names import ANNOTATORS, DIRECTIONS, PHRASE_COSTS, PHRASE_FAMILIES, PHRASE_MODELS

if TYPE_CHECKING:
    from cepts.pipeline.phrase_training import TrainingReport

__all__ = ["command"]

# The largest cost and penalty: far more than is useful, and far less than what overflows.
LARGEST = 1e6


@click.command(
    "train",
    epilog="""\b
Examples:
  cepts phrases train gold.jsonl --save model
  cepts phrases train gold.jsonl --dev dev.jsonl --without wordnet --without paraphrase --save model
  cepts phrases train gold.jsonl --model token --paper --save model
  cepts phrases train gold.jsonl --language none --vectors vectors.vec --save model
  cepts phrases train old.conllu new.conllu --gold-links gold.wa --language none --save model""",
)
@click.argument("files", metavar="PAIRS", nargs=-1, required=True)
@click.option(
    "--gold-links",
    metavar="FILE",
    help="Gold links (NAACL, Pharaoh, ...) of PAIRS, which then are one file of any kind, or two of text or CoNLL-U.",
)
@base_option
@click.option("--save", metavar="DIR", required=True, help="Where the aligner goes.")
@click.option(
    "--model",
    type=click.Choice(PHRASE_MODELS),
    default="phrase",
    show_default=True,
    help="Semi-Markov CRFs of phrases, or CRFs of words.",
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Words of a source phrase at most.  [default: 3]",
)
@click.option(
    "--widest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Words of a target phrase at most.  [default: 3]",
)
@click.option(
    "--families",
    type=click.Choice(PHRASE_FAMILIES),
    multiple=True,
    help="Use this family of features; may be given again.  [default: all]",
)
@click.option(
    "--without",
    type=click.Choice(PHRASE_FAMILIES),
    multiple=True,
    help="Leave this family of features out; may be given again.",
)
@click.option(
    "--language",
    type=click.Choice(ANNOTATORS),
    default="english",
    show_default=True,
    help="english tags, chunks and looks words up with what comes with cepts; none uses the columns of the input.",
)
@click.option("--vectors", metavar="FILE", help="Word vectors for relatedness, in place of the language's.")
@click.option(
    "--paraphrases",
    metavar="FILE",
    multiple=True,
    help="Paraphrases, in place of the language's: pairs with a tab between them, PPDB's rules, or a table; may be "
    "given again.",
)
@click.option(
    "--cost",
    type=click.Choice(PHRASE_COSTS),
    help="What training counts as mistakes: links, words in a wrong state, or none (likelihood).  [default: links]",
)
@click.option(
    "--wrong-cost",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="Cost of a wrong link or state; higher gives fewer links.  [default: 1]",
)
@click.option(
    "--missed-cost",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="Cost of a missed link; higher gives more links.  [default: 1]",
)
@click.option(
    "--penalty",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="How strongly weights are kept near 0 (L2).  [default: 1]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Iterations of L-BFGS at most.  [default: 120]",
)
@click.option(
    "--paper",
    is_flag=True,
    help="Train as Yao et al. (2013): one null state, Hamming cost, penalty 0.01, 300 iterations, no lexical features.",
)
@click.option(
    "--synthesise", is_flag=True, help="First make phrase links of word links inside chunks (their section 4.1)."
)
@click.option(
    "--dev", metavar="FILE", help="Sentence pairs with gold links, on which the aligner is scored at the end."
)
@max_length_option
@threads_option
@input_format_option
@quiet_option
def command(files: tuple[str, ...], **options: Any) -> None:
    """Train an aligner on sentence pairs with gold links.

    PAIRS are files of JSON lines or jacana's JSON, whose sure links are learnt; possible ones cost nothing. Both
    directions are trained. 'cepts phrases align --model DIR' then uses the aligner.
    """
    from cepts.pipeline.phrase_training import AlignerOptions, TrainingFiles, train_phrase_aligner

    refuse_stdin_twice(*files, options["gold_links"], options["dev"])
    options["language"] = None if options["language"] == "none" else options["language"]
    aligner = AlignerOptions(**{field.name: options[field.name] for field in fields(AlignerOptions)})
    inputs = TrainingFiles(
        pairs=files,
        gold_links=options["gold_links"],
        base=int(options["base"]),
        format=options["input_format"],
        dev=options["dev"],
        vectors=options["vectors"],
        paraphrases=options["paraphrases"],
    )
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = train_phrase_aligner(
            aligner, inputs, options["save"], synthesise_links=options["synthesise"], progress=bars
        )
    say_notes(report.notices, quiet=options["quiet"])
    _print_tables(report)
    for line in report.lines:
        say(line, quiet=options["quiet"])
    use = f"cepts phrases align PAIRS --model {options['save']}"
    say(f"model    {options['save']}  (use it: {use})", quiet=options["quiet"])


def _print_tables(report: TrainingReport) -> None:
    aligner = report.aligner
    rows = [
        (name, f"{len(objectives):,}", f"{objectives[-1]:,.2f}" if objectives else "", f"{len(weights):,}")
        for name, objectives, weights in zip(DIRECTIONS, aligner.objectives_, aligner.weights_, strict=True)
    ]
    print_table(("direction", "iterations", "objective", "weights"), rows)
    if report.dev is not None:
        click.echo()
        scores = (report.dev.precision, report.dev.recall, report.dev.f1, report.dev.exact)
        print_table(("", "P, %", "R, %", "F1, %", "exact, %"), [("dev", *map(percent, scores))])
