"""What the commands on rewordings share: options of the input and of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.choices import PAIR_INPUT_FORMATS
from cepts.errors import DataError

if TYPE_CHECKING:
    from cepts.data import SentencePair
    from cepts.phrases.aligner import PhraseAligner

__all__ = [
    "check_input",
    "input_format_option",
    "load_aligner",
    "max_length_option",
    "model_option",
    "name_of",
    "quiet_option",
    "threads_option",
]

input_format_option = click.option(
    "--input-format",
    type=click.Choice(("auto", *PAIR_INPUT_FORMATS)),
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


def load_aligner(options: dict[str, Any]) -> PhraseAligner:
    """The aligner that the options name."""
    from cepts.phrases.aligner import PhraseAligner

    aligner = PhraseAligner.load(options["model"], threads=options["threads"])
    if options.get("max_length") is not None:
        aligner.max_length = options["max_length"]
    return aligner


def name_of(path: str) -> str:
    """What messages call an input."""
    return "standard input" if path == "-" else path


def check_input(aligner: PhraseAligner, columns: Sequence[str], pairs: Sequence[SentencePair], path: str) -> None:
    """Refuse the pairs of a file without the columns of training, before any work."""
    from cepts.phrases.annotate import check_columns

    if aligner.language is not None:
        return  # whose annotator fills them in
    try:
        check_columns(pairs, columns)
    except DataError as error:
        raise DataError(f"{name_of(path)}: {error}") from None
