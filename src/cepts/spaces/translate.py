"""Translations of words by their places in a space."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.errors import UsageError
from cepts.progress import Progress
from cepts.spaces.retrieve import Measure, Neighbours, retrieve
from cepts.spaces.space import Space

__all__ = ["SOURCES", "TRANSLATION_MEASURES", "mutual_translations", "translate_words"]

TRANSLATION_MEASURES = ("csls", "cosine", "inverted-softmax", "likelihood")
SOURCES = 20_000  # the most frequent source words, by which hubs among the targets are known


def translate_words(
    space: Space,
    source: Vectors,
    target: Vectors,
    rows: NDArray[np.integer] | None = None,
    *,
    languages: tuple[str | int, str | int] = (0, 1),
    measure: str = "csls",
    count: int = 5,
    sources: int | None = SOURCES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """The `count` best translations of source words, as rows of `target` with their scores.

    Parameters
    ----------
    source, target
        Vectors of the two languages, as they were read.
    rows
        The source words to translate; None is all of them.
    languages
        The views of the space to which `source` and `target` belong.
    measure
        ``csls``, ``cosine`` and ``inverted-softmax`` compare places in the shared space. ``likelihood`` ranks target
        words y by log p(x | y) of the factor model, up to a constant of the query.
    sources
        For ``csls`` and ``inverted-softmax``: how many of the first, the most frequent source words tell which targets
        are near to everything; None is all. Where all words are translated, they are all of them.
    """
    if measure not in TRANSLATION_MEASURES:
        raise UsageError(f"found the measure {measure!r}, wanted one of {', '.join(TRANSLATION_MEASURES)}.")
    options: dict[str, Any] = {"count": count, "threads": threads, "progress": progress}
    asked = source.matrix if rows is None else source.matrix[rows]
    if measure == "likelihood":
        queries, points, bias = space.likelihood_points(asked, target.matrix, *languages)
        return retrieve(queries, points, measure="dot", bias=bias, **options)
    assert measure in get_args(Measure)
    queries = space.project(asked, languages[0])
    points = space.project(target.matrix, languages[1])
    if measure != "cosine" and rows is not None:
        options["sources"] = space.project(source.matrix[:sources], languages[0])
    return retrieve(queries, points, measure=measure, **options)  # type: ignore[arg-type]


def mutual_translations(
    space: Space,
    source: Vectors,
    target: Vectors,
    *,
    languages: tuple[str | int, str | int] = (0, 1),
    **options: Any,
) -> Neighbours:
    """The best translation of each source word whose own best translation is that word again; -1 for the others.

    Options are those of `translate_words`.
    """
    there = translate_words(space, source, target, languages=languages, **{**options, "count": 1})
    back = translate_words(space, target, source, languages=languages[::-1], **{**options, "count": 1})
    found = there.rows[:, 0]
    mutual = (found >= 0) & (back.rows[found, 0] == np.arange(len(found)))
    return Neighbours(
        np.where(mutual, found, -1)[:, None],
        np.where(mutual, there.scores[:, 0], np.float32(-np.inf))[:, None],
    )
