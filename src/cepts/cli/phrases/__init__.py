"""`cepts phrases`: sentences and their paraphrases."""

from __future__ import annotations

from cepts.cli.groups import LazyGroup

__all__ = ["command"]

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
