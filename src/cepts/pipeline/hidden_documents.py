"""What the hidden documents of a saved language model are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, UsageError
from cepts.io.files import PathLike
from cepts.lm import AdaptedModel, HiddenDocuments
from cepts.pipeline.lm import AS_FOUND, TextReading
from cepts.progress import Progress

SHARES = (0.5, 0.9, 0.99)
DRAWN = 6  # hidden documents in the figure, where none are chosen
NEAR = 3  # hidden documents of a word


class HiddenView(NamedTuple):
    """A hidden document.

    Its number; P(d), and its estimate from a text; how many words have each of `SHARES` of its probability; the words
    with the highest P(word | d); and, of a word that was asked for, P(d | word), eq. (15) of nmf_lm, and P(word | d).
    """

    number: int
    prior: float
    estimated: float | None
    needed: list[int]
    words: list[tuple[str, float]]
    given_word: float | None = None
    word_given_document: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        found = {
            "given_word": self.given_word,
            "word_given_document": self.word_given_document,
            "hidden_document": self.number,
            "prior": self.prior,
            "estimated_prior": self.estimated,
            "words_with": dict(zip(map(str, SHARES), self.needed, strict=True)),
            "words": [{"word": word, "probability": prob} for word, prob in self.words],
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True, eq=False)
class HiddenSummary:
    """The hidden documents that were asked for.

    Attributes
    ----------
    hidden
        All hidden documents of the model.
    estimated
        Estimates of P(d) from a text, eq. (18) of nmf_lm, if one was given.
    medians
        The medians over all hidden documents of how many words have each of `SHARES` of the probability.
    shown
        The hidden documents that were chosen.
    of_words
        Where words were asked for: the hidden documents of each.
    drawn
        Name -> P(word | d) of hidden documents for a figure.
    """

    hidden: HiddenDocuments
    estimated: NDArray[np.float64] | None
    medians: list[float]
    shown: list[HiddenView]
    of_words: dict[str, list[HiddenView]]
    drawn: dict[str, NDArray[np.float32]]

    @property
    def correlation(self) -> float | None:
        """Correlation of P(d) with its estimates from a text; None without these."""
        if self.estimated is None:
            return None
        return float(np.corrcoef(self.hidden.priors, self.estimated)[0, 1]) if len(self.hidden) > 1 else 1.0

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        whole: dict[str, Any] = {"hidden_documents": len(self.hidden), "words": len(self.hidden.numbers)}
        if self.of_words:
            return {**whole, "of_words": {word: [v.as_dict() for v in found] for word, found in self.of_words.items()}}
        return {**whole, "shown": [view.as_dict() for view in self.shown]}


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
    """Show hidden documents of the model of a directory.

    Parameters
    ----------
    texts, reading
        Texts from which P(d) is also estimated, and how they are read.
    hidden_document, count
        Numbers of the hidden documents to show, from 1; by default the `count` with the largest P(d).
    top
        How many words of each.
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
    if hidden is None:
        raise UsageError(f"{directory} has no hidden documents, because it was fitted with 0 of them; fit it again.")
    if texts:
        estimated = model.estimated_priors(reading.read(texts, progress=progress))
    needed = []
    for column in hidden.words.T:
        sums = np.cumsum(np.sort(column.astype(np.float64))[::-1])
        needed.append((np.searchsorted(sums, np.array(SHARES) * sums[-1]) + 1).tolist())

    def view(number: int, *of_word: float) -> HiddenView:
        column = hidden.words[:, number]
        rows = np.argsort(-column, kind="stable")[:top].tolist()
        known = predictor.vocabulary.words
        highest = [(known[hidden.numbers[row]], float(column[row])) for row in rows if column[row] > 0]
        estimate = None if estimated is None else float(estimated[number])
        return HiddenView(number + 1, float(hidden.priors[number]), estimate, needed[number], highest, *of_word)

    def views_of(word: str) -> list[HiddenView]:
        place = int(predictor.vocabulary.find([word])[0])
        row = int(predictor.rows[place]) if place >= 0 else -1
        if row < 0:
            reason = "does not know it" if place < 0 else "leaves it to the n-gram, as a function word or a rare one"
            raise DataError(f"{directory} has no hidden documents of the word {word!r}: it {reason}.")
        given = hidden.words[row].astype(np.float64)
        joint = given * hidden.priors
        shares = joint / joint.sum()
        order = np.argsort(-shares, kind="stable")[:NEAR].tolist()
        return [view(number, float(shares[number]), float(given[number])) for number in order if shares[number] > 0]

    of_words = {word: views_of(word) for word in words}
    for number in hidden_document:
        if not 1 <= number <= len(hidden):
            raise UsageError(
                f"{directory} has {len(hidden):,} hidden documents, from 1. Got `hidden_document` {number:,} instead."
            )
    numbers = [number - 1 for number in dict.fromkeys(hidden_document)]
    shown = [view(number) for number in numbers or np.argsort(-hidden.priors, kind="stable")[:count].tolist()]
    drawn = shown if hidden_document else shown[:DRAWN]
    return HiddenSummary(
        hidden,
        estimated,
        np.median(needed, axis=0).tolist(),
        shown,
        of_words,
        {f"{one.number}: {one.words[0][0]}": hidden.words[:, one.number - 1] for one in drawn},
    )
