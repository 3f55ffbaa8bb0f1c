"""The hidden documents of a saved language model: their words and probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, UsageError
from cepts.io.files import PathLike
from cepts.lm import AdaptedModel, HiddenDocuments
from cepts.pipeline.inputs import AS_FOUND, TextReading
from cepts.pipeline.reports import Report, Table, counted
from cepts.progress import Progress

SHARES = (0.5, 0.9, 0.99)
DRAWN = 6  # hidden documents in the figure, if none are chosen
NEAR = 3  # hidden documents that are shown for a word


class HiddenSummary(NamedTuple):
    """The hidden documents that were asked for, and the data for their figure.

    Attributes
    ----------
    report
        The hidden documents, or those of words.
    drawn
        From the name of a hidden document d to its P(word | d).
    priors, estimated
        P(d) of all hidden documents, and its estimates from a text (nmf_lm, eq. 18) if one was given.
    """

    report: Report
    drawn: dict[str, NDArray[np.float32]]
    priors: NDArray[np.float32]
    estimated: NDArray[np.float64] | None


def show_files(
    directory: PathLike,
    texts: Sequence[PathLike] = (),
    *,
    hidden_document: Sequence[int] = (),
    count: int = 20,
    top: int = 10,
    words: Sequence[str] = (),
    reading: TextReading = AS_FOUND,
    progress: Progress | None = None,
) -> HiddenSummary:
    """Show the hidden documents of a saved model.

    Parameters
    ----------
    directory
        The directory of the model.
    texts, reading
        Texts from which P(d) is also estimated, and how they are read.
    hidden_document, count
        Numbers of the hidden documents to show, from 1; by default the `count` with the highest P(d).
    top
        How many words of each to show.
    words
        Show the hidden documents of these words instead.
    """
    for name, value in (("count", count), ("top", top)):
        if value < 1:
            raise UsageError(f"`{name}` must be 1 or more. Got {value} instead.")
    if words and hidden_document:
        raise UsageError(
            "`words` and `hidden_document` both choose the hidden documents to show; leave one of them out."
        )
    model = AdaptedModel.load(directory)
    predictor, hidden, estimated = model.predictor_, model.predictor_.hidden, None
    if not isinstance(hidden, HiddenDocuments):
        raise UsageError(f"{directory} has no hidden documents; fit the model again with some.")
    if texts:
        estimated = model.estimated_priors(reading.read(texts, progress=progress))
    needed = []
    for column in hidden.words.T:
        sums = np.cumsum(np.sort(column.astype(np.float64))[::-1])
        needed.append((np.searchsorted(sums, np.array(SHARES) * sums[-1]) + 1).tolist())

    def view(number: int, **of_word: float) -> dict[str, Any]:
        """A hidden document, as JSON values; `of_word` has P(d | word) (nmf_lm, eq. 15) and P(word | d)."""
        column = hidden.words[:, number]
        rows = np.argsort(-column, kind="stable")[:top].tolist()
        known = predictor.vocabulary.words
        highest = [(known[hidden.numbers[row]], float(column[row])) for row in rows if column[row] > 0]
        return {
            **of_word,
            "hidden_document": number + 1,
            "prior": float(hidden.priors[number]),
            **({} if estimated is None else {"estimated_prior": float(estimated[number])}),
            "words_with": dict(zip(map(str, SHARES), needed[number], strict=True)),
            "words": [{"word": word, "probability": prob} for word, prob in highest],
        }

    def views_of(word: str) -> list[dict[str, Any]]:
        place = int(predictor.vocabulary.find([word])[0])
        row = int(predictor.rows[place]) if place >= 0 else -1
        if row < 0:
            reason = "does not know it" if place < 0 else "treats it as a function word or a rare word"
            raise DataError(f"{directory} has no hidden documents for the word {word!r}: it {reason}.")
        given = hidden.words[row].astype(np.float64)
        joint = given * hidden.priors
        shares = joint / joint.sum()
        order = np.argsort(-shares, kind="stable")[:NEAR].tolist()
        return [
            view(number, given_word=float(shares[number]), word_given_document=float(given[number]))
            for number in order
            if shares[number] > 0
        ]

    of_words = {word: views_of(word) for word in words}
    for number in hidden_document:
        if not 1 <= number <= len(hidden):
            raise UsageError(
                f"`hidden_document` must be 1 to {len(hidden):,}, the hidden documents of {directory}. Got {number:,} "
                f"instead."
            )
    numbers = [number - 1 for number in dict.fromkeys(hidden_document)]
    views = [view(number) for number in numbers or np.argsort(-hidden.priors, kind="stable")[:count].tolist()]
    drawn = {
        f"{one['hidden_document']}: {one['words'][0]['word']}": hidden.words[:, one["hidden_document"] - 1]
        for one in (views if hidden_document else views[:DRAWN])
    }
    whole = {"hidden_documents": len(hidden), "words": len(hidden.numbers)}
    if of_words:
        report = Report(values={**whole, "of_words": of_words}, shown=[_word_table(of_words)])
    else:
        half, most, nearly = np.median(needed, axis=0).tolist()
        shown: list[str | Table] = [
            f"{counted(len(hidden), 'hidden document')} of {counted(len(hidden.numbers), 'word')}",
            f"half of their probability is in {half:,.0f} words, 90 % in {most:,.0f}, 99 % in {nearly:,.0f} (medians)",
        ]
        if estimated is not None:
            agreement = float(np.corrcoef(hidden.priors, estimated)[0, 1]) if len(hidden) > 1 else 1.0
            shown.append(
                f"correlation of P(d) with its estimates from the text (mean of P(d | history)): {agreement:.3f}"
            )
        report = Report(values={**whole, "shown": views}, shown=[*shown, _document_table(views)])
    return HiddenSummary(report, drawn, hidden.priors, estimated)


def _document_table(views: Sequence[Mapping[str, Any]]) -> Table:
    """A column for each hidden document."""
    columns = [
        [
            *(f"{one[name]:.4f}" for name in ("prior", "estimated_prior") if name in one),
            *(f"{count:,}" for count in one["words_with"].values()),
            *(found["word"] for found in one["words"]),
        ]
        for one in views
    ]
    labels = ["P(d)", *(["estimated"] if "estimated_prior" in views[0] else [])]
    labels += [*(f"{100 * share:.0f} %" for share in SHARES), "words"]
    rows = [["" if cell is None else cell for cell in row] for row in zip_longest(labels, *columns)]
    return Table(("d", *(str(one["hidden_document"]) for one in views)), rows, left=1 + len(views), fit="fold")


def _word_table(of_words: Mapping[str, Sequence[Mapping[str, Any]]]) -> Table:
    """The hidden documents of each word; their words come last, because there may be any number of them."""
    rows = [
        (
            word if not place else "",
            str(one["hidden_document"]),
            f"{one['given_word']:.3f}",
            f"{one['word_given_document']:.4f}",
            " ".join(found["word"] for found in one["words"]),
        )
        for word, views in of_words.items()
        for place, one in enumerate(views)
    ]
    return Table(("word", "d", "P(d | word)", "P(word | d)", "words of d"), rows, left=5, fit="cut")
