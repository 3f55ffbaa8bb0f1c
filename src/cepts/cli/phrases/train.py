"""`cepts phrases train`: from sentence pairs with gold links to an aligner."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.groups import Command
from cepts.cli.phrases import input_options
from cepts.names import ANNOTATORS, PHRASE_COSTS, PHRASE_FAMILIES, PHRASE_MODELS

# The largest cost and penalty: far more than is useful, and far less than what overflows.
LARGEST = 1_000_000
COSTS: Any = {"least": 0, "most": LARGEST}


@click.command(
    "train",
    cls=Command,
    epilog="""\b
Examples:
  cepts phrases train gold.jsonl --save model
  cepts phrases train gold.jsonl --dev dev.jsonl --without name --save model
  cepts phrases train gold.jsonl --model token --paper --save model
  cepts phrases train gold.jsonl --language none --vectors en.vec --save model
  cepts phrases train old.conllu new.conllu --gold-links gold.wa --save model""",
)
@click.argument("files", metavar="PAIRS...", nargs=-1, required=True)
@option.section(
    "Input",
    option.text(
        "--gold-links",
        "FILE",
        "Gold links (NAACL, Pharaoh, ...) of PAIRS, which is then one file of any format, or two of text or CoNLL-U.",
    ),
    option.base(),
    option.choice(
        "--language",
        ANNOTATORS,
        "english tags and chunks the sentences and looks words up in the resources of cepts; none uses the columns of "
        "the input.",
        default="english",
    ),
    option.text("--vectors", "FILE", "Word vectors for relatedness, instead of those of the language."),
    option.text(
        "--paraphrases",
        "FILE",
        option.again("Paraphrases, instead of those of the language: tab-separated pairs, PPDB rules, or a table."),
        multiple=True,
    ),
    option.flag(
        "--synthesise", "First make phrase links from word links inside chunks (Yao et al. 2013, section 4.1)."
    ),
)
@option.section(
    "Model",
    option.choice("--model", PHRASE_MODELS, "Semi-Markov CRFs of phrases, or CRFs of words.", default="phrase"),
    option.whole(
        "--longest",
        "Largest number of words in a source phrase; phrases of more than 3 words must be whole chunks, match word by "
        "word, or be known to a table.  [default: 6]",
    ),
    option.whole("--widest", "The same in a target phrase.  [default: 6]"),
    option.choice(
        "--families",
        PHRASE_FAMILIES,
        option.again("Use this family of features.", "  [default: all]"),
        multiple=True,
        metavar="FAMILY",
    ),
    option.choice(
        "--without",
        PHRASE_FAMILIES,
        option.again("Do not use this family of features."),
        multiple=True,
        metavar="FAMILY",
    ),
)
@option.section(
    "Training",
    option.choice(
        "--cost",
        PHRASE_COSTS,
        "Mistakes that training minimises: wrong and missed links, words in a wrong state, or none (maximum "
        "likelihood).  [default: links]",
    ),
    option.real(
        "--wrong-cost", "Cost of a wrong link or state; a higher cost gives fewer links.  [default: 1]", **COSTS
    ),
    option.real("--missed-cost", "Cost of a missed link; a higher cost gives more links.  [default: 1]", **COSTS),
    option.real("--penalty", "Strength of the L2 penalty on weights.  [default: 1]", **COSTS),
    option.whole("--iterations", "Largest number of L-BFGS iterations.  [default: 300]"),
    option.flag(
        "--paper",
        "Train as Yao et al. (2013): phrases of up to 3 words scored as wholes, one null state with spans, Hamming "
        "cost, penalty 0.01, no lexical features, no anchors; align then links whole phrases.",
    ),
    option.text("--dev", "FILE", "Sentence pairs with gold links on which the aligner is scored at the end."),
)
@option.section("Output", option.text("--save", "DIR", "Directory for the trained model.", required=True), option.json)
@input_options
def command(files: tuple[str, ...], **options: Any) -> None:
    """Train an aligner on sentence pairs with gold links.

    PAIRS are files of JSON lines or jacana's JSON. The aligner learns their sure links; possible links are neither
    right nor wrong. Both directions are trained. Use the model with 'cepts phrases align --model DIR'.
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
    show(report, as_json=options["as_json"], quiet=options["quiet"])
    use = f"cepts phrases align PAIRS --model {options['save']}"
    say(f"model    {options['save']}  (use it: {use})", quiet=options["quiet"])
