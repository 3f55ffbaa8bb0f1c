"""`cepts phrases`: sentences and their paraphrases."""

from __future__ import annotations

from cepts.cli import option
from cepts.cli.groups import LazyGroup
from cepts.names import COLUMN_SOURCES, SENTENCE_PAIR_FORMATS, TOKENISING

__all__ = ["columns_option", "command", "input_options", "model_option", "tokenise_option"]

command = LazyGroup(
    "phrases",
    {
        "align": ("cepts.cli.phrases.align", "Align the phrases of sentences and their paraphrases."),
        "apply": ("cepts.cli.phrases.apply", "Judge entailment, paraphrases and answers from alignments."),
        "score": ("cepts.cli.phrases.score", "Score links of paraphrases against gold links."),
        "train": ("cepts.cli.phrases.train", "Train an aligner on sentence pairs with gold links."),
    },
    help="Align sentences with their paraphrases, phrase by phrase.",
    examples="""\
  echo 'He bought a car ||| He purchased a vehicle' | cepts phrases align -
  cepts phrases train gold.jsonl --save model
  cepts phrases score gold.jsonl predicted.jsonl""",
)

model_option = option.text(
    "--model",
    "MODEL",
    "An English model that comes with cepts, phrase or token, or the directory of a model that you trained.",
    default="phrase",
)
tokenise_option = option.choice(
    "--tokenise",
    TOKENISING,
    "Separate words and punctuation in running text as in the Penn Treebank (do n't, he 's); auto does it where the "
    "text looks untokenised. English models only; links then count these tokens.",
    default="auto",
)
columns_option = option.choice(
    "--columns",
    COLUMN_SOURCES,
    "Where tags, chunks and lemmas come from: input uses those that the input has, model ignores them, so that the "
    "model fills in all.",
    default="input",
)
input_options = option.stacked(
    option.section(
        "Input",
        option.choice(
            "--input-format",
            ("auto", *SENTENCE_PAIR_FORMATS),
            "Format of the input, if neither its name nor its first line tells.",
            default="auto",
        ),
        option.max_length("  [default: as in training, 500]"),
    ),
    option.running,
)
