"""The lexicon of a trained model, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cepts.errors import DataError
from cepts.io import open_output
from cepts.io.files import PathLike
from cepts.pipeline.reports import Report
from cepts.words import load_aligner


def list_translations(
    model: str | Path,
    output: PathLike | None = None,
    *,
    direction: str = "forward",
    words: Sequence[str] = (),
    top: int = 10,
    least: float = 0.01,
) -> Report:
    """Find translations in the lexicon of a model, as values for JSON or, if `output` is given, as lines of a file.

    Parameters
    ----------
    model
        The directory of a trained model.
    output
        The file to write, with one line for each entry: word, other word, P(other | word), P(word | other) and expected
        count, separated by tabs. `-` is standard output.
    direction
        ``forward`` lists target words of each source word, ``reverse`` source words of each target word.
    words
        List only these words; by default all words.
    top, least
        The maximum number of entries of a word, and the lowest probability of an entry.
    """
    entries = load_aligner(model).translations(direction=direction, words=words or None, top=top, least=least)
    missing = sorted(set(words) - {entry.asked for entry in entries})
    if words and len(missing) == len(set(words)):
        raise DataError(f"{model} has no translation of {', '.join(missing)} with a probability of at least {least}.")
    lacking = f"cepts: no translation of {', '.join(missing)} with a probability of at least {least}."
    said = [lacking] if missing else []
    if output is None:
        return Report(values=[entry.as_dict() for entry in entries], said=said)
    with open_output(output) as file:
        for entry in entries:
            row = f"{entry.word}\t{entry.other}\t{entry.probability:.4f}\t{entry.back:.4f}\t{entry.count:.2f}\n"
            file.write(row.encode("utf-8", "surrogateescape"))
    return Report(said=said)
