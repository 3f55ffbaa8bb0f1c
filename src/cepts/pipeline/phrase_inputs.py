"""Sentence pairs in files, and the aligners that take them."""

from __future__ import annotations

from collections.abc import Sequence

from cepts.data import SentencePair
from cepts.errors import DataError
from cepts.phrases import PhraseAligner
from cepts.phrases.annotate import check_columns


def load_phrase_aligner(model: str, *, threads: int | None = None, max_length: int | None = None) -> PhraseAligner:
    """The aligner of a directory or, by name, an English one; `max_length` takes the place of that of training."""
    aligner = PhraseAligner.load(model, threads=threads)
    return aligner if max_length is None else aligner.set_params(max_length=max_length)


def input_name(path: str) -> str:
    """What messages call an input."""
    return "standard input" if path == "-" else path


def check_input(aligner: PhraseAligner, columns: Sequence[str], pairs: Sequence[SentencePair], path: str) -> None:
    """Refuse the pairs of a file without the columns of training, before any work."""
    if aligner.language is not None:
        return  # whose annotator fills them in
    try:
        check_columns(pairs, columns)
    except DataError as error:
        raise DataError(f"{input_name(path)}: {error}") from None


def check_gold(pairs: Sequence[SentencePair], path: str) -> None:
    """Refuse the pairs of a file of which one has no gold links."""
    for number, pair in enumerate(pairs, start=1):
        if pair.sure is None:
            raise DataError(
                f"{input_name(path)}, pair {number:,}: found no gold links, wanted `sure`, or [] where there are none, "
                f"in every pair; or give them in a file of their own."
            )
