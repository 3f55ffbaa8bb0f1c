"""`cepts phrases train`: from sentence pairs with gold links to an aligner."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.phrases import input_options
from cepts.names import ANNOTATORS, PHRASE_COSTS, PHRASE_FAMILIES, PHRASE_MODELS

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
    from cepts.phrases import PhraseAligner
    from cepts.pipeline.phrase_training import TrainingFiles, new_phrase_aligner, train_phrase_aligner

    language = None if options["language"] == "none" else options["language"]
    parameters = {**option.given(options, PhraseAligner), "language": language}
    aligner = new_phrase_aligner(options["model"], parameters, paper=options["paper"], without=options["without"])
    inputs = TrainingFiles(pairs=files, format=options["input_format"], **option.given(options, TrainingFiles))
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = train_phrase_aligner(
            aligner,
            inputs,
            options["save"],
            synthesise_links=options["synthesise"],
            notices=bars.notices,
            progress=bars,
        )
    show(report, quiet=options["quiet"])
    use = f"cepts phrases align PAIRS --model {options['save']}"
    say(f"model    {options['save']}  (use it: {use})", quiet=options["quiet"])
