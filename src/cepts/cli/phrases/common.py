"""What the commands on paraphrases share: options of the input and of the model."""

from __future__ import annotations

import click

from cepts.names import SENTENCE_PAIR_FORMATS

__all__ = [
    "input_format_option",
    "max_length_option",
    "model_option",
    "quiet_option",
    "threads_option",
]

input_format_option = click.option(
    "--input-format",
    type=click.Choice(("auto", *SENTENCE_PAIR_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of the input, where neither its name nor its first line says it.",
)
model_option = click.option(
    "--model",
    metavar="MODEL",
    default="phrase",
    show_default=True,
    help="phrase or token, the English models that come with cepts, or the directory of one that you trained.",
)
max_length_option = click.option(
    "--max-length",
    type=click.IntRange(1),
    metavar="N",
    help="Leave pairs with longer sentences unaligned.  [default: as in training, 500]",
)
threads_option = click.option(
    "--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all processors]"
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
