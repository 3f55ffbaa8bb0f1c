"""Options that the commands on paraphrases share."""

from __future__ import annotations

from cepts.cli import option
from cepts.names import SENTENCE_PAIR_FORMATS

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
