"""`cepts phrases train`: from sentence pairs with gold links to an aligner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.cells import percent
from cepts.cli.checks import refuse_stdin_twice
from cepts.cli.console import ProgressBars, print_table, say
from cepts.cli.phrases.common import input_options
from cepts.names import ANNOTATORS, DIRECTIONS, PHRASE_COSTS, PHRASE_FAMILIES, PHRASE_MODELS

if TYPE_CHECKING:
    from cepts.pipeline.phrase_training import TrainingReport

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
@option.text(
    "--gold-links",
    "FILE",
    "Gold links (NAACL, Pharaoh, ...) of PAIRS, which then are one file of any kind, or two of text or CoNLL-U.",
)
@option.base()
@option.text("--save", "DIR", "Where the aligner goes.", required=True)
@option.choice("--model", PHRASE_MODELS, "Semi-Markov CRFs of phrases, or CRFs of words.", default="phrase")
@option.whole("--longest", "Words of a source phrase at most.  [default: 3]")
@option.whole("--widest", "Words of a target phrase at most.  [default: 3]")
@option.choice(
    "--families", PHRASE_FAMILIES, "Use this family of features; may be given again.  [default: all]", multiple=True
)
@option.choice("--without", PHRASE_FAMILIES, "Leave this family of features out; may be given again.", multiple=True)
@option.choice(
    "--language",
    ANNOTATORS,
    "english tags, chunks and looks words up with what comes with cepts; none uses the columns of the input.",
    default="english",
)
@option.text("--vectors", "FILE", "Word vectors for relatedness, in place of the language's.")
@option.text(
    "--paraphrases",
    "FILE",
    "Paraphrases, in place of the language's: pairs with a tab between them, PPDB's rules, or a table; may be "
    "given again.",
    multiple=True,
)
@option.choice(
    "--cost",
    PHRASE_COSTS,
    "What training counts as mistakes: links, words in a wrong state, or none (likelihood).  [default: links]",
)
@option.real(
    "--wrong-cost", "Cost of a wrong link or state; higher gives fewer links.  [default: 1]", least=0, most=LARGEST
)
@option.real("--missed-cost", "Cost of a missed link; higher gives more links.  [default: 1]", least=0, most=LARGEST)
@option.real("--penalty", "How strongly weights are kept near 0 (L2).  [default: 1]", least=0, most=LARGEST)
@option.whole("--iterations", "Iterations of L-BFGS at most.  [default: 120]")
@option.flag(
    "--paper",
    "Train as Yao et al. (2013): one null state, Hamming cost, penalty 0.01, 300 iterations, no lexical features.",
)
@option.flag("--synthesise", "First make phrase links of word links inside chunks (their section 4.1).")
@option.text("--dev", "FILE", "Sentence pairs with gold links, on which the aligner is scored at the end.")
@input_options
def command(files: tuple[str, ...], **options: Any) -> None:
    """Train an aligner on sentence pairs with gold links.

    PAIRS are files of JSON lines or jacana's JSON, whose sure links are learnt; possible ones cost nothing. Both
    directions are trained. 'cepts phrases align --model DIR' then uses the aligner.
    """
    from cepts.pipeline.phrase_training import AlignerOptions, TrainingFiles, train_phrase_aligner

    refuse_stdin_twice(*files, options["gold_links"], options["dev"])
    options["language"] = None if options["language"] == "none" else options["language"]
    inputs = TrainingFiles(pairs=files, format=options["input_format"], **option.given(options, TrainingFiles))
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = train_phrase_aligner(
            AlignerOptions(**{"language": None, **option.given(options, AlignerOptions)}),
            inputs,
            options["save"],
            synthesise_links=options["synthesise"],
            notices=bars.notices,
            progress=bars,
        )
    _print_tables(report)
    use = f"cepts phrases align PAIRS --model {options['save']}"
    say(*report.lines, f"model    {options['save']}  (use it: {use})", quiet=options["quiet"])


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
