"""Translations of words by their places in a space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.progress import Progress
from cepts.spaces.retrieve import Neighbours, retrieve
from cepts.spaces.space import Space

__all__ = ["SOURCES", "mutual_translations", "translate_words"]

SOURCES = 20_000  # number of source words, the most frequent, by which hubs among the targets are found


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
        For ``csls`` and ``inverted-softmax``: number of source words, the most frequent, that show which targets are
        hubs, near to everything; None is all. Where all words are translated, all are used.
    """
    space.check_measure(measure)
    asked = source.matrix if rows is None else source.matrix[rows]
    if measure == "likelihood":
        queries, points, bias = space.likelihood_points(asked, target.matrix, *languages)
        return retrieve(queries, points, measure="dot", bias=bias, count=count, threads=threads, progress=progress)
    hubs = None
    if measure != "cosine" and rows is not None:
        hubs = space.project(source.matrix[:sources], languages[0])
    return retrieve(
        space.project(asked, languages[0]),
        space.project(target.matrix, languages[1]),
        measure=measure,
        sources=hubs,
        count=count,
        threads=threads,
        progress=progress,
    )


def mutual_translations(
    space: Space,
    source: Vectors,
    target: Vectors,
    *,
    languages: tuple[str | int, str | int] = (0, 1),
    measure: str = "csls",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """The best translation of each source word whose own best translation is that word again; -1 for the others."""
    there = translate_words(
        space, source, target, languages=languages, measure=measure, count=1, threads=threads, progress=progress
    )
    back = translate_words(
        space, target, source, languages=languages[::-1], measure=measure, count=1, threads=threads, progress=progress
    )
    found = there.rows[:, 0]
    mutual = (found >= 0) & (back.rows[found, 0] == np.arange(len(found)))
    return Neighbours(
        np.where(mutual, found, -1)[:, None],
        np.where(mutual, there.scores[:, 0], np.float32(-np.inf))[:, None],
    )
