"""`cepts phrases`: sentences and their paraphrases."""

from __future__ import annotations

from cepts.cli import option
from cepts.cli.groups import LazyGroup
from cepts.names import SENTENCE_PAIR_FORMATS

__all__ = ["command", "input_options", "model_option"]

command = LazyGroup(
    "phrases",
    {
        "align": ("cepts.cli.phrases.align", "Align the phrases of sentences and their paraphrases."),
        "apply": ("cepts.cli.phrases.apply", "Judge entailment, paraphrases and answers by alignments."),
        "score": ("cepts.cli.phrases.score", "Score the links of sentences and their paraphrases."),
        "train": ("cepts.cli.phrases.train", "Train an aligner on sentence pairs with gold links."),
    },
    help="Align sentences with their paraphrases, phrase to phrase.",
    examples="""\
  echo 'Shops are closed up for now ||| Shops are temporarily closed down' | cepts phrases align -
  cepts phrases train gold.jsonl --save model
  cepts phrases score gold.jsonl predicted.jsonl""",
)

model_option = option.text(
    "--model",
    "MODEL",
    "phrase or token, the English models that come with cepts, or the directory of one that you trained.",
    default="phrase",
)
input_options = option.stacked(
    option.max_length("  [default: as in training, 500]"),
    option.threads,
    option.choice(
        "--input-format",
        ("auto", *SENTENCE_PAIR_FORMATS),
        "Format of the input, where neither its name nor its first line says it.",
        default="auto",
    ),
    option.quiet,
)
